"""One labelled failure: how to raise it, and what a careful engineer says that it is."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers
    from mcpcore.codes import ErrorCode


@dataclass(frozen=True)
class Case:
    """A failure and its label; `bug` where it is a mistake in the program, for which no caller may be blamed."""

    name: str
    label: ErrorCode
    make: Callable[[Peers], Any]
    library: str = ""
    bug: bool = False
    held_back: bool = False

    @property
    def installed(self) -> bool:
        try:
            return not self.library or importlib.util.find_spec(self.library) is not None
        except ModuleNotFoundError:
            return False

    def capture(self, peers: Peers) -> BaseException:
        """Make it happen, and catch it.

        Raises:
            AssertionError: If nothing is raised.
        """
        try:
            result = self.make(peers)
            if inspect.isawaitable(result):

                async def run() -> None:
                    await result

                asyncio.run(run())
        except BaseException as failure:
            return failure
        raise AssertionError(f"{self.name} raised nothing")


class Cases(list[Case]):
    """A list that cases are added to in one line each."""

    def __init__(self, *, held_back: bool = False) -> None:
        super().__init__()
        self._held_back = held_back

    def add(
        self, label: ErrorCode, name: str, make: Callable[[Peers], Any], library: str = "", *, bug: bool = False
    ) -> None:
        self.append(Case(f"{library or 'python'}: {name}", label, make, library, bug, self._held_back))
