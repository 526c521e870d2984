"""Shows a piece of code to the rules that are libcst visitors.

libcst copies every node that it visits and looks up a method by name for each. Most rules ask for a few kinds of nodes,
so they share one walk that copies nothing and calls their methods directly, several times faster. libcst itself visits
for rules with matcher decorators, methods for attributes (`visit_Call_args`) or their own `on_visit`.
"""

from __future__ import annotations

import difflib
import types
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import libcst
from libcst.metadata import (
    ByteSpanPositionProvider,
    CodePosition,
    CodeRange,
    CodeSpan,
    ParentNodeProvider,
    PositionProvider,
    WhitespaceInclusivePositionProvider,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from libcst.metadata import ProviderT

    from mcpcore_lint.codemods.rule import CstRule, Look
    from mcpcore_lint.codemods.visited import VisitedPiece


# ---------------------------------------------------------------------------------------------------------------------
# The visiting instance of a rule.
# ---------------------------------------------------------------------------------------------------------------------


class Live(libcst.CSTVisitor):
    """A rule while it visits: its metadata is that of the piece, computed on first use."""

    METADATA_DEPENDENCIES: Collection[ProviderT] = (  # type: ignore[misc]
        PositionProvider,
        WhitespaceInclusivePositionProvider,
        ByteSpanPositionProvider,
        ParentNodeProvider,
    )
    _look: Look

    def get_metadata(self, key: Any, node: libcst.CSTNode, *default: Any, **named: Any) -> Any:
        """The metadata of a node; positions are those in the file."""
        piece = self._look.piece
        if key not in self.metadata and key in self.get_inherited_dependencies():
            self.metadata = {**self.metadata, key: piece.metadata(key)}
        value = super().get_metadata(key, node, *default, **named)
        if isinstance(value, CodeRange):
            return CodeRange(_moved(piece, value.start), _moved(piece, value.end))
        if isinstance(value, CodeSpan):
            # libcst counts the bytes of the text in UTF-8.
            before = len(piece.module.source.text[: piece.start].encode()) - len(piece.lead.encode())
            return CodeSpan(value.start + before, value.length)
        return value


def _moved(piece: VisitedPiece, position: CodePosition) -> CodePosition:
    return CodePosition(position.line + piece.lines, position.column)


@cache
def visiting_class(kind: type[CstRule]) -> type[Any]:
    """The class of a rule combined with libcst's visitor.

    Raises:
        TypeError: If it has a method for a node that libcst does not have.
    """
    _check_names(kind)
    same = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind, _visitor(decorated=any(map(_is_decorated, _own_methods(kind).values())))), same)


@cache
def _visitor(*, decorated: bool) -> type[Any]:
    import sys

    if not decorated and "libcst.matchers" not in sys.modules:
        return Live  # loading matchers takes 0.15 s, and the rules loaded so far do not use them
    from libcst import matchers

    if decorated:
        return type("Matching", (Live, matchers.MatcherDecoratableVisitor), {})

    class Asking(Live):
        """A visitor with the matcher methods of `MatcherDecoratableVisitor`."""

        def matches(self, node: Any, matcher: Any) -> bool:
            return matchers.matches(node, matcher, metadata_resolver=self)

        def findall(self, tree: Any, matcher: Any) -> Sequence[libcst.CSTNode]:
            return matchers.findall(tree, matcher, metadata_resolver=self)

        def extract(self, node: Any, matcher: Any) -> Any:
            return matchers.extract(node, matcher, metadata_resolver=self)

        def extractall(self, tree: Any, matcher: Any) -> Any:
            return matchers.extractall(tree, matcher, metadata_resolver=self)

        def replace(self, tree: Any, matcher: Any, replacement: Any) -> Any:
            return matchers.replace(tree, matcher, replacement, metadata_resolver=self)

    return Asking


def _own_methods(kind: type[CstRule]) -> dict[str, Callable[..., object]]:
    """The methods of a rule that its author wrote."""
    methods: dict[str, Callable[..., object]] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] not in {"libcst", "mcpcore_lint"}:
            methods.update((name, value) for name, value in vars(base).items() if isinstance(value, types.FunctionType))
    return methods


def _is_decorated(method: Callable[..., object]) -> bool:
    """Whether a method has attributes, as matcher decorators set."""
    return bool(vars(method).keys() - {"__wrapped__"})


def _parts(name: str) -> tuple[str, str, str] | None:
    """The parts of the name of a visiting method: the verb, the kind of node and the attribute, if any."""
    verb, _, rest = name.partition("_")
    if verb not in {"visit", "leave"} or not rest[:1].isupper():
        return None
    node, _, attribute = rest.partition("_")
    return verb, node, attribute


def _node_class(name: str) -> type[libcst.CSTNode] | None:
    value = getattr(libcst, name, None)
    return value if isinstance(value, type) and issubclass(value, libcst.CSTNode) else None


def _check_names(kind: type[CstRule]) -> None:
    for name, method in _own_methods(kind).items():
        parts = _parts(name)
        if parts is None or _is_decorated(method) or _node_class(parts[1]) is not None:
            continue
        near = difflib.get_close_matches(parts[1], [name for name in dir(libcst) if _node_class(name)], n=1)
        hint = f": did you mean {parts[0]}_{near[0]}?" if near else ""
        raise TypeError(f"{kind.__name__}.{name} would never be called, since libcst has no {parts[1]}{hint}")


@cache
def needs_libcst(kind: type[CstRule]) -> bool:
    """Whether libcst itself has to visit for a rule."""
    methods = _own_methods(kind)
    return any(
        _is_decorated(method) or name.startswith(("on_visit", "on_leave")) or bool((_parts(name) or ("", "", ""))[2])
        for name, method in methods.items()
    )


# ---------------------------------------------------------------------------------------------------------------------
# The walk.
# ---------------------------------------------------------------------------------------------------------------------


class Visit:
    """One rule on one piece: its instance, the node that it skips, and its error."""

    __slots__ = ("error", "skipping", "visitor")

    def __init__(self, visitor: Any) -> None:
        self.visitor = visitor
        self.skipping: libcst.CSTNode | None = None
        self.error: Exception | None = None

    @property
    def idle(self) -> bool:
        """Whether the rule does not look at the current node."""
        return self.error is not None or self.skipping is not None

    def call(self, method: Callable[[Any], object], node: libcst.CSTNode) -> object:
        """Call a method; after an exception the rule does no more."""
        try:
            return method(node)
        except Exception as error:  # noqa: BLE001 - the crash of one rule must not stop the others
            self.error = error
            return None


def walk(piece: VisitedPiece, visits: Sequence[Visit]) -> None:
    """Show a piece to rules."""
    together: list[Visit] = []
    for visit in visits:
        kind = type(visit.visitor).__mro__[1]
        if needs_libcst(kind):
            _visit_by_libcst(piece, visit)
        else:
            together.append(visit)
    if together:
        _visit_together(piece, together)


def _visit_by_libcst(piece: VisitedPiece, visit: Visit) -> None:
    def visit_all(tree: libcst.Module) -> None:
        if visit.visitor.on_visit(tree) is not False:
            for root in piece.roots:
                root.visit(visit.visitor)
        visit.visitor.on_leave(tree)

    visit.call(visit_all, piece.tree)
    if isinstance(visit.error, RecursionError):
        visit.error = piece.too_deep()


_ATTRIBUTES: Final[dict[type[libcst.CSTNode], tuple[str, ...]]] = {}


def attributes(node: libcst.CSTNode) -> tuple[str, ...]:
    """The attributes of a kind of node that hold nodes, in the order in which libcst visits them."""
    names = _ATTRIBUTES.get(type(node))
    if names is None:
        collected: list[str] = []
        parent = node

        class Collecting(libcst.CSTVisitor):
            """Collects the attributes of one node."""

            def on_visit(self, node: libcst.CSTNode) -> bool:
                return node is parent

            def on_visit_attribute(self, node: libcst.CSTNode, attribute: str) -> None:
                if node is parent:
                    collected.append(attribute)

        node.visit(Collecting())
        names = _ATTRIBUTES[type(node)] = tuple(collected)
    return names


def _visit_together(piece: VisitedPiece, visits: Sequence[Visit]) -> None:
    methods: dict[tuple[str, type], list[tuple[Visit, Callable[[Any], object]]]] = {}
    for visit in visits:
        for name in _own_methods(type(visit.visitor).__mro__[1]):
            if (parts := _parts(name)) is not None and (kind := _node_class(parts[1])) is not None:
                methods.setdefault((parts[0], kind), []).append((visit, getattr(visit.visitor, name)))
    kinds = {kind for _, kind in methods}
    # A node is pushed a second time, in a tuple, to be left after all that is inside it.
    stack: list[Any] = [piece.tree]
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            for visit in visits:
                if visit.skipping is node[0]:
                    visit.skipping = None
            for visit, method in methods.get(("leave", type(node[0])), ()):
                if not visit.idle:
                    visit.call(method, node[0])
            continue
        if type(node) in kinds:
            stack.append((node,))
            for visit, method in methods.get(("visit", type(node)), ()):
                if not visit.idle and visit.call(method, node) is False:
                    visit.skipping = node
            if all(visit.idle for visit in visits):
                continue
        if node is piece.tree:
            stack.extend(reversed(piece.roots))
            continue
        inner: list[libcst.CSTNode] = []
        for name in _ATTRIBUTES.get(type(node)) or attributes(node):
            value = getattr(node, name)
            if isinstance(value, libcst.CSTNode):
                inner.append(value)
            elif isinstance(value, (tuple, list)):
                inner += value
        stack.extend(reversed(inner))
