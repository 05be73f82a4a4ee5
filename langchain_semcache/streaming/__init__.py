"""Pieces of an answer: what a stream brought, how it came, and how it is given again."""

from langchain_semcache.streaming.cuts import Shape, ShapeUnreadable, words
from langchain_semcache.streaming.fingerprint import (
    TextFingerprint,
    TokenFingerprint,
    Trail,
    common_prefix,
    is_whole,
)
from langchain_semcache.streaming.pieces import CALLS, REASONING, TEXT, CallPiece, Piece
from langchain_semcache.streaming.prefix import Handed, NotTheSame
from langchain_semcache.streaming.recorder import Ending, Recorder
from langchain_semcache.streaming.replay import (
    Pace,
    Part,
    Timing,
    arrange,
    due,
    play,
    play_async,
)

__all__ = [
    "CALLS",
    "REASONING",
    "TEXT",
    "CallPiece",
    "Ending",
    "Handed",
    "NotTheSame",
    "Pace",
    "Part",
    "Piece",
    "Recorder",
    "Shape",
    "ShapeUnreadable",
    "TextFingerprint",
    "Timing",
    "TokenFingerprint",
    "Trail",
    "arrange",
    "common_prefix",
    "due",
    "is_whole",
    "play",
    "play_async",
    "words",
]
