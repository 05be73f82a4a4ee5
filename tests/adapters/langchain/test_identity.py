"""What LangChain leaves out, overwrites or flattens must not make two calls one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from langchain_core.caches import BaseCache
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, ConfigDict, Field, SecretStr, computed_field, field_validator

from langchain_semcache import ConfigurationError, Reason, SemanticCache
from langchain_semcache.langchain import tenant
from langchain_semcache.langchain.generations import Unstorable, to_generations, to_response
from langchain_semcache.langchain.wire import request_of
from langchain_semcache.records import Decision
from langchain_semcache.testing.fakes import ScriptedEncoder


class Echo(BaseChatModel):
    """Answers with the options it was called with, as LangChain can serialise it."""

    stop: list[str] | None = None
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "echo"

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.calls += 1
        text = f"{self.stop} {stop} {sorted(kwargs)} {self.calls}"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


@pytest.fixture
def cache():
    opened = SemanticCache(":memory:", encoder=ScriptedEncoder(), strict=True)
    yield opened
    opened.close()


def asked(model: BaseChatModel, cache: BaseCache, **options: Any) -> int:
    """How often the model was called for this call, and once more."""
    copy = model.model_copy(update={"cache": cache, "calls": 0})
    copy.invoke("tell me a story", **options)
    return copy.calls


def test_a_models_own_stop_counts(cache):
    assert asked(Echo(stop=["A"]), cache) == 1
    assert asked(Echo(stop=["B"]), cache) == 1
    assert asked(Echo(), cache) == 1
    assert asked(Echo(stop=["A"]), cache) == 0


def test_taking_a_setting_away_is_another_call():
    model = '{"lc": 1, "type": "constructor", "id": ["a", "M"], "kwargs": {"temperature": 0.2}}'
    with_it = request_of("q", model + "---[('stop', None)]", "")
    without = request_of("q", model + "---[('stop', None), ('temperature', None)]", "")
    assert with_it.parameters != without.parameters


class Persona:
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    "option", [Persona("pirate"), lambda: 1, [Persona("x")], {"p": Persona("y")}]
)
def test_an_option_that_shows_no_value_is_not_cached(cache, option):
    assert [asked(Echo(), cache, persona=option) for _ in range(2)] == [1, 1]
    assert cache.stats().lookups_by_reason == {Reason.UNIDENTIFIABLE: 2}


def test_an_option_that_shows_its_value_is_told_by_it(cache):
    costs = [Decimal(1), Decimal(2), Decimal(1)]
    assert [asked(Echo(), cache, cost=cost) for cost in costs] == [1, 1, 0]


def _one() -> type[BaseModel]:
    class Out(BaseModel):
        city: str

    return Out


def _other() -> type[BaseModel]:
    class Out(BaseModel):
        city: str
        country: str

    Out.__qualname__ = _one().__qualname__
    return Out


@pytest.mark.parametrize("place", ["response_schema", "schemas", "response_format"])
def test_two_schemas_of_one_name_are_kept_apart_wherever_they_stand(cache, place):
    one, other = _one(), _other()
    shapes = {
        "response_schema": lambda kind: kind,
        "schemas": lambda kind: [kind],
        "response_format": lambda kind: {"type": "json_schema", "schema": kind},
    }
    calls = [asked(Echo(), cache, **{place: shapes[place](kind)}) for kind in (one, other)]
    assert calls == [1, 1]


class Alias(BaseModel):
    model_config = ConfigDict(extra="forbid")
    city: str = Field(alias="cityName")


class Computed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    side: int

    @computed_field
    @property
    def area(self) -> int:
        return self.side**2


class Halved(BaseModel):
    share: float

    @field_validator("share", mode="before")
    @classmethod
    def percent(cls, value: float) -> float:
        return value / 100


class Hidden(BaseModel):
    key: SecretStr


class Partial(BaseModel):
    shown: int
    kept: int = Field(default=0, exclude=True)


def parsed(answer: BaseModel) -> AIMessage:
    return AIMessage("{}", additional_kwargs={"parsed": answer})


def through_the_store(message: AIMessage) -> AIMessage:
    response = to_response([ChatGeneration(message=message)])
    decision = Decision(hit=True, reason=Reason.EXACT, response=response, entry_id="e")
    (found,) = to_generations(decision)
    return found.message


@pytest.mark.parametrize("answer", [Alias(cityName="Rome"), Partial(shown=1)])
def test_a_structured_answer_comes_back_as_its_class_would_make_it(answer):
    written = through_the_store(parsed(answer)).additional_kwargs["parsed"]
    assert type(answer)(**written) == answer


@pytest.mark.parametrize(
    "answer", [Computed(side=2), Halved(share=50), Hidden(key="s"), Partial(shown=1, kept=2)]
)
def test_a_structured_answer_that_would_come_back_changed_is_not_kept(answer):
    with pytest.raises(Unstorable, match="would not come back"):
        to_response([ChatGeneration(message=parsed(answer))])


@pytest.mark.parametrize("odd", [b"abc", (1, 2), {5: "five"}, {1, 2}])
def test_a_reply_that_json_would_change_is_not_kept(odd):
    with pytest.raises(Unstorable):
        to_response([ChatGeneration(message=AIMessage("x", additional_kwargs={"data": odd}))])


def test_a_null_among_the_names_for_an_ending_says_nothing():
    message = AIMessage("x", response_metadata={"finish_reason": "STOP", "stop_reason": None})
    assert to_response([ChatGeneration(message=message)]).finish_reasons == ("STOP",)


def test_clearing_one_tenant_leaves_the_other(cache):
    acme = SemanticCache(cache.semcache, tenant="acme")
    for whose in (acme, cache, SemanticCache(cache.semcache, tenant="other")):
        assert asked(Echo(), whose) == 1
    acme.clear()
    assert asked(Echo(), acme) == 1
    assert asked(Echo(), SemanticCache(cache.semcache, tenant="other")) == 0
    with tenant("other"):
        cache.clear()
        assert asked(Echo(), cache) == 1
    assert asked(Echo(), cache) == 0
    cache.clear()
    assert cache.stats().entries == 0


def test_a_tenant_without_a_name_is_refused():
    with pytest.raises(ConfigurationError, match="tenant must be text"), tenant(None):
        raise AssertionError("the block was entered")
