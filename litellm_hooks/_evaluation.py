"""A model that LiteLLM reaches as the one that is asked about its own answers."""

from __future__ import annotations

import sys
from typing import Any

from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.ports import Evaluator
from langchain_semcache.verifiers.self_evaluation import SelfEvaluation

try:
    import litellm
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

TIMEOUT_SECONDS = 60.0
_PROXY = "litellm.proxy.proxy_server"


def evaluator_of(asked: Evaluator | str | None) -> Evaluator | None:
    """An evaluator as it is, and one that asks the model of this name instead.

    On a proxy the names of its config come first, others are LiteLLM's own ("openai/gpt-4o-mini").

    Raises:
        ConfigurationError: It is neither a name nor an evaluator.
    """
    if asked is None or asked == "":
        return None
    if not isinstance(asked, str):
        if not callable(getattr(asked, "score", None)):
            kind = type(asked).__name__
            raise ConfigurationError(f"evaluator must be a model's name, not {kind}")
        return asked
    model = asked

    def ask(prompt: str) -> str:
        reply = _completion(model)(
            model=model,
            messages=[{"role": "user", "content": prompt}],
            temperature=0,
            drop_params=True,  # some models know no temperature
            timeout=TIMEOUT_SECONDS,
            cache={"no-cache": True, "no-store": True},
        )
        return reply.choices[0].message.content or ""

    return SelfEvaluation(ask, model=model)


def _completion(model: str) -> Any:
    router = getattr(sys.modules.get(_PROXY), "llm_router", None)
    if router is not None and model in router.model_names:
        return router.completion
    return litellm.completion
