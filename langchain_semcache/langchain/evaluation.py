"""A chat model of LangChain as the one that is asked about its own answers."""

from __future__ import annotations

from typing import TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.ports import Evaluator
from langchain_semcache.verifiers.self_evaluation import SelfEvaluation

Asked: TypeAlias = Evaluator | Runnable[str, BaseMessage] | Runnable[str, str]
"""An evaluator, or a model (also one with `.bind` or `.with_config`): a prompt in, a reply out."""


def evaluator_of(asked: Asked | None) -> Evaluator | None:
    """An evaluator as it is, and one that asks the model that is given instead.

    Raises:
        ConfigurationError: It is neither.
    """
    if asked is None or not isinstance(asked, Runnable):
        if asked is not None and not callable(getattr(asked, "score", None)):
            kind = type(asked).__name__
            raise ConfigurationError(f"evaluator must be a model or an evaluator, not {kind}")
        return asked
    model = asked

    def ask(prompt: str) -> str:
        reply = model.invoke(prompt)
        return str(reply.text) if isinstance(reply, BaseMessage) else reply

    return SelfEvaluation(ask, model=_name(model))


def _name(model: object) -> str:
    bound = getattr(model, "bound", model)
    for field in ("model_name", "model", "model_id"):
        if isinstance(name := getattr(bound, field, None), str) and name:
            return name
    return type(bound).__name__
