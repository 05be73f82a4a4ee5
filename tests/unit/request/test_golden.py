"""The key format is a promise to every store on disk.

`tests/golden/request_keys.json` holds the digests of varied requests. A change there makes every
stored entry unreachable: it needs a new `KEY_VERSION` and a line in the change log. Then write the
file anew: `python tests/unit/request/test_golden.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langchain_semcache.records import Request
from langchain_semcache.request import KEY_VERSION, RequestSettings, resolve

FILE = Path(__file__).parents[2] / "golden" / "request_keys.json"

TOOL = {"type": "function", "function": {"name": "get", "parameters": {"city": "string"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"city":"Oslo"}'}}

STREAMED = {"type": "tool_use", "id": "1", "name": "get", "input": {}, "partial_json": '{"a":1}'}
UNREADABLE = {"name": "get", "args": '{"city": "Os', "id": "1", "error": None}


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


CASES: dict[str, dict[str, Any]] = {
    "plain text": {"messages": "What is a firewall?"},
    "empty": {"messages": ""},
    "model": {"messages": "q", "model": "gpt-4o-mini"},
    "tenant": {"messages": "q", "tenant": "acme"},
    "namespace": {"messages": "q", "namespace": "shop"},
    "surface": {"messages": "q", "surface": "langchain"},
    "system": {"messages": [{"role": "system", "content": "Be brief"}, _user("q")]},
    "sampling": {"messages": "q", "parameters": {"temperature": 0.25, "top_p": 0.945, "seed": 7}},
    "whole float": {"messages": "q", "parameters": {"max_tokens": 5.0, "logprobs": True}},
    "nan": {"messages": "q", "parameters": {"temperature": float("nan")}},
    "volatile": {"messages": "q", "parameters": {"stream": True, "timeout": 3, "api_key": "s"}},
    "headers": {"messages": "q", "parameters": {"extra_headers": {"Beta": "1", "X-Api-Key": "s"}}},
    "tools": {"messages": "q", "parameters": {"tools": [TOOL], "tool_choice": "auto"}},
    "schema": {"messages": "q", "parameters": {"response_format": '{"b": 1, "a": {"$ref": "x"}}'}},
    "bytes": {"messages": "q", "parameters": {"extra_body": {"blob": b"\x00\x01"}}},
    "history": {"messages": [_user("a"), {"role": "assistant", "content": "b"}, _user("c")]},
    "names": {"messages": [{**_user("a"), "name": "ann"}, _user("c")]},
    "tool loop": {
        "messages": [
            _user("Weather?"),
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "12 C"},
        ]
    },
    "image": {"messages": [_user([{"type": "text", "text": "Describe"}, _image("http://h/a")])]},
    "long image": {"messages": [_user(["Describe", _image("data:image/png;base64," + "A" * 999)])]},
    "unknown part": {"messages": [_user(["q", {"type": "hologram", "x": [1, None]}])]},
    "prefill": {"messages": [_user("q"), {"role": "assistant", "content": "Once"}]},
    "chinese": {"messages": "中文问题"},
    "decomposed": {"messages": "cafe\u0301"},
    "template": {"messages": "Context:\nThe price is 10.\nQuestion: What is it?\nAnswer:"},
    "two texts": {"messages": [_user(["Some context", "A question?"])]},
    "streamed call": {"messages": [_user("q"), {"role": "assistant", "content": [STREAMED]}]},
    "unreadable call": {
        "messages": [
            _user("q"),
            {"role": "assistant", "content": "", "invalid_tool_calls": [UNREADABLE]},
            _user("next"),
        ]
    },
    "nested secret": {"messages": "q", "parameters": {"extra_body": {"token": "A"}}},
    "null": {"messages": "q", "parameters": {"response_format": {"const": None}}},
    "alone": {"messages": {"role": "user", "content": "A message that stands alone"}},
    "translation": {"messages": "Translate the following to French: I like tea."},
    "examples": {"messages": "Input: tall\nOutput: short\n\nInput: hot\nOutput:"},
    "markup": {"messages": "<s>[INST] What is tea? [/INST]"},
    "data": {"messages": '{"question": "What is tea?"}'},
    "long text": {"messages": "word " * 400},
}


def _keys(fields: dict[str, Any]) -> dict[str, str | None]:
    resolved = resolve(
        Request(**fields),
        settings=RequestSettings(),
        encoder_identity="golden-encoder",
        count_tokens=len,
        max_tokens=512,
    )
    query = resolved.query
    return {
        "scope": resolved.scope.digest,
        "tenant": resolved.scope.tenant,
        "partition": query.partition,
        "fingerprint": query.fingerprint,
        "text": query.text if len(query.text) < 80 else query.text[:77] + "...",
        "exact_only": query.exact_only,
    }


def _written() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return written


def test_the_file_belongs_to_this_format() -> None:
    """One file for one version, with every case."""
    written = _written()
    assert written["key_version"] == KEY_VERSION
    assert written["requests"].keys() == CASES.keys()


@pytest.mark.parametrize("case", sorted(CASES))
def test_keys_do_not_change(case: str) -> None:
    """A store written by this format is found again, in any process, on any machine."""
    assert _keys(CASES[case]) == _written()["requests"][case]


def test_the_requests_are_told_apart() -> None:
    """No two of them share scope and fingerprint, but for what is volatile."""
    keys = {(entry["scope"], entry["fingerprint"]) for entry in _written()["requests"].values()}
    assert len(keys) == len(CASES)


if __name__ == "__main__":
    content = {"key_version": KEY_VERSION, "requests": {k: _keys(v) for k, v in CASES.items()}}
    text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")
