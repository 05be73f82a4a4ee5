"""Everything there is to say of the candidates of one lookup, also of those that fell early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_semcache.assembly import Core
from langchain_semcache.engine import asking, long_questions
from langchain_semcache.engine.commands import Failure, Flow
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.guards import Refusal
from langchain_semcache.records import Candidate, Query, Reason, Verdict
from langchain_semcache.threshold.features import Observed

WORDS = {
    Reason.EXACT: "the same request: served",
    Reason.SEMANTIC: "the same meaning: may be served",
    Reason.BELOW_THRESHOLD: "too far away",
    Reason.LOW_CONFIDENCE: "not sure enough",
    Reason.NUMBERS_DIFFER: "names other numbers",
    Reason.IDENTIFIERS_DIFFER: "names another code, version or address",
    Reason.POLARITY_DIFFERS: "asks for the opposite",
    Reason.WORD_ORDER_DIFFERS: "turns round who does what",
    Reason.LANGUAGE_DIFFERS: "is in another language",
    Reason.CONTEXT_DIFFERS: "leans on something else that was said before",
    Reason.LONG_TEXT_DIFFERS: "differs in a passage that nothing could judge",
    Reason.QUESTION_TYPE_DIFFERS: "asks for something else of it",
    Reason.TIME_DIFFERS: "is about another time",
    Reason.SCOPE_DIFFERS: "is limited to something else",
    Reason.INSTRUCTION_DIFFERS: "wants the answer in another form",
    Reason.CORRUPT_ENTRY: "cannot be read",
    Reason.VERIFIER_UNAVAILABLE: "the verifier did not answer",
    Reason.ENCODER_UNAVAILABLE: "the encoder did not answer",
    Reason.DEADLINE: "the time was up",
}
"""The stored question against the one that is asked, for everything a candidate can come to."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A candidate with all that was or would have been measured.

    Attributes:
        refusal: What the guards say, asked also where it was too far away.
        opinion: What the verifier says; None without one, or where it fails.
        confidence: None without a calibration.
    """

    verdict: Verdict
    refusal: Refusal | None
    opinion: float | None
    confidence: float | None

    @property
    def entry_id(self) -> str:
        return self.verdict.candidate.entry.id

    def words(self) -> str:
        """The verdict in words, and then the guard's, where it would have refused as well."""
        outweighed = self.verdict.reason is Reason.SEMANTIC and self.verdict.doubt is not None
        told = _words(self.verdict.reason, "" if outweighed else self.verdict.detail)
        if self.refusal is None or self.refusal.reason is self.verdict.reason:
            return told
        link = ", although it" if outweighed else "; also"
        return f"{told}{link} {_words(self.refusal.reason, self.refusal.detail)}"


def seen(core: Core, driver: SyncDriver, query: Query, verdicts: Sequence[Verdict]) -> list[Seen]:
    """The verdicts, and the neighbours that a lookup left unread because the nearest was too far.

    Nothing here decides: what is measured in addition is measured for the reader.
    """
    if query.exact_only is not None:
        return []
    known = {verdict.candidate.entry.id for verdict in verdicts}
    further = driver.run(_neighbours(query, core.policy.neighbours), {}) if known else []
    unread = [_unread(found, core) for found in further if found.entry.id not in known]
    return [_measured(core, query, verdict) for verdict in (*verdicts, *unread)]


def _neighbours(query: Query, limit: int) -> Flow[Sequence[Candidate]]:
    vector = yield from long_questions.embed_question(query)
    if isinstance(vector, Failure):
        return []
    found = yield from asking.search(query.partition, vector, limit)
    return [] if isinstance(found, Failure) else found


def _unread(candidate: Candidate, core: Core) -> Verdict:
    # It is no nearer than the nearest, and that was too far.
    detail = f"similarity {candidate.similarity:.3f} < {core.policy.similarity_threshold:g}"
    return Verdict(candidate, Reason.BELOW_THRESHOLD, detail)


def _measured(core: Core, query: Query, verdict: Verdict) -> Seen:
    if query.windows:
        # Of two long texts the passages that differ were judged, and not the whole.
        return Seen(verdict, None, None, verdict.confidence)
    text, stored = query.text, verdict.candidate.entry.question
    opinion = _opinion(core, text, stored)
    calibration, confidence = core.policy.calibration, verdict.confidence
    lacks = core.workplace.verifier is not None and opinion is None
    if confidence is None and calibration is not None and not lacks:
        near = verdict.candidate.similarity
        observed = Observed(text, stored, near, opinion, around=verdict.around)
        confidence = calibration.probability(observed)
    return Seen(verdict, core.policy.guard(text, stored), opinion, confidence)


def _opinion(core: Core, text: str, stored: str) -> float | None:
    if core.workplace.verifier is None:
        return None
    try:
        return core.workplace.verifier.judge(text, [stored])[0]
    except Exception:  # noqa: BLE001 - a verifier is anybody's code; that it failed is in the verdict
        return None


def _words(reason: Reason, detail: str) -> str:
    told = WORDS.get(reason, str(reason))
    return f"{told} ({detail})" if detail else told
