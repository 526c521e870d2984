"""The class hierarchy of exceptions: builtins, frameworks, third parties and the project's own classes."""

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
    return tuple(canonical(f"builtins.{ancestor.__name__}") for ancestor in value.__mro__)


class Hierarchy:
    """The hierarchy of exceptions in one project. Results are cached."""

    def __init__(self, project: Project, extra: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._project = project
        self._bases: dict[str, tuple[str, ...]] = {**KNOWLEDGE.exceptions, **FRAMEWORK_BASES, **(extra or {})}
        self._ancestors: dict[str, tuple[frozenset[str], bool]] = {}

    def ancestors(self, name: str, symbol: Symbol | None = None) -> tuple[frozenset[str], bool]:
        """The class and all its known base classes, and whether those are definitely all of them."""
        known = self._ancestors.get(name)
        if known is None:
            alias, name = name, KNOWLEDGE.canonical(name)
            self._ancestors[name] = (frozenset({name}), False)
            known = self._compute(name, symbol)
            self._ancestors[name] = known
            self._ancestors[alias] = known
        return known

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
        names = {name}
        complete = True
        for base in bases:
            above, all_known = self.ancestors(base)
            names |= above
            complete = complete and all_known
        return frozenset(names), complete

    def _of_class(self, name: str, info: ClassInfo) -> tuple[frozenset[str], bool]:
        names = {name}
        complete = True
        for base in info.node.bases:
            value = Resolver().expression(base, info.scope)
            if isinstance(value, Symbol):
                above, all_known = self.ancestors(value.name, value)
                names |= above
                complete = complete and all_known
            else:
                complete = False
        return frozenset(names), complete

    def is_kind_of(self, name: str, base: str) -> bool | None:
        """Whether a class is `base` or a subclass of it; None if that is unknown."""
        if base in {name, "builtins.BaseException"}:
            return True
        base = KNOWLEDGE.canonical(base)
        above, complete = self.ancestors(name)
        if base in above:
            return True
        if base == "builtins.Exception" and not complete and not above & {"builtins.KeyboardInterrupt"}:
            # Almost all exceptions that do not derive from Exception are builtins, so assume that an unknown one does.
            return True
        return False if complete else None

    def is_exception(self, name: str) -> bool | None:
        """Whether a class is an exception; None if that is unknown."""
        above, complete = self.ancestors(name)
        if "builtins.BaseException" in above:
            return True
        return False if complete else None
