import subprocess
import sys


def test_the_package_and_the_memory_index_load_no_engine():
    code = (
        "import sys, langchain_semcache.index, langchain_semcache.index.memory;"
        "print([name for name in sys.modules if 'qdrant' in name])"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout == "[]\n"
