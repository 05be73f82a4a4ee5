"""What the tests of requests share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from langchain_semcache.records import Request
from langchain_semcache.request import RequestSettings, Resolved, resolve

Resolve = Callable[..., Resolved]


@pytest.fixture
def ask() -> Resolve:
    """Resolve messages with everything else at its default."""

    def resolved(
        messages: str | Sequence[object],
        *,
        settings: RequestSettings | None = None,
        encoder_identity: str = "encoder-1",
        max_tokens: int = 512,
        count_tokens: Callable[[str], int] = len,
        model: str = "m",
        **fields: object,
    ) -> Resolved:
        parameters = fields.pop("parameters", {})
        assert isinstance(parameters, Mapping)
        request = Request(messages=messages, model=model, parameters=parameters, **fields)  # type: ignore[arg-type]
        return resolve(
            request,
            settings=settings or RequestSettings(),
            encoder_identity=encoder_identity,
            count_tokens=count_tokens,
            max_tokens=max_tokens,
        )

    return resolved
