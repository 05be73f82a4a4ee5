"""Reads Python's spelling of plain values without running anything.

LangChain writes the options of a call with `str()`. The text is parsed, never executed: literals
become values, everything else (a class, an object) becomes an `Opaque` that keeps its spelling.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from langchain_semcache.errors import SemcacheError

MAX_CHARACTERS = 1_000_000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MARK = "__semcache_opaque__"


class Unreadable(SemcacheError):
    """The text is not a list of name and value pairs."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that has no literal form; `spelling` is its repr.

    `nameless` when the repr gives a memory address instead of a value: two such objects may look
    the same and be different.
    """

    spelling: str
    nameless: bool = False

    @classmethod
    def of(cls, spelling: str) -> Opaque:
        """What a repr says, its memory addresses removed."""
        plain = _ADDRESS.sub("", spelling)
        return cls(plain, plain != spelling)


def read_pairs(text: str) -> dict[str, object]:
    """The mapping behind `str(sorted(options.items()))`.

    Raises:
        Unreadable: The text is in another form.
    """
    if len(text) > MAX_CHARACTERS:
        raise Unreadable("too long")
    marked, opaque = _mark_opaque(text)
    try:
        tree = ast.parse(marked.strip(), mode="eval").body
        pairs = _value(tree, opaque)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(type(error).__name__) from error
    if not isinstance(pairs, list):
        raise Unreadable("not a list")
    found: dict[str, object] = {}
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise Unreadable("not pairs")
        found[pair[0]] = pair[1]
    return found


def _mark_opaque(text: str) -> tuple[str, list[str]]:
    """Replace each `<…>` outside a string by a call that parses, and keep what it said."""
    out: list[str] = []
    opaque: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character in "'\"":
            end = _string_end(text, position)
            out.append(text[position:end])
        elif character == "<":
            end = _angle_end(text, position)
            out.append(f"{_MARK}({len(opaque)})")
            opaque.append(text[position:end])
        else:
            end = position + 1
            out.append(character)
        position = end
    return "".join(out), opaque


def _string_end(text: str, start: int) -> int:
    quote, position = text[start], start + 1
    while position < len(text) and text[position] != quote:
        position += 2 if text[position] == "\\" else 1
    return min(position + 1, len(text))


def _angle_end(text: str, start: int) -> int:
    depth, position = 0, start
    while position < len(text):
        if text[position] in "'\"":
            position = _string_end(text, position)
            continue
        depth += {"<": 1, ">": -1}.get(text[position], 0)
        position += 1
        if not depth:
            break
    return position


def _value(node: ast.expr, opaque: list[str]) -> object:
    def inner(child: ast.expr) -> object:
        return _value(child, opaque)

    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=items):
            return tuple(map(inner, items))
        case ast.List(elts=items):
            return list(map(inner, items))
        case ast.Set(elts=items):
            # A set is spelled in another order in each process.
            return sorted(map(inner, items), key=repr)
        case ast.Dict(keys=keys, values=values):
            return _mapping(keys, values, inner)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(node, name, arguments, opaque)
    return Opaque.of(ast.unparse(node))


def _call(node: ast.Call, name: str, arguments: list[ast.expr], opaque: list[str]) -> object:
    """What looks like a call: one of our marks, an empty or frozen set, or an object's repr."""
    match arguments:
        case [ast.Constant(value=int() as number)] if name == _MARK and number < len(opaque):
            return Opaque.of(opaque[number])
        case [] if name in ("set", "frozenset"):
            return []
        case [ast.Set() as items] if name == "frozenset":
            return _value(items, opaque)
    return Opaque.of(ast.unparse(node))


def _mapping(
    keys: list[ast.expr | None], values: list[ast.expr], inner: Callable[[ast.expr], object]
) -> dict[object, object]:
    found: dict[object, object] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            raise ValueError("an unpacked mapping is nobody's spelling")
        name = inner(key)
        found[name if _is_key(name) else repr(name)] = inner(value)
    return found


def _is_key(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_key, value))
    return not isinstance(value, list | dict)
