"""How close is enough: the rules that decide whether a near answer may be served."""

from langchain_semcache.threshold.booking import (
    admit,
    clear,
    observe_request,
    record,
    report_wrong,
    shadow_due,
)
from langchain_semcache.threshold.budget import (
    Admission,
    Budget,
    ErrorRate,
    Mode,
    Review,
    Terms,
    Transition,
    Verdict,
)
from langchain_semcache.threshold.codec import from_json, to_json
from langchain_semcache.threshold.ledger import Ledger, merge
from langchain_semcache.threshold.review import Summary, review, summary

__all__ = [
    "Admission",
    "Budget",
    "ErrorRate",
    "Ledger",
    "Mode",
    "Review",
    "Summary",
    "Terms",
    "Transition",
    "Verdict",
    "admit",
    "clear",
    "from_json",
    "merge",
    "observe_request",
    "record",
    "report_wrong",
    "review",
    "shadow_due",
    "summary",
    "to_json",
]
