"""What a namespace has asked for, served and learnt, in a state that several workers can share.

Every worker writes to its own share and to no other, and counts its changes. Of two states of one
share the later contains the earlier, so two ledgers merge by taking the later share of each worker:
in any order, in any grouping and any number of times with the same result. A worker needs a
name of its own, and must read its share back or take a new name when it starts again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import floor, log10
from operator import add
from zlib import crc32

BINS = 33
"""Risks from 1e-4 to 1, eight bins to the decade, the last for a risk of 1 alone."""

CLASSES = 32
"""Classes are hashed into this many: bounded whatever callers use as a class."""

ENTRIES = 256
"""Entries with evidence of their own, per worker; the one untouched for longest goes first."""

WORKERS = 16
"""Shares kept; the one silent for longest goes first."""

_NO_RISK = (0.0,) * BINS


def class_bucket(class_: str) -> int:
    """Where a class is counted. Two that meet there are pooled, which shrinkage is made for."""
    return crc32(class_.encode("utf-8", "surrogatepass")) % CLASSES


def risk_bin(risk: float) -> int:
    """The bin of a risk in [0, 1]."""
    return min(BINS - 1, max(0, floor(8 * (log10(max(risk, 1e-9)) + 4))))


def bin_edge(index: int) -> float:
    """The smallest risk of a bin; that of the bin after it is the largest."""
    return min(1.0, float(10 ** (index / 8 - 4)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Observed against expected errors, of one class.

    Attributes:
        expected: Sum of 1 - confidence over the labelled hits that pass the bar.
        wrong: How many of these were wrong.
        served: Sum of 1 - confidence over all hits that were served.
        reported: Wrong answers that users reported, out of those served.
    """

    expected: float = 0.0
    wrong: float = 0.0
    served: float = 0.0
    reported: float = 0.0

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            self.expected + other.expected,
            self.wrong + other.wrong,
            self.served + other.served,
            self.reported + other.reported,
        )


_NOTHING = Evidence()


def _added(ours: Mapping[int, Evidence], theirs: Mapping[int, Evidence]) -> dict[int, Evidence]:
    return {**ours, **{key: ours.get(key, _NOTHING) + value for key, value in theirs.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Sums over a stretch of traffic; adding two gives the sums over both.

    Attributes:
        requests: All requests: hits and misses, exact and semantic.
        hits: Would-be hits, served or not.
        passed: Those that clear the bar, whether the mode lets them be served or not.
        labelled: Labels on those, each counted 1 / (probability that it was drawn).
        wrong: The same, of the wrong ones.
        heaviest: The largest such weight.
        labels: Labels as they are.
        wrong_labels: Wrong labels as they are.
        risk: Sum of the risks of the would-be hits, per bin of risk.
        classes: What is known of each class that occurred.
    """

    requests: int = 0
    hits: int = 0
    passed: int = 0
    labelled: float = 0.0
    wrong: float = 0.0
    heaviest: float = 0.0
    labels: int = 0
    wrong_labels: int = 0
    risk: tuple[float, ...] = _NO_RISK
    classes: Mapping[int, Evidence] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            requests=self.requests + other.requests,
            hits=self.hits + other.hits,
            passed=self.passed + other.passed,
            labelled=self.labelled + other.labelled,
            wrong=self.wrong + other.wrong,
            heaviest=max(self.heaviest, other.heaviest),
            labels=self.labels + other.labels,
            wrong_labels=self.wrong_labels + other.wrong_labels,
            # Most of what is added is one request without either; this is on the path of each.
            risk=self.risk if other.risk is _NO_RISK else tuple(map(add, self.risk, other.risk)),
            classes=_added(self.classes, other.classes) if other.classes else self.classes,
        )

    @property
    def evidence(self) -> Evidence:
        """Of all classes together."""
        return sum(self.classes.values(), _NOTHING)


@dataclass(frozen=True, slots=True)
class EntryRecord:
    """Evidence about one stored answer. Times are the caller's; 0 for never."""

    expected: float = 0.0
    wrong: float = 0.0
    touched: float = 0.0
    reported: float = 0.0
    cleared: float = 0.0

    @property
    def blocked(self) -> bool:
        return self.reported > self.cleared


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one worker has seen.

    Attributes:
        version: Changes so far.
        latest: The newest `now` it was given.
        turn: How often the mode changed: even is open, odd is exact-only.
        requests: Since ever.
        spent: Errors expected of everything served, since ever.
        tallies: Recent traffic, by turn and block of time.
        entries: Recent evidence by entry id, the most recently touched last.
    """

    version: int = 0
    latest: float = 0.0
    turn: int = 0
    requests: int = 0
    spent: float = 0.0
    tallies: Mapping[tuple[int, int], Tally] = field(default_factory=dict)
    entries: Mapping[str, EntryRecord] = field(default_factory=dict)


_NO_SHARE = Share()
_NO_RECORD = EntryRecord()
_NO_TALLY = Tally()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The evidence of one namespace, as far as `worker` has heard of it."""

    worker: str
    shares: Mapping[str, Share] = field(default_factory=dict)

    @property
    def own(self) -> Share:
        """The share this worker writes to."""
        return self.shares.get(self.worker, _NO_SHARE)

    @property
    def turn(self) -> int:
        """The latest turn that anybody has taken."""
        return max((share.turn for share in self.shares.values()), default=0)

    @property
    def requests(self) -> int:
        """Since ever."""
        return sum(share.requests for share in self.shares.values())

    @property
    def spent(self) -> float:
        """Errors expected of everything served, since ever."""
        return sum(share.spent for share in self.shares.values())

    def window(self, first_block: int, turn: int | None = None) -> Tally:
        """The sums since a block, of all workers; of one turn or of all."""
        return sum(
            (
                tally
                for share in self.shares.values()
                for (its_turn, block), tally in share.tallies.items()
                if block >= first_block and turn in (None, its_turn)
            ),
            _NO_TALLY,
        )

    def entry(self, entry_id: str) -> EntryRecord:
        """What all workers know of an entry since it was last cleared."""
        records = [
            share.entries[entry_id] for share in self.shares.values() if entry_id in share.entries
        ]
        cleared = max((record.cleared for record in records), default=0.0)
        valid = [record for record in records if record.touched >= cleared]
        return EntryRecord(
            expected=sum(record.expected for record in valid),
            wrong=sum(record.wrong for record in valid),
            touched=max((record.touched for record in valid), default=0.0),
            reported=max((record.reported for record in records), default=0.0),
            cleared=cleared,
        )

    def changed(
        self,
        *,
        now: float,
        tallies: Mapping[tuple[int, int], Tally] | None = None,
        entries: Mapping[str, EntryRecord] | None = None,
        requests: int = 0,
        spent: float = 0.0,
        turns: int = 0,
    ) -> Ledger:
        """With this worker's share renewed: mappings are replaced, numbers are added."""
        own = self.own
        share = Share(
            version=own.version + 1,
            latest=max(now, own.latest),
            turn=self.turn + turns,  # everybody's: the mode outlives the worker that found it
            requests=own.requests + requests,
            spent=own.spent + spent,
            tallies=own.tallies if tallies is None else tallies,
            entries=own.entries if entries is None else entries,
        )
        return Ledger(self.worker, {**self.shares, self.worker: share})

    def counted(self, block: int, tally: Tally, *, oldest: int) -> dict[tuple[int, int], Tally]:
        """This worker's tallies with one more added to the present turn, without outdated ones."""
        key = (self.turn, block)
        kept = {known: old for known, old in self.own.tallies.items() if known[1] >= oldest}
        kept[key] = kept.get(key, _NO_TALLY) + tally
        return kept

    def touched(self, entry_id: str, record: EntryRecord) -> dict[str, EntryRecord]:
        """This worker's entries with one renewed; those that are refused stay longest."""
        entries = {known: old for known, old in self.own.entries.items() if known != entry_id}
        entries[entry_id] = record
        while len(entries) > ENTRIES:
            harmless = (known for known, old in entries.items() if not old.blocked)
            del entries[next(harmless, next(iter(entries)))]
        return entries

    def own_entry(self, entry_id: str) -> EntryRecord:
        """What this worker alone knows of an entry, without what another has cleared since."""
        record = self.own.entries.get(entry_id, _NO_RECORD)
        outdated = record.touched < self.entry(entry_id).cleared
        return replace(record, expected=0.0, wrong=0.0) if outdated else record


def merge(ours: Ledger, theirs: Ledger) -> Ledger:
    """Both ledgers' evidence, under the name of `ours`.

    Of the shares it is commutative, associative and idempotent, as long as all of them are kept.
    """
    shares = dict(ours.shares)
    for worker, share in theirs.shares.items():
        shares[worker] = max(shares.get(worker, _NO_SHARE), share, key=_age)
    newest = sorted(shares, key=lambda worker: (shares[worker].latest, worker))[-WORKERS:]
    # A worker never forgets itself: its version would begin again and lose against its own past.
    kept = {*newest, ours.worker} & shares.keys()
    return replace(ours, shares={worker: shares[worker] for worker in sorted(kept)})


def _age(share: Share) -> tuple[int, float, int, float]:
    return share.version, share.latest, share.requests, share.spent
