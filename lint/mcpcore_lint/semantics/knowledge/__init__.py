"""What third-party functions raise, what they return, and which of their exceptions is a kind of which.

The facts are data, in the `*.json` files beside this module: one file a library, each with

- `exceptions`: a class to its bases;
- `raises`: a function or method to the classes that it raises in ordinary operation; `X if check` where it does only
  with that argument, `X unless exist_ok` where it does only without it; `Client.*` is every method that is not named;
- `returns`: a function or method to the class of what it returns, so that `connect(...).execute(...)` is followed;
- `aliases`: another name of a class to the name that the file uses.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any


@cache
def _table(section: str) -> dict[str, Any]:
    """One section of all files, read on first use."""
    return {key: fact for file in _files() for key, fact in file.get(section, {}).items()}


@cache
def _files() -> list[dict[str, dict[str, Any]]]:
    folder = os.path.dirname(os.path.abspath(__file__))
    files = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), "rb") as file:
                files.append(json.load(file))
    return files


def known_exceptions() -> dict[str, tuple[str, ...]]:
    """The qualified name of each third-party exception with its bases."""
    return {name: tuple(bases) for name, bases in _table("exceptions").items()}


@cache
def known_name(name: str) -> str:
    """The name that the tables use: `redis.asyncio.Redis.get` is `redis.Redis.get`."""
    aliases = _table("aliases")
    head, _, last = name.rpartition(".")
    return aliases.get(name) or (f"{aliases[head]}.{last}" if head in aliases else name)


@cache
def known_raises(name: str) -> tuple[str, ...] | None:
    """What a function raises, which may be nothing; None where the tables do not know it."""
    table = _table("raises")
    for spelling in (name, known_name(name)):
        owner, _, last = spelling.rpartition(".")
        raised = table.get(spelling, None if last.startswith("_") else table.get(f"{owner}.*"))
        if raised is not None:
            return tuple(raised)
    return None


def known_result(name: str) -> str | None:
    """The class of what a function returns, where the tables know it."""
    returns = _table("returns")
    return returns.get(name) or returns.get(known_name(name))
