"""What is kept of an answer: whether it may be kept at all, and how it is written down."""

from langchain_semcache.responses.admission import refusal_to_store
from langchain_semcache.responses.codec import EnvelopeCodec, ResponseCodec
from langchain_semcache.responses.delta import DeltaCodec, history_of, raw_size, references
from langchain_semcache.responses.history import Change, History

__all__ = [
    "Change",
    "DeltaCodec",
    "EnvelopeCodec",
    "History",
    "ResponseCodec",
    "history_of",
    "raw_size",
    "references",
    "refusal_to_store",
]
