"""The classes behind the names that LangChain writes.

With `response_format=SomeModel` LangChain tells a cache the name of the class and nothing about
its fields, so two schemas of one name would share their answers. The class itself is looked up
among the living; when that leaves any doubt the request has no identity and is not cached.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from langchain_semcache.langchain.pyrepr import Opaque

_CLASS = re.compile(r"<class '(?P<name>[^']+)'>")


class Unknown:
    """Stands for a value whose identity is not known; deliberately has none itself."""


def identified(value: object) -> object:
    """The value with every class in it replaced by its JSON schema.

    A class of which there is any doubt, and an object that shows no value, become `Unknown`.
    """
    if isinstance(value, dict):
        return {name: identified(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [identified(item) for item in value]
    if not isinstance(value, Opaque):
        return value
    if (found := _CLASS.fullmatch(value.spelling)) is not None:
        schemas = _schemas(found["name"])
        return schemas.popitem()[1] if len(schemas) == 1 else Unknown()
    return Unknown() if value.nameless else value


def _schemas(name: str) -> dict[str, Mapping[str, object]]:
    """The different schemas that living classes of this name have, by their text."""
    classes = [
        cls for cls in _subclasses(BaseModel) if f"{cls.__module__}.{cls.__qualname__}" == name
    ]
    schemas = [cls.model_json_schema() for cls in classes]
    return {json.dumps(schema, sort_keys=True): schema for schema in schemas}


def _subclasses(cls: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def is_handle(class_path: object) -> bool:
    """Whether objects of this class are mere handles (a client, a lock), which all look the same.

    A class with a `repr` of its own shows a value, and LangChain has left the value out.
    """
    if not isinstance(class_path, list) or not class_path:
        return False
    if not all(isinstance(part, str) for part in class_path):
        return False
    found = getattr(sys.modules.get(".".join(class_path[:-1])), class_path[-1], None)
    return isinstance(found, type) and getattr(found, "__repr__", None) is object.__repr__
