"""Fallback tools that a contract names and its server does not have.

An agent that reads `try search_articles` calls that tool. If no such tool exists, the agent fails a second time, so a
server checks the names once all of its tools are registered.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.contract.failure_modes import ContractError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from mcpcore.contract.failure_modes import FailureMode
    from mcpcore.wire.envelope import Envelope

_LOGGER: Final = logging.getLogger("mcpcore")


class Fallback(NamedTuple):
    """A fallback tool, and the entry of a contract that names it."""

    noun: str
    """What has the contract: a "tool", a "resource" or a "prompt"."""

    name: str
    """The name or the URI of what has the contract."""

    reason: str
    tool: str


def fallbacks_in(noun: str, name: str, contract: Iterable[FailureMode[Any]]) -> Iterator[Fallback]:
    """The fallback tools in `contract`, which belongs to the `noun` called `name`."""
    for entry in contract:
        if entry.fallback_tool is not None:
            yield Fallback(noun, name, entry.reason, entry.fallback_tool)


def external_names(owner: str, names: Iterable[str]) -> frozenset[str]:
    """The tools of other servers, as the option `external_tools` of `owner` names them.

    Raises:
        TypeError: If `names` is a string, or holds anything but strings.
    """
    if isinstance(names, str):
        raise TypeError(f"{owner}(external_tools=...) takes a list of names, not a str; write [{names!r}]")
    if not isinstance(names, Iterable):
        raise TypeError(f"{owner}(external_tools=...) takes a list of names, not {type(names).__name__}")
    tools = list(names)
    for tool in tools:
        if not isinstance(tool, str):
            raise TypeError(
                f"{owner}(external_tools=...) takes the names of tools, each a str, not {type(tool).__name__}"
            )
    return frozenset(tools)


class FallbackCheck:
    """Checks the fallback tools of one server, and reports each wrong entry once."""

    def __init__(self, server: str, owner: str, external: frozenset[str]) -> None:
        """Check for `server`; `owner` is the class whose option `external_tools` names the tools in `external`."""
        self._server = server
        self._owner = owner
        self._external = external
        self._reported: set[Fallback] = set()

    def unknown(self, fallbacks: Iterable[Fallback], known: Collection[str]) -> list[Fallback]:
        """The entries in `fallbacks` whose tool is neither among the `known` tools nor external."""
        return [entry for entry in fallbacks if entry.tool not in known and entry.tool not in self._external]

    def report(self, unknown: Iterable[Fallback], known: Collection[str], *, strict: bool) -> None:
        """Log a warning for each entry in `unknown` that was not reported before.

        Raises:
            ContractError: If there are any and `strict` is true; the message names all of them.
        """
        entries = list(dict.fromkeys(unknown))
        if entries and strict:
            first, *others = (self._problem(entry, known) for entry in entries)
            raise ContractError(" ".join([first, *(f"U{other[1:]}" for other in others), self._hint]))
        for entry in entries:
            if entry not in self._reported:
                self._reported.add(entry)
                _LOGGER.warning("%s %s", self._problem(entry, known), self._hint)

    @property
    def _hint(self) -> str:
        return f"If another server has it, add it to {self._owner}(external_tools=[...])"

    def _problem(self, entry: Fallback, known: Collection[str]) -> str:
        near = nearest(entry.tool, [name for name in known if name != entry.name])
        meant = f"; did you mean {near!r}?" if near is not None else "."
        return (
            f"unknown fallback tool {entry.tool!r}: the failure {entry.reason!r} of the {entry.noun} {entry.name!r} "
            f"names it, and the server {self._server!r} has no such tool{meant}"
        )


def with_tool_names(envelope: Envelope, rename: Callable[[str], str]) -> Envelope:
    """`envelope` with the tools that its recovery names renamed by `rename`, as the fallback tool and in its texts."""
    recovery = envelope.recovery
    if recovery is None:
        return envelope
    tool, renamed = envelope.fallback_tool, dict(recovery)
    if tool is not None:
        renamed["fallbackTool"] = rename(tool)
    if isinstance(hint := recovery.get("hint"), str):
        renamed["hint"] = with_renamed_words(hint, rename, tool)
    if isinstance(actions := recovery.get("actions"), list):
        renamed["actions"] = [with_renamed_words(str(action), rename, tool) for action in actions]
    return envelope if renamed == recovery else replace(envelope, data={**(envelope.data or {}), "recovery": renamed})


def with_renamed_words(text: str, rename: Callable[[str], str], fallback: str | None = None) -> str:
    """`text`, in which each word that is the name of a tool is renamed by `rename`; `fallback` is such a name.

    A name that could be an ordinary word, such as `search`, counts only in quotation marks or before a
    parenthesis; if it is the fallback tool, also after a verb such as "call".
    """

    def replaced(match: re.Match[str]) -> str:
        word = match[0].rstrip(".-")
        before, after = text[match.start() - 1 : match.start()], text[match.start() + len(word) :][:1]
        is_quoted = before in _QUOTES and before == after
        is_called = word == fallback and _CALLS.search(text, 0, match.start()) is not None
        if not (is_called or is_quoted or after == "(" or _IS_NAME.search(word)):
            return match[0]
        return rename(word) + match[0][len(word) :]

    return _WORD.sub(replaced, text)


_WORD: Final = re.compile(r"(?<![\w./{-])\w[\w.-]*(?![\w/}])")
_IS_NAME: Final = re.compile(r"[_0-9.-]|[a-z][A-Z]")
_CALLS: Final = re.compile(r"\b(?:call|calling|invoke|run|try|use|using|with) (?:the )?(?:tool )?$", re.IGNORECASE)
_QUOTES: Final = frozenset("`'\"")


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known tool that `name` was probably meant to be: the same name under a namespace, or a similar one."""
    for other in known:
        if other.endswith((f"_{name}", f".{name}", f"/{name}")):
            return other
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return close[0] if close else None
