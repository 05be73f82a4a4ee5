"""What a question leans on: the chat before it, kept small enough to be stored with an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from zlib import crc32

from langchain_semcache.context._attributes import asks_for_a_fact
from langchain_semcache.context._mentions import is_han, mentions, plain
from langchain_semcache.context._standalone import english_words, is_reply, is_standalone

Turn = tuple[str, str]
"""Role and text of one message."""

_Recent = Sequence[tuple[bool, str]]  # the latest first: whether the user said it, and what

_TURNS = 8  # a referent further back has been named again, or is no longer meant
_HEAD, _END = 220, 80  # of a long message; names stand at its ends
_NAMES, _TAIL, _FRAME = 12, 180, 14
_SURE = 1.3
_FAINTEST = 0.3
_CROWDED = 0.25
_HAN_FADE, _FADE = 0.9, 0.7
_ASKED = 0.5
_USERS_WORD, _ASSISTANTS_WORD = 1.15, 0.9
_NOT_HAN = re.compile(r"[^\u3400-\u9fff\uf900-\ufaff\u30a0-\u30ff·]+")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Referent:
    """Something a question may be about.

    Attributes:
        name: Folded; an English one is a stem.
        weight: How much speaks for it: shape, how lately, how often.
        sure: Whether its form says that it is a name.
    """

    name: str
    weight: float
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a question needs of its chat.

    Holds no more of the chat than a few names and a few words; below 2 kB as JSON, whatever the
    chat was.

    Attributes:
        standalone: The question names what it is about: the chat does not matter. Without a name
            in it, no name may have been dropped in the chat either.
        reply: The question only answers or pushes on what was last said.
        referents: What it may be about, likeliest first; of the question alone if it stands alone.
        tail: The Chinese of the last messages, for names that were not recognised as such.
        asked: The words of the user's last message, as numbers, if nothing in it points back.
        told: What the assistant's last message names, as numbers.
        said: Digest of the assistant's last message, without case and punctuation.
        digest: Digest of the whole chat; equal digests are equal chats.
    """

    standalone: bool
    reply: bool
    referents: tuple[Referent, ...]
    tail: str
    asked: tuple[int, ...]
    told: tuple[int, ...]
    said: str
    digest: str

    def to_json(self) -> str:
        """One line of JSON, for `from_json`."""
        names = [[item.name, item.weight, int(item.sure)] for item in self.referents]
        flags = int(self.standalone) + 2 * int(self.reply)
        frame = [self.asked, self.told]
        record = [_VERSION, flags, names, self.tail, *frame, self.said, self.digest]
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Context | None:
        """What `to_json` wrote; None for anything else, such as another version's."""
        try:
            version, flags, names, tail, asked, told, said, digest = json.loads(text)
            if version != _VERSION:
                return None
            found = tuple(
                Referent(str(name), float(weight), bool(sure)) for name, weight, sure in names
            )
            return cls(
                standalone=bool(flags & 1),
                reply=bool(flags & 2),
                referents=found,
                tail=str(tail),
                asked=tuple(map(int, asked)),
                told=tuple(map(int, told)),
                said=str(said),
                digest=str(digest),
            )
        except (ValueError, TypeError, RecursionError):
            return None


def summarise(turns: Sequence[Turn], question: str) -> Context:
    """What `question` needs of the messages before it, oldest first. Never fails on odd text."""
    spoken = [turn for turn in turns if turn[0] in ("user", "assistant")][-_TURNS:]
    recent = [(role == "user", _shortened(text)) for role, text in reversed(spoken)]
    whole = is_standalone(question)
    alone = whole and (asks_for_a_fact(question) or not _has_a_topic(question, recent))
    asked = next((text for by_user, text in recent if by_user), "")
    told = next((text for by_user, text in recent if not by_user), "")
    last = next((text for role, text in reversed(turns) if role == "assistant"), "")
    return Context(
        standalone=alone,
        reply=is_reply(question),
        referents=_referents("" if whole and not alone else _shortened(question), recent, alone),
        tail="" if alone else _NOT_HAN.sub(" ", "\n".join(text for _, text in recent[:4]))[:_TAIL],
        asked=() if alone else _numbers(english_words(asked)),
        told=() if alone else _numbers(list(_strongest(told))),
        said=_digest(["".join(filter(str.isalnum, plain(last).casefold()))]),
        digest=_digest([part for turn in turns for part in turn]),
    )


def _has_a_topic(question: str, recent: _Recent) -> bool:
    """Whether names that a chat dropped may be meant by a question that has none of its own.

    "How do I read a file?" is another question in a chat about Python than in one about Rust.
    """
    return not _names(question) and any(_names(text) for _, text in recent)


def _names(text: str) -> bool:
    chinese = is_han(text)
    return any(
        _is_sure(name, weight, chinese=chinese) for name, weight in mentions(_shortened(text))
    )


def _is_sure(name: str, weight: float, *, chinese: bool) -> bool:
    """Whether it is a name by its form; so is a word in other letters among Chinese."""
    return weight >= _SURE or (chinese and name.isalpha() and not is_han(name))


def _numbers(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(crc32(word.encode()) & 0xFFFFFF for word in words[:_FRAME])


def _digest(parts: Sequence[str]) -> str:
    hashed = blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(data) + data)
    return hashed.hexdigest()


def _shortened(text: str) -> str:
    if len(text) > _HEAD + _END:
        text = f"{text[:_HEAD]}\n{text[-_END:]}"
    return plain(text)


def _referents(question: str, recent: _Recent, alone: bool) -> tuple[Referent, ...]:
    """Names by weight. What a follow-up merely asks for is not what it is about."""
    asked = _strongest(question)
    if alone:
        names = {name: (weight, weight) for name, weight in asked.items()}
    else:
        names = _faded(asked, recent, _HAN_FADE if is_han(question) else _FADE)
    ranked = sorted(names.items(), key=lambda item: -item[1][0])[:_NAMES]
    chinese = any(map(is_han, names))
    return tuple(
        Referent(name, round(sum_, 3), _is_sure(name, best, chinese=chinese))
        for name, (sum_, best) in ranked
    )


def _faded(asked: dict[str, float], recent: _Recent, fade: float) -> dict[str, tuple[float, float]]:
    named = {name: weight for name, weight in asked.items() if _names_itself(name, weight)}
    names: dict[str, tuple[float, float]] = {}
    for distance, found in enumerate([named, *(_spoken(*turn) for turn in recent)]):
        strong = sum(weight >= 0.6 for weight in found.values())
        share = fade**distance * max(1, strong) ** -_CROWDED
        for name, weight in found.items():
            total, best = names.get(name, (0.0, 0.0))
            names[name] = (total + weight * share, max(best, weight))
    for name, weight in asked.items():
        if name not in named and name in names and not is_han(name):
            total, best = names[name]
            names[name] = (total + _ASKED * weight, best)
    return names


def _spoken(by_user: bool, text: str) -> dict[str, float]:
    """What a message names. In English a plain word says more when the user chose it."""
    factor = _USERS_WORD if by_user else _ASSISTANTS_WORD
    return {
        name: weight if weight >= _SURE or is_han(name) else weight * factor
        for name, weight in _strongest(text).items()
    }


def _names_itself(name: str, weight: float) -> bool:
    return weight >= _SURE or (is_han(name) and len(name) >= 3)


def _strongest(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, weight in mentions(text):
        if weight >= _FAINTEST and weight > found.get(name, 0.0):
            found[name] = weight
    return found
