"""Which exception is a kind of which: builtins, the frameworks, the project's own classes, and the tables."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.names import canonical
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.knowledge import KNOWLEDGE
from mcpcore_lint.semantics.symbols import class_info

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore_lint.syntax.module import ClassInfo
    from mcpcore_lint.syntax.project import Project

FRAMEWORK_BASES: Final[dict[str, tuple[str, ...]]] = {
    "mcpcore.CodedError": ("builtins.Exception",),
    "mcp.MCPError": ("builtins.Exception",),
    "mcp.UrlElicitationRequiredError": ("mcp.MCPError",),
    "mcp.NoBackChannelError": ("mcp.MCPError",),
    "mcp.MCPServerError": ("builtins.Exception",),
    "mcp.ToolError": ("mcp.MCPServerError",),
    "mcp.ResourceError": ("mcp.MCPServerError",),
    "mcp.ResourceNotFoundError": ("mcp.ResourceError",),
    "fastmcp.FastMCPError": ("builtins.Exception",),
    "fastmcp.ToolError": ("fastmcp.FastMCPError",),
    "fastmcp.ResourceError": ("fastmcp.FastMCPError",),
    "fastmcp.PromptError": ("fastmcp.FastMCPError",),
    "fastmcp.ValidationError": ("fastmcp.FastMCPError",),
    "fastmcp.NotFoundError": ("builtins.Exception",),
    "asyncio.CancelledError": ("builtins.BaseException",),
}


def _builtin_ancestors(name: str) -> tuple[str, ...] | None:
    value = getattr(builtins, name.removeprefix("builtins."), None)
    if not name.startswith("builtins.") or not isinstance(value, type):
        return None
    return tuple(canonical(f"builtins.{each.__name__}") for each in value.__mro__)


class Hierarchy:
    """Answers for one project; what it was asked it remembers."""

    def __init__(self, project: Project, extra: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._project = project
        self._bases: dict[str, tuple[str, ...]] = {**KNOWLEDGE.exceptions, **FRAMEWORK_BASES, **(extra or {})}
        self._ancestors: dict[str, tuple[frozenset[str], bool]] = {}

    def ancestors(self, name: str, symbol: Symbol | None = None) -> tuple[frozenset[str], bool]:
        """Every class that `name` is a kind of, itself included, and whether that is all of them for certain."""
        found = self._ancestors.get(name)
        if found is None:
            given, name = name, KNOWLEDGE.canonical(name)
            self._ancestors[name] = (frozenset({name}), False)
            found = self._compute(name, symbol)
            self._ancestors[name] = found
            self._ancestors[given] = found
        return found

    def _compute(self, name: str, symbol: Symbol | None) -> tuple[frozenset[str], bool]:
        builtin = _builtin_ancestors(name)
        if builtin is not None:
            return frozenset(builtin), True
        info = class_info(symbol) if symbol is not None else self._project.class_named(name)
        if info is not None:
            return self._of_class(name, info)
        bases = self._bases.get(name)
        if bases is None:
            return frozenset({name}), False
        found = {name}
        complete = True
        for base in bases:
            above, all_known = self.ancestors(base)
            found |= above
            complete = complete and all_known
        return frozenset(found), complete

    def _of_class(self, name: str, info: ClassInfo) -> tuple[frozenset[str], bool]:
        found = {name}
        complete = True
        for base in info.node.bases:
            value = Resolver().expression(base, info.scope)
            if isinstance(value, Symbol):
                above, all_known = self.ancestors(value.name, value)
                found |= above
                complete = complete and all_known
            else:
                complete = False
        return frozenset(found), complete

    def is_kind_of(self, name: str, base: str) -> bool | None:
        """Whether one class is a kind of another; None where that cannot be known."""
        if base in {name, "builtins.BaseException"}:
            return True
        base = KNOWLEDGE.canonical(base)
        above, complete = self.ancestors(name)
        if base in above:
            return True
        if base == "builtins.Exception" and not complete and not above & {"builtins.KeyboardInterrupt"}:
            # An exception class that nobody can see is an Exception all the same: those that are not are builtin.
            return True
        return False if complete else None

    def is_exception(self, name: str) -> bool | None:
        """Whether a class is an exception at all."""
        above, complete = self.ancestors(name)
        if "builtins.BaseException" in above:
            return True
        return False if complete else None
