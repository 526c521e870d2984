"""The class hierarchy of exceptions: builtins, frameworks, third parties and the project's own classes."""

import ast
import builtins
from collections.abc import Mapping
from typing import Final

from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.semantics.symbols import class_info
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.model import Symbol
from mcpcore_lint.names import canonical

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
        self._bases: dict[str, tuple[str, ...]] = {**FRAMEWORK_BASES, **(extra or {})}
        self._direct: dict[str, tuple[tuple[tuple[str, Symbol | None], ...], bool]] = {}
        self._ancestors: dict[str, tuple[frozenset[str], bool]] = {}

    def ancestors(self, name: str, symbol: Symbol | None = None) -> tuple[frozenset[str], bool]:
        """The class and all its known base classes, and whether those are definitely all of them."""
        known = self._ancestors.get(name)
        if known is not None:
            return known
        names: set[str] = set()
        complete = True
        above: set[str] = set()
        # Without recursion, since a chain of classes may be longer than Python's stack.
        stack: list[tuple[str, Symbol | None, bool]] = [(name, symbol, False)]
        while stack:
            current, symbol, is_done = stack.pop()
            if is_done:
                above.discard(current)
            elif current in names:
                complete = complete and current not in above  # else a class that inherits from itself
            elif builtin := _builtin_ancestors(current):
                names.update(builtin)
            else:
                names.add(current)
                above.add(current)
                bases, is_known = self._direct.get(current) or self._read(current, symbol)
                complete = complete and is_known
                stack.append((current, None, True))
                stack += ((base, resolved, False) for base, resolved in bases)
        return self._ancestors.setdefault(name, (frozenset(names), complete))

    def _read(self, name: str, symbol: Symbol | None) -> tuple[tuple[tuple[str, Symbol | None], ...], bool]:
        """The direct bases of a class that are known, and whether those are all of them."""
        info = class_info(symbol) if symbol is not None else self._project.class_named(name)
        bases: list[tuple[str, Symbol | None]] = [(base, None) for base in self._bases.get(name, ())]
        is_known = info is not None or name in self._bases
        if info is not None:
            bases_written = (base.value if isinstance(base, ast.Subscript) else base for base in info.node.bases)
            values = [Resolver().expression(base, info.scope) for base in bases_written]
            symbols = [value for value in values if isinstance(value, Symbol)]
            is_known = len(symbols) == len(values)
            bases = [(base.name, base if base.module else None) for base in symbols]
        self._direct[name] = tuple(bases), is_known
        return self._direct[name]

    def is_kind_of(self, name: str, base: str) -> bool | None:
        """Whether a class is `base` or a subclass of it; None if that is unknown."""
        if base in {name, "builtins.BaseException"}:
            return True
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
        return True if "builtins.BaseException" in above else False if complete else None
