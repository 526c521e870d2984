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
from typing import TYPE_CHECKING, Final, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping


class _File(TypedDict, total=False):
    exceptions: dict[str, list[str]]
    raises: dict[str, list[str]]
    returns: dict[str, str]
    aliases: dict[str, str]


class Knowledge:
    """The tables, read when first asked."""

    def __init__(self) -> None:
        self._loaded = False
        self._exceptions: dict[str, tuple[str, ...]] = {}
        self._raises: dict[str, tuple[str, ...]] = {}
        self._returns: dict[str, str] = {}
        self._aliases: dict[str, str] = {}
        self._known: dict[str, tuple[str, ...] | None] = {}

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        folder = os.path.dirname(os.path.abspath(__file__))
        for name in sorted(os.listdir(folder)):
            if name.endswith(".json"):
                with open(os.path.join(folder, name), "rb") as file:
                    data: _File = json.load(file)
                self._exceptions.update({key: tuple(value) for key, value in data.get("exceptions", {}).items()})
                self._raises.update({key: tuple(value) for key, value in data.get("raises", {}).items()})
                self._returns.update(data.get("returns", {}))
                self._aliases.update(data.get("aliases", {}))

    @property
    def exceptions(self) -> Mapping[str, tuple[str, ...]]:
        """Qualified name of a third-party exception to its bases."""
        self._load()
        return self._exceptions

    @property
    def returns(self) -> Mapping[str, str]:
        """Qualified name of a function to the class of what it returns."""
        self._load()
        return self._returns

    def canonical(self, name: str) -> str:
        """The name that the tables use: `redis.asyncio.Redis.get` is `redis.Redis.get`."""
        self._load()
        if name in self._aliases:
            return self._aliases[name]
        head, _, last = name.rpartition(".")
        if head in self._aliases:
            return f"{self._aliases[head]}.{last}"
        return name

    def raises(self, name: str) -> tuple[str, ...]:
        """What a function raises; nothing where the tables do not know it."""
        return self.known(name) or ()

    def known(self, name: str) -> tuple[str, ...] | None:
        """What a function raises, which may be nothing; None where the tables do not know it."""
        if name not in self._known:
            self._known[name] = self._look_up(name)
        return self._known[name]

    def _look_up(self, name: str) -> tuple[str, ...] | None:
        self._load()
        for each in (name, self.canonical(name)):
            found = self._raises.get(each)
            if found is None and not each.rpartition(".")[2].startswith("_"):
                found = self._raises.get(f"{each.rpartition('.')[0]}.*")
            if found is not None:
                return found
        return None

    def result_of(self, name: str) -> str | None:
        """The class of what a function returns, where the tables know it."""
        self._load()
        return self._returns.get(name) or self._returns.get(self.canonical(name))


KNOWLEDGE: Final = Knowledge()
