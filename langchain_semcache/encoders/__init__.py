"""Text to vectors. Importing this package loads numpy and nothing heavier.

`OnnxEncoder` (extra `local`) and `SentenceTransformerEncoder` (extra `sentence-transformers`) live
in the modules that are named after their runtime.
"""

from langchain_semcache.encoders.batching import BatchingEncoder
from langchain_semcache.encoders.hashing import TokenizerHashEncoder
from langchain_semcache.encoders.validation import check_vectors

__all__ = ["BatchingEncoder", "TokenizerHashEncoder", "check_vectors"]
