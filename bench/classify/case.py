"""One labelled failure: how to raise it, and the code that a careful engineer gives it."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.classify.raising import throw
from mcpcore.contract.codes import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers


@dataclass(frozen=True)
class Case:
    """A failure and its label; `bug` marks a mistake in the program, which must not be blamed on the caller."""

    name: str
    label: ErrorCode
    make: Callable[[Peers], Any]
    library: str = ""
    bug: bool = False

    @property
    def installed(self) -> bool:
        try:
            return not self.library or importlib.util.find_spec(self.library) is not None
        except ModuleNotFoundError:
            return False

    def capture(self, peers: Peers) -> BaseException:
        """Raise the exception and catch it.

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


def case(label: ErrorCode, name: str, make: Callable[[Peers], Any], library: str = "", *, bug: bool = False) -> Case:
    """A row of a table of cases."""
    return Case(f"{library or 'python'}: {name}", label, make, library, bug)


def bug(name: str, make: Callable[[Peers], Any], library: str = "") -> Case:
    """A mistake in the program."""
    return case(ErrorCode.INTERNAL_ERROR, name, make, library, bug=True)


def said(label: ErrorCode, kind: type[Exception], sentence: str = "", *rest: object) -> Case:
    """An exception that is raised with `sentence`, or without any argument where that is empty."""
    args = (sentence, *rest) if sentence else ()
    return case(label, f"{kind.__name__}: {sentence[:100]}", lambda _: throw(kind(*args)))
