"""Fallback tools that a contract names and its server does not have.

An agent that reads `try search_articles` calls that tool. If no such tool exists, the agent fails a second time, so a
server checks the names once all of its tools are registered.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from mcpcore.contract.effects import CallState, ToolEffects, default_effects
from mcpcore.contract.failure_modes import ContractError, FailureMode
from mcpcore.values.json_schema import properties, required_names
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import Envelope


class Fallback(NamedTuple):
    """A fallback tool, and the entry of a contract that names it."""

    noun: str
    """What has the contract: a "tool", a "resource" or a "prompt"."""

    name: str
    """The name or the URI of what has the contract."""

    reason: str
    tool: str
    misfit: str | None = None
    """Why the tool cannot be called as the entry declares, though it exists; None if it can be."""


def fallbacks_in(
    noun: str, name: str, contract: Iterable[FailureMode[Any]], tools: Mapping[str, Any], own: Any = None
) -> Iterator[Fallback]:
    """The fallback tools in `contract`, which belongs to the `noun` called `name`.

    `tools` are those that are known already, and `own` is the tool that has the contract.
    """
    for entry in contract:
        if entry.fallback_tool is not None:
            tool = tools.get(entry.fallback_tool)
            misfit = None if tool is None else misfit_of(entry, tool, own)
            yield Fallback(noun, name, entry.reason, entry.fallback_tool, misfit)


def misfit_of(entry: FailureMode[Any], tool: Any, own: Any = None) -> str | None:
    """Why `tool` cannot be called with the `fallback_arguments` of `entry`, as the end of a sentence; None if it can.

    Args:
        entry: An entry that names the tool.
        tool: The tool as a server has it or lists it, or a `ListedTool`.
        own: The tool that has the contract, which may have failed after a change; None for resources and prompts.
    """
    arguments = entry.fallback_arguments
    if arguments is None:
        return None
    # A tool that a client listed has `input_schema`; the servers' own tools have `parameters`.
    schema = getattr(tool, "input_schema", None) or getattr(tool, "parameters", {})
    takes = quietly(lambda: properties(schema, schema), dict[str, Any]())
    # The SDK's own tools leave the keyword out and ignore arguments that they do not know, so such a name is a mistake.
    is_open = schema.get("additionalProperties", False) is not False
    for name in () if is_open else arguments:
        if name not in takes:
            return f"it takes no argument {name!r}"
    for name in required_names(schema):
        if name not in arguments:
            return f"it requires the argument {name!r}"
    if own is None or _effects_of(tool) == "none" or entry.settled(CallState(_effects_of(own)))[0] == "none":
        return None
    return "the failed call may have changed something, and the tool is not read-only"


def _effects_of(tool: Any) -> ToolEffects:
    return getattr(tool, "effects", None) or default_effects(getattr(tool, "annotations", None))


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
        """The entries in `fallbacks` whose tool is neither among the `known` tools nor external, or does not fit."""
        names = self._external.union(known)
        return [entry for entry in fallbacks if entry.tool not in names or entry.misfit is not None]

    def report(self, unknown: Iterable[Fallback], known: Collection[str], *, strict: bool) -> None:
        """Log a warning for each entry in `unknown` that was not reported before.

        Raises:
            ContractError: If there are any and `strict` is true; the message names all of them.
        """
        entries = list(dict.fromkeys(unknown))
        if entries and strict:
            first, *others = (self._problem(entry, known) for entry in entries)
            problems = [first, *(f"{other[0].upper()}{other[1:]}" for other in others)]
            raise ContractError(" ".join(problems) + self._hint(entries))
        for entry in entries:
            if entry not in self._reported:
                self._reported.add(entry)
                LOGGER.warning("%s%s", self._problem(entry, known), self._hint([entry]))

    def _hint(self, entries: list[Fallback]) -> str:
        is_unknown = any(entry.misfit is None for entry in entries)
        return f" If another server has it, add it to {self._owner}(external_tools=[...])" if is_unknown else ""

    def _problem(self, entry: Fallback, known: Collection[str]) -> str:
        if entry.misfit is not None:
            return (
                f"the fallback_arguments of the failure {entry.reason!r} of the {entry.noun} {entry.name!r} do not fit "
                f"the tool {entry.tool!r} of the server {self._server!r}: {entry.misfit}."
            )
        # No tool is meant as its own fallback.
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
        # At the start of the text, the first slice is [-1:0], which is empty.
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
