"""Going on with another stream of the same answer, without mixing two answers."""

from __future__ import annotations

from langchain_semcache.streaming.pieces import TEXT, Piece


class NotTheSame(Exception):
    """The other stream does not begin with what was handed out already."""


class Handed:
    """What one reader has been given so far, and how much of it another stream has repeated."""

    def __init__(self) -> None:
        self._runs: list[tuple[object, list[str]]] = []
        self._due: list[tuple[object, str]] = []

    def note(self, piece: Piece) -> None:
        """The reader was given this."""
        for track, text in piece.runs():
            if self._runs and self._runs[-1][0] == track:
                self._runs[-1][1].append(text)
            else:
                self._runs.append((track, [text]))

    def begin_again(self) -> None:
        """From now on `repeated` is told of another stream, from its beginning."""
        self._due = [(track, "".join(texts)) for track, texts in reversed(self._runs)]

    @property
    def repeating(self) -> bool:
        """Whether the other stream has yet to repeat something."""
        return bool(self._due)

    def repeated(self, piece: Piece) -> int:
        """How many code points at the end of this chunk's text are new.

        Raises:
            NotTheSame: It says something else than what was handed out; or it goes on in the
                middle of what cannot be parted, such as a call.
        """
        runs = piece.runs()
        new = [left for track, text in runs if (left := self._without(track, text))]
        if not new:
            return 0
        if len(runs) > 1 or runs[0][0] != TEXT:
            raise NotTheSame
        return len(new[0])

    def _without(self, track: object, text: str) -> str:
        """What is left of the text when the beginning that is due is taken off."""
        if not self._due:
            return text
        expected_track, expected = self._due.pop()
        shorter = min(len(text), len(expected))
        if track != expected_track or text[:shorter] != expected[:shorter]:
            raise NotTheSame
        if len(expected) > shorter:
            self._due.append((expected_track, expected[shorter:]))
        return text[shorter:]
