"""What one reader of a shared stream is given, also when the stream fails on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from langchain_semcache.engine.shared_buffer import Interrupted
from langchain_semcache.streaming import Handed, NotTheSame, Piece

Chunk = TypeVar("Chunk")


class Kind(Generic[Chunk]):
    """What has to be known of a host's chunks to share them.

    Args:
        reduced: A chunk as a neutral piece.
        copied: A chunk for one reader, who may write into it; with True for the one whose own call
            it came from.
        last: The chunk with nothing but the last so many code points of its text; `NotTheSame`
            where it cannot be parted.
        most: Code points that are kept of a stream for those who come late or read slowly.
    """

    def __init__(
        self,
        *,
        reduced: Callable[[Chunk], Piece],
        copied: Callable[[Chunk, bool], Chunk],
        last: Callable[[Chunk, int], Chunk],
        most: int,
    ) -> None:
        self.reduced = reduced
        self.copied = copied
        self.last = last
        self.most = most

    def size(self, chunk: Chunk) -> int:
        # A chunk costs memory without any text too.
        return 1 + self.reduced(chunk).size


class Reader(Generic[Chunk]):
    """One reader's way through a stream, and through the one that takes its place if it fails."""

    def __init__(self, kind: Kind[Chunk]) -> None:
        self._kind = kind
        self._handed = Handed()
        self._failure: BaseException | None = None

    def given(self, chunk: Chunk, *, leads: bool) -> Chunk | None:
        """The chunk as it is handed out; None where it repeats what was handed out already.

        Raises:
            BaseException: The failure of the first stream, when the second is another answer.
        """
        if leads and self._failure is None:
            return self._kind.copied(chunk, True)
        piece = self._kind.reduced(chunk)
        if not self._handed.repeating:
            self._handed.note(piece)
            return self._kind.copied(chunk, leads)
        try:
            new = self._handed.repeated(piece)
            if not new:
                return None
            self._handed.note(Piece(text=piece.text[-new:]))
            chunk = chunk if new == piece.size else self._kind.last(chunk, new)
        except NotTheSame:
            raise self._failed() from None
        return self._kind.copied(chunk, leads)

    def survives(self, error: BaseException, *, leads: bool) -> bool:
        """Whether another stream is tried after this failure.

        The reader whose own call failed is told so at once. The others try once more; what was only
        interrupted is no failure of the model and does not count.
        """
        if leads:
            return False
        if not isinstance(error, Interrupted):
            if self._failure is not None and not isinstance(self._failure, Interrupted):
                return False
            self._failure = error
        if self._failure is None:
            self._failure = error
        self._handed.begin_again()
        return True

    def ended(self) -> None:
        """The stream has ended by itself.

        Raises:
            BaseException: The failure of the first stream, when the second is a shorter answer.
        """
        if self._handed.repeating:
            raise self._failed()

    def _failed(self) -> BaseException:
        return Interrupted() if self._failure is None else self._failure
