"""Stands in for a model provider: OpenAI's chat and responses APIs, real HTTP on loopback.

What it answers to a question can be set (`service.says[question] = Reply(…)`); any other question
gets an answer that is numbered, so that a test can tell a fresh one from a stored one. It remembers
the bodies it was sent.
"""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}


@dataclass(frozen=True)
class Reply:
    """One answer. `cut_after` chunks of a stream the connection breaks; `seconds` pass first.

    `tops` are the probabilities of the alternatives at each token, the written one first.
    """

    content: str | None = None
    finish_reason: str | None = "stop"
    tool_calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    refusal: str | None = None
    status: int = 200
    seconds: float = 0.0
    cut_after: int | None = None
    logprobs: bool = False
    tops: tuple[float, ...] = ()
    choices: int = 1


class OpenAIService:
    """The stand-in, serving between `__enter__` and `__exit__`."""

    def __init__(self) -> None:
        self.says: dict[str, Reply] = {}
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), partial(_Handler, self))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def calls(self) -> int:
        return len(self.bodies)

    def answer(self, body: dict[str, Any]) -> tuple[int, Reply]:
        with self._lock:
            self.bodies.append(body)
            number = len(self.bodies)
        question = _question(body)
        said = self.says.get(question)
        if said is None:
            said = Reply(content=f"Answer {number} to: {question}", choices=body.get("n") or 1)
        time.sleep(said.seconds)
        return number, said


def _question(body: dict[str, Any]) -> str:
    said = body.get("messages") or body.get("input") or body.get("prompt") or ""
    if isinstance(said, list):
        said = next((m["content"] for m in reversed(said) if m.get("role") == "user"), "")
    if isinstance(said, list):
        said = " ".join(part["text"] for part in said if "text" in part)
    return str(said)


def _message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": said}}
            for n, (name, said) in enumerate(reply.tool_calls)
        ]
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.refusal:
        message["refusal"] = reply.refusal
    return message


def _logprobs(reply: Reply) -> dict[str, Any] | None:
    if not reply.logprobs and not reply.tops:
        return None
    tokens = [_token(word, reply) for word in (reply.content or "").split()]
    return {"content": tokens, "refusal": None}


def _token(word: str, reply: Reply) -> dict[str, Any]:
    tops = [
        {"token": name, "logprob": math.log(top), "bytes": list(name.encode())}
        for name, top in zip([word, *map(str, range(20))], reply.tops, strict=False)
    ]
    written = tops[0] if tops else {"token": word, "logprob": -0.1, "bytes": list(word.encode())}
    return {**written, "top_logprobs": tops}


def chat(number: int, reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    choice = {"message": _message(reply), "finish_reason": reply.finish_reason}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000 + number,
        "model": body["model"],
        "choices": [
            {"index": place, **choice, "logprobs": _logprobs(reply)}
            for place in range(reply.choices)
        ],
        "usage": USAGE,
    }


def chat_chunks(number: int, reply: Reply, body: dict[str, Any]) -> list[dict[str, Any]]:
    message = _message(reply)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if reply.reasoning:
        deltas += [{"reasoning_content": word} for word in _pieces(reply.reasoning)]
    if reply.refusal:
        deltas.append({"refusal": reply.refusal})
    deltas += [{"content": word} for word in _pieces(reply.content or "")]
    for place, call in enumerate(message.get("tool_calls", ())):
        head = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": place, **call, "function": head}]})
        deltas += [
            {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}
            for piece in _pieces(call["function"]["arguments"])
        ]
    frame = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000 + number,
        "model": body["model"],
    }
    ends = [(delta, None) for delta in deltas] + [({}, reply.finish_reason)]
    chunks: list[dict[str, Any]] = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in ends
    ]
    for chunk in chunks if reply.tops else ():
        word = chunk["choices"][0]["delta"].get("content")
        told = [_token(word, reply)] if word else []
        chunk["choices"][0]["logprobs"] = {"content": told, "refusal": None} if told else None
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**frame, "choices": [], "usage": USAGE})
    return chunks


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if n == 0 else f" {word}" for n, word in enumerate(words)] if text else []


def responses(number: int, reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    part = (
        {"type": "refusal", "refusal": reply.refusal}
        if reply.refusal
        else {"type": "output_text", "text": reply.content or "", "annotations": []}
    )
    if reply.tops and not reply.refusal:
        part["logprobs"] = [_token(word, reply) for word in (reply.content or "").split()]
    output: list[dict[str, Any]] = [
        {
            "type": "message",
            "id": f"msg_{number}",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
    ]
    if reply.tool_calls:
        output = [
            {
                "type": "function_call",
                "id": f"fc_{number}_{n}",
                "call_id": f"call_{n}",
                "name": name,
                "arguments": arguments,
                "status": "completed",
            }
            for n, (name, arguments) in enumerate(reply.tool_calls)
        ]
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000 + number,
        "status": "completed" if reply.finish_reason == "stop" else "incomplete",
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        **dict.fromkeys(("max_output_tokens", "previous_response_id", "reasoning", "user")),
        "text": {"format": {"type": "text"}},
        "truncation": "disabled",
        "usage": {
            "input_tokens": 5,
            "output_tokens": 3,
            "total_tokens": 8,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def response_events(number: int, reply: Reply, body: dict[str, Any]) -> list[dict[str, Any]]:
    whole = responses(number, reply, body)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for place, item in enumerate(whole["output"]):
        events.append({"type": "response.output_item.added", "output_index": place, "item": item})
        if item["type"] == "message":
            where = {"item_id": item["id"], "output_index": place, "content_index": 0}
            part = item["content"][0]
            events += [
                {"type": "response.output_text.delta", "delta": piece, **where}
                for piece in _pieces(part.get("text", ""))
            ]
            events.append(
                {"type": "response.output_text.done", "text": part.get("text", ""), **where}
            )
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    ended = "completed" if whole["status"] == "completed" else "incomplete"
    events.append({"type": f"response.{ended}", "response": whole})
    return [{"sequence_number": n, **event} for n, event in enumerate(events)]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, service: OpenAIService, *args: Any) -> None:
        self.service = service
        super().__init__(*args)

    def log_message(self, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            self.service.bodies.append(body)
            given = body["input"]
            count = 1 if isinstance(given, str) else len(given)
            data = [{"object": "embedding", "index": n, "embedding": [0.1]} for n in range(count)]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            whole = {"object": "list", "data": data, "model": body["model"], "usage": usage}
            return self._json(200, whole)
        number, reply = self.service.answer(body)
        if reply.status != 200:
            return self._json(reply.status, {"error": {"message": "no", "type": "stub"}})
        if self.path.endswith("/responses"):
            whole, events = responses, response_events
        elif self.path.endswith("/chat/completions"):
            whole, events = chat, chat_chunks
        else:
            choice = {"index": 0, "text": reply.content, "finish_reason": "stop"}
            text = {**chat(number, reply, body), "object": "text_completion", "choices": [choice]}
            return self._json(200, text)
        if body.get("stream"):
            named = self.path.endswith("/responses")
            return self._stream(events(number, reply, body), reply.cut_after, named=named)
        return self._json(200, whole(number, reply, body))

    def _json(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, chunks: list[dict[str, Any]], cut_after: int | None, *, named: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for chunk in chunks[:cut_after]:
            head = f"event: {chunk['type']}\n" if named else ""
            self.wfile.write(f"{head}data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
        if cut_after is None and not named:
            self.wfile.write(b"data: [DONE]\n\n")
