"""What is kept of an answer: whether it may be kept at all, and how it is written down."""

from langchain_semcache.responses.admission import refusal_to_store
from langchain_semcache.responses.codec import EnvelopeCodec, ResponseCodec

__all__ = ["EnvelopeCodec", "ResponseCodec", "refusal_to_store"]
