"""Shows code to a rule that is a libcst visitor.

libcst copies every node that it visits. Most rules ask for a few kinds of nodes, so their methods are called by a
walk that copies nothing; it takes a sixth of the time. libcst itself visits for rules with matcher decorators, methods
for attributes (`visit_Call_args`) or their own `on_visit`.
"""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import libcst
from libcst import metadata

from mcpcore_lint.codemods.piece import Piece, children

if TYPE_CHECKING:
    from mcpcore_lint.codemods.rule import CstRule, Visit

FUNCTIONS: Final = (libcst.FunctionDef, libcst.Lambda)
NAMES: Final = frozenset({metadata.ScopeProvider, metadata.QualifiedNameProvider})
"""Providers that need to see what a file imports."""


class Visitor(libcst.CSTVisitor):
    """A rule while it visits: its metadata is that of the piece, computed on first use."""

    _PLACES = (metadata.PositionProvider, metadata.WhitespaceInclusivePositionProvider, metadata.ParentNodeProvider)
    METADATA_DEPENDENCIES: Collection[metadata.ProviderT] = _PLACES  # type: ignore[misc]
    _visiting: Visit

    def get_metadata(self, key: Any, node: libcst.CSTNode, *default: Any, **named: Any) -> Any:
        """The metadata of a node; positions are those in the file."""
        piece = self._visiting.piece
        if key not in self.metadata and key in self.get_inherited_dependencies():
            self.metadata = {**self.metadata, key: piece.metadata(key)}
        value = super().get_metadata(key, node, *default, **named)
        if not isinstance(value, metadata.CodeRange):
            return value
        span = piece.span_of(value)
        return metadata.CodeRange((span.line, span.column - 1), (span.end_line, span.end_column - 1))


@cache
def visiting_class(rule: type[CstRule]) -> type[Any]:
    """The class of a rule combined with libcst's visitor."""
    base: type = Visitor
    if any(map(_is_decorated, _own_methods(rule).values())):
        from libcst.matchers import MatcherDecoratableVisitor

        base = type("Matching", (Visitor, MatcherDecoratableVisitor), {})
    return type(rule.__name__, (rule, base), {"__module__": rule.__module__, "__qualname__": rule.__qualname__})


def visit(piece: Piece, roots: Iterable[libcst.CSTNode], rule: type[CstRule], visitor: Any) -> None:
    """Show some nodes of a piece to an instance of the visiting class of a rule.

    Raises:
        TypeError: If the rule has a method for a node that libcst does not have.
        Unreadable: If the code is nested too deeply.
    """
    names = _node_methods(rule)
    methods = {key: getattr(visitor, name) for key, name in (names or {}).items()}

    def walk(node: libcst.CSTNode, below: Iterable[libcst.CSTNode] | None = None) -> None:
        method = methods.get(("visit", type(node)))
        if method is None or method(node) is not False:
            for child in children(node) if below is None else below:
                walk(child)
        if method := methods.get(("leave", type(node))):
            method(node)

    try:
        if names is not None:
            walk(piece.tree, roots)
            return
        if visitor.on_visit(piece.tree) is not False:
            for root in roots:
                root.visit(visitor)
        visitor.on_leave(piece.tree)
    except RecursionError:
        raise piece.too_deep() from None


def _own_methods(rule: type[CstRule]) -> dict[str, Any]:
    """The methods of a rule that its author wrote."""
    methods: dict[str, Any] = {}
    for base in reversed(rule.__mro__):
        if base.__module__.partition(".")[0] not in {"libcst", "mcpcore_lint"}:
            methods.update((name, value) for name, value in vars(base).items() if isinstance(value, types.FunctionType))
    return methods


def _is_decorated(method: Any) -> bool:
    """Whether a method has attributes, as matcher decorators set."""
    return bool(vars(method).keys() - {"__wrapped__"})


@cache
def _node_methods(rule: type[CstRule]) -> dict[tuple[str, type[libcst.CSTNode]], str] | None:
    """The names of the methods for kinds of nodes, by "visit" or "leave" and the kind; None if libcst has to visit.

    Raises:
        TypeError: If a method is for a node that libcst does not have.
    """
    methods: dict[tuple[str, type[libcst.CSTNode]], str] | None = {}
    for name, method in _own_methods(rule).items():
        match = re.match(r"(visit|leave)_([A-Z][A-Za-z]*)(_?)", name)
        if _is_decorated(method) or match is None:
            methods = None if _is_decorated(method) or name in {"on_visit", "on_leave"} else methods
            continue
        kind = getattr(libcst, match[2], None)
        if not isinstance(kind, type) or not issubclass(kind, libcst.CSTNode):
            near = difflib.get_close_matches(match[2], dir(libcst), n=1)
            hint = f": did you mean {match[1]}_{near[0]}?" if near else ""
            raise TypeError(f"{rule.__name__}.{name} would never be called, since libcst has no {match[2]}{hint}")
        if match[3]:
            methods = None
        elif methods is not None:
            methods[match[1], kind] = name
    return methods
