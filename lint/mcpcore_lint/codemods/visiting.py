"""Shows code to a rule that is a libcst visitor.

libcst copies every node that it visits. Most rules ask for a few kinds of nodes, so their methods are called by a
walk that copies nothing; it takes a sixth of the time. libcst itself visits for rules with matcher decorators, methods
for attributes (`visit_Call_args`) or their own `on_visit`.
"""

from __future__ import annotations

import difflib
import re
import types
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import libcst
from libcst.metadata import CodeRange, ParentNodeProvider, PositionProvider, WhitespaceInclusivePositionProvider

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from libcst.metadata import ProviderT

    from mcpcore_lint.codemods.piece import Piece
    from mcpcore_lint.codemods.rule import CstRule, Visit

_SCOPED = frozenset({"ScopeProvider", "QualifiedNameProvider", "FullyQualifiedNameProvider"})
"""Providers that need to see what a file imports."""


FUNCTIONS: Final = (libcst.FunctionDef, libcst.Lambda)


class Visitor(libcst.CSTVisitor):
    """A rule while it visits: its metadata is that of the piece, computed on first use."""

    METADATA_DEPENDENCIES: Collection[ProviderT] = (  # type: ignore[misc]
        PositionProvider,
        WhitespaceInclusivePositionProvider,
        ParentNodeProvider,
    )
    _visiting: Visit

    def get_metadata(self, key: Any, node: libcst.CSTNode, *default: Any, **named: Any) -> Any:
        """The metadata of a node; positions are those in the file."""
        piece = self._visiting.piece
        if key not in self.metadata and key in self.get_inherited_dependencies():
            self.metadata = {**self.metadata, key: piece.metadata(key)}
        value = super().get_metadata(key, node, *default, **named)
        if not isinstance(value, CodeRange):
            return value
        span = piece.span_of(value)
        return CodeRange((span.line, span.column - 1), (span.end_line, span.end_column - 1))


@cache
def visiting_class(rule: type[CstRule]) -> type[Any]:
    """The class of a rule combined with libcst's visitor.

    Raises:
        TypeError: If it has a method for a node that libcst does not have.
    """
    base: type = Visitor
    if any(map(_is_decorated, _own_methods(rule).values())):
        from libcst.matchers import MatcherDecoratableVisitor

        base = type("Matching", (Visitor, MatcherDecoratableVisitor), {})
    _node_methods(rule)
    return type(rule.__name__, (rule, base), {"__module__": rule.__module__, "__qualname__": rule.__qualname__})


def sees_imports(visitor: type[Any]) -> bool:
    """Whether a rule asks for names, which depend on the imports of the file."""
    return any(provider.__name__ in _SCOPED for provider in visitor.get_inherited_dependencies())


def visit(piece: Piece, roots: Iterable[libcst.CSTNode], rule: type[CstRule], visitor: Any) -> None:
    """Show some nodes of a piece to an instance of the visiting class of a rule.

    Raises:
        Unreadable: If the code is nested too deeply.
    """
    methods = {key: getattr(visitor, name) for key, name in _node_methods(rule).items()}

    def walk(node: libcst.CSTNode) -> None:
        method = methods.get(("visit", type(node)))
        if method is None or method(node) is not False:
            for attribute in _ATTRIBUTES.get(type(node)) or _attributes(node):
                child = getattr(node, attribute)
                for each in child if isinstance(child, (list, tuple)) else (child,):
                    if hasattr(each, "visit"):  # a node; isinstance with an abstract class is slow
                        walk(each)
        if method := methods.get(("leave", type(node))):
            method(node)

    try:
        if _needs_libcst(rule):
            if visitor.on_visit(piece.tree) is not False:
                for root in roots:
                    root.visit(visitor)
            visitor.on_leave(piece.tree)
            return
        if (enter := methods.get(("visit", libcst.Module))) is None or enter(piece.tree) is not False:
            for root in roots:
                walk(root)
        if leave := methods.get(("leave", libcst.Module)):
            leave(piece.tree)
    except RecursionError:
        raise piece.too_deep() from None


_ATTRIBUTES: Final[dict[type[libcst.CSTNode], tuple[str, ...]]] = {}


def _attributes(node: libcst.CSTNode) -> tuple[str, ...]:
    """The attributes of a kind of node that hold nodes, in the order in which libcst visits them."""
    names: list[str] = []
    outer = node

    class Collecting(libcst.CSTVisitor):
        """Collects the attributes of one node."""

        def on_visit(self, node: libcst.CSTNode) -> bool:
            return node is outer

        def on_visit_attribute(self, node: libcst.CSTNode, attribute: str) -> None:
            if node is outer:
                names.append(attribute)

    node.visit(Collecting())
    return _ATTRIBUTES.setdefault(type(node), tuple(names))


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
def _needs_libcst(rule: type[CstRule]) -> bool:
    """Whether libcst itself has to visit for a rule."""
    return any(
        _is_decorated(method) or re.match(r"(?:visit|leave)_[A-Z][A-Za-z]*_|on_(?:visit|leave)", name)
        for name, method in _own_methods(rule).items()
    )


@cache
def _node_methods(rule: type[CstRule]) -> dict[tuple[str, type[libcst.CSTNode]], str]:
    """The names of the methods for kinds of nodes, by "visit" or "leave" and the kind.

    Raises:
        TypeError: If a method is for a node that libcst does not have.
    """
    methods: dict[tuple[str, type[libcst.CSTNode]], str] = {}
    for name, method in _own_methods(rule).items():
        match = re.match(r"(visit|leave)_([A-Z][A-Za-z]*)(_?)", name)
        if match is None or _is_decorated(method):
            continue
        kind = getattr(libcst, match[2], None)
        if not isinstance(kind, type) or not issubclass(kind, libcst.CSTNode):
            near = difflib.get_close_matches(match[2], dir(libcst), n=1)
            hint = f": did you mean {match[1]}_{near[0]}?" if near else ""
            raise TypeError(f"{rule.__name__}.{name} would never be called, since libcst has no {match[2]}{hint}")
        if not match[3]:
            methods[match[1], kind] = name
    return methods
