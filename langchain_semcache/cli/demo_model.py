"""The demo's chat model and chain. The only file of the command line that imports LangChain."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.globals import get_llm_cache, set_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

from langchain_semcache import SemanticCache

MODEL = "demo-chat-1"

_TOKENS = re.compile(r"[\u2e80-\u9fff]|\w+|[^\w\s]")
_UNKNOWN = "I do not know that."


def tokens(text: str) -> int:
    """About as many tokens as a model would count: words, punctuation, single ideographs."""
    return len(_TOKENS.findall(text))


class DemoChatModel(BaseChatModel):
    """Knows its answers by heart and takes its time, as a model far away would.

    Attributes:
        answers: The answer to every question it was prepared for.
        delay_seconds: How long each answer takes.
    """

    answers: Mapping[str, str] = Field(default_factory=dict, exclude=True)
    delay_seconds: float = Field(0.3, exclude=True)
    _calls: int = PrivateAttr(0)

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return self._calls

    @property
    def _llm_type(self) -> str:
        return MODEL

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model_name": MODEL}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the same
        **kwargs: object,  # noqa: ARG002 - the same
    ) -> ChatResult:
        threading.Event().wait(self.delay_seconds)
        self._calls += 1
        answer = self.answers.get(messages[-1].text, _UNKNOWN)
        message = AIMessage(
            answer,
            usage_metadata=usage(sum(tokens(m.text) for m in messages), tokens(answer)),
            response_metadata={"model_name": MODEL, "finish_reason": "stop"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def usage(asked: int, answered: int) -> UsageMetadata:
    """What a provider would bill."""
    return UsageMetadata(input_tokens=asked, output_tokens=answered, total_tokens=asked + answered)


def chain(model: DemoChatModel, system: str) -> Runnable[dict[str, Any], str]:
    """`prompt | model | StrOutputParser()`, as an application would write it."""
    prompt = ChatPromptTemplate.from_messages([("system", system), ("human", "{question}")])
    return prompt | model | StrOutputParser()


@contextmanager
def global_cache(cache: SemanticCache) -> Iterator[None]:
    """LangChain's global cache is this one for a while, and then what it was before."""
    before = get_llm_cache()
    set_llm_cache(cache)
    try:
        yield
    finally:
        set_llm_cache(before)
