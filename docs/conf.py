"""How the pages are built."""

from importlib.metadata import version as installed_version

project = "langchain-semcache"
author = "the langchain-semcache authors"
copyright = "2026, the langchain-semcache authors"
release = installed_version("langchain-semcache")
version = release

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
nitpicky = False  # signatures name protocols and numpy aliases that have no page of their own

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks keep their outputs; a test runs them

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
python_maximum_signature_line_length = 80
# Docstrings use single backquotes for names; as a literal they read as they were meant.
default_role = "literal"

html_theme = "furo"
html_title = f"langchain-semcache {release}"
html_copy_source = False
