"""`python -m langchain_semcache.cli` is `semcache`."""

from langchain_semcache.cli import main

if __name__ == "__main__":
    main()
