"""Small chat models for these tests, and a loopback server that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from langchain_core.language_models import BaseChatModel, FakeListLLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

Reply = AIMessage | Sequence[AIMessage] | Exception | str
USAGE = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}


def done(content: Any = "", **fields: Any) -> AIMessage:
    """A whole reply, as providers give it."""
    fields.setdefault("response_metadata", {"finish_reason": "stop"})
    return AIMessage(content=content, **fields)


class ScriptedModel(BaseChatModel):
    """Answers "answer 1", "answer 2" …, or what it is told to; counts how often it is asked."""

    model_name: str = "scripted-1"
    temperature: float | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    api_key: str | None = None
    default_headers: dict[str, str] | None = None
    timeout: float | None = None
    max_retries: int | None = None
    anything: Any = None
    _script: list[Reply] = PrivateAttr(default_factory=list)
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _before: list[Callable[[], None]] = PrivateAttr(default_factory=list)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "temperature": self.temperature}

    @property
    def calls(self) -> int:
        return len(self._asked)

    def told(self, *replies: Reply) -> ScriptedModel:
        """The replies to give next, in order."""
        self._script.extend(replies)
        return self

    def before(self, action: Callable[[], None]) -> ScriptedModel:
        """Do this whenever asked, before answering."""
        self._before.append(action)
        return self

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        shown = [convert_to_openai_tool(tool) for tool in tools]
        options = {"tool_choice": tool_choice} if tool_choice is not None else {}
        return self.bind(tools=shown, **options, **kwargs)

    def _next(self, messages: list[BaseMessage]) -> list[AIMessage]:
        self._asked.append(list(messages))
        for action in self._before:
            action()
        reply = self._script.pop(0) if self._script else f"answer {self.calls}"
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return [done(reply)]
        return [reply] if isinstance(reply, AIMessage) else list(reply)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        replies = [reply.model_copy(deep=True) for reply in self._next(messages)]
        return ChatResult(generations=[ChatGeneration(message=reply) for reply in replies])


class StreamingModel(ScriptedModel):
    """The same, word by word; an exception in the script is raised after the first word."""

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages):
            if run_manager is not None:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages):
            if run_manager is not None:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _chunks(self, messages: list[BaseMessage]) -> Iterator[ChatGenerationChunk]:
        failure = self._script[0] if self._script else None
        if isinstance(failure, Exception):
            self._script[0] = "cut off"
        message = self._next(messages)[0]
        if isinstance(message.content, str):
            for word in message.content.split(" ")[:-1]:
                yield _chunk(content=word + " ")
                if isinstance(failure, Exception):
                    raise failure
            yield _chunk(content=message.content.split(" ")[-1])
        else:
            for position, block in enumerate(message.content):
                yield _chunk(content=[{**block, "index": position}])
        for position, call in enumerate(message.tool_calls):
            text = json.dumps(call["args"], ensure_ascii=False)
            named = {"name": call["name"], "args": text[:3], "id": call["id"], "index": position}
            yield _chunk(content="", tool_call_chunks=[named])
            rest = {"name": None, "args": text[3:], "id": None, "index": position}
            yield _chunk(content="", tool_call_chunks=[rest])
        yield _chunk(
            content="",
            additional_kwargs=message.additional_kwargs,
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
        )


class CompletionModel(FakeListLLM):
    """Text in, text out, with a setting of its own; answers "one", "two" …"""

    responses: list[str] = Field(default=["one", "two", "three", "four", "five"])
    max_tokens: int | None = None

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": "completing-1", "max_tokens": self.max_tokens}


def _chunk(**fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(**fields))


class OpenAIStub:
    """A server on the loopback interface that answers chat completions; counts its calls.

    Attributes:
        reply: The assistant message of every answer.
        finish_reason: Its end; None leaves the end out of streams.
        status: HTTP status of every answer.
    """

    def __init__(self) -> None:
        self.reply: dict[str, Any] = {"role": "assistant", "content": "hello there friend"}
        self.finish_reason: str | None = "stop"
        self.status = 200
        self.requests: list[dict[str, Any]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                asked = json.loads(self.rfile.read(length))
                stub.requests.append(asked)
                if stub.status != 200:
                    body, kind = b'{"error": {"message": "no"}}', "application/json"
                elif asked.get("stream"):
                    body, kind = stub._events(asked), "text/event-stream"
                else:
                    body, kind = json.dumps(stub._whole()).encode(), "application/json"
                self.send_response(stub.status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def calls(self) -> int:
        return len(self.requests)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _whole(self) -> dict[str, Any]:
        choice = {"index": 0, "message": self.reply, "finish_reason": self.finish_reason}
        usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
        told = {"id": f"chatcmpl-{self.calls}", "object": "chat.completion", "created": 1}
        return {**told, "model": "stub", "choices": [choice], "usage": usage}

    def _events(self, asked: dict[str, Any]) -> bytes:
        told = {"id": f"chatcmpl-{self.calls}", "object": "chat.completion.chunk", "created": 1}
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        for word in (self.reply.get("content") or "").split(" "):
            deltas.append({"content": word + " "})
        for position, call in enumerate(self.reply.get("tool_calls", ())):
            deltas.append({"tool_calls": [{"index": position, **call}]})
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        if self.finish_reason is not None:
            choices.append({"index": 0, "delta": {}, "finish_reason": self.finish_reason})
        events = [{**told, "model": "stub", "choices": [choice]} for choice in choices]
        if (asked.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
            events.append({**told, "model": "stub", "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        return "".join([*lines, "data: [DONE]\n\n"]).encode()
