"""Visiting: one walk over a piece for all rules, and what the visiting instance of a rule can do.

libcst makes every node anew while it visits, and looks up a method by name for each. Most rules want a few kinds of
nodes: those are found here by a walk that changes nothing and passes by white space that nobody asks for. Rules with
matcher decorators or methods for attributes are visited by libcst itself.
"""

from __future__ import annotations

import copy
import difflib
import types
from functools import cache, partial
from typing import TYPE_CHECKING, Any

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

    from mcpcore_lint.codemods.pieces import Piece
    from mcpcore_lint.codemods.rule import CstRule, Look


# ---------------------------------------------------------------------------------------------------------------------
# The visiting instance of a rule.
# ---------------------------------------------------------------------------------------------------------------------


class Live(libcst.CSTVisitor):
    """What a rule is while it visits: a visitor of libcst whose metadata is that of the piece, made when asked for."""

    METADATA_DEPENDENCIES: Collection[ProviderT] = (  # type: ignore[misc]
        PositionProvider,
        WhitespaceInclusivePositionProvider,
        ByteSpanPositionProvider,
        ParentNodeProvider,
    )
    _look: Look

    def get_metadata(self, key: Any, node: libcst.CSTNode, *default: Any, **named: Any) -> Any:
        """What a provider knows of a node; positions are those in the file."""
        piece = self._look.piece
        if key not in self.metadata and key in self.get_inherited_dependencies():
            self.metadata = {**self.metadata, key: piece.metadata(key)}
        return _moved(piece, super().get_metadata(key, node, *default, **named))


def _moved(piece: Piece, value: Any) -> Any:
    if isinstance(value, CodeRange):
        return CodeRange(_down(piece, value.start), _down(piece, value.end))
    if isinstance(value, CodeSpan):
        # Bytes of the UTF-8 text, as libcst counts them.
        before = len(piece.module.source.text[: piece.start].encode()) - len(piece.lead.encode())
        return CodeSpan(value.start + before, value.length)
    return value


def _down(piece: Piece, position: CodePosition) -> CodePosition:
    return CodePosition(position.line + piece.lines, position.column)


@cache
def visiting_class(kind: type[CstRule]) -> type[Any]:
    """A rule's class together with libcst's visitor: made once for each rule.

    Raises:
        TypeError: If it has a method for a node that libcst does not have.
    """
    _check_names(kind)
    same = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    if not any(_decorated(each) for each in _own_methods(kind).values()):
        return type(kind.__name__, (kind, _plain_base()), same)
    matching = _matching_base()
    made = type(kind.__name__, (kind, matching), same)
    # Gathering the decorated methods goes through every name of the class, several times: done once, and copied.
    template: Any = object.__new__(made)
    matching.gather(template)
    made.template = template  # type: ignore[attr-defined]
    return made


@cache
def _plain_base() -> type[Any]:
    import sys

    if "libcst.matchers" not in sys.modules:
        # Without it a rule has no matchers to ask about.
        return Live
    from libcst import matchers

    class Asking(Live):
        """A visitor that can ask about matchers, as `MatcherDecoratableVisitor` can."""

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


@cache
def _matching_base() -> type[Any]:
    from libcst.matchers import MatcherDecoratableVisitor

    class Matching(Live, MatcherDecoratableVisitor):
        """A visitor with matcher decorators."""

        template: Any = None

        def __init__(self) -> None:
            template = type(self).template
            # Methods are bound to the new instance, and matchers, which are known by their identity, stay.
            memo: dict[int, Any] = {id(template): self}
            for value in vars(template).values():
                if isinstance(value, dict):
                    memo.update((id(each), each) for each in value)
            vars(self).update(copy.deepcopy(vars(template), memo))

        @staticmethod
        def gather(template: Any) -> None:
            """Have libcst find the decorated methods."""
            MatcherDecoratableVisitor.__init__(template)
            # What `call_if_inside` needs is gathered when first asked for.
            getattr(template, "_matchers", None)

    return Matching


def _own_methods(kind: type[CstRule]) -> dict[str, Callable[..., object]]:
    """The methods of a rule that its author wrote."""
    from mcpcore_lint.codemods.rule import CstRule

    found: dict[str, Callable[..., object]] = {}
    for each in reversed(kind.__mro__):
        if each in CstRule.__mro__ or each.__module__.partition(".")[0] == "libcst":
            continue
        found.update((name, value) for name, value in vars(each).items() if isinstance(value, types.FunctionType))
    return found


def _decorated(method: Callable[..., object]) -> bool:
    """Whether something is noted on a function, as matcher decorators do."""
    return bool(vars(method).keys() - {"__wrapped__"})


def _visits(name: str) -> tuple[str, str, str] | None:
    """Of a method's name: what it does, for which node, and for which attribute, if any."""
    verb, _, rest = name.partition("_")
    if verb not in {"visit", "leave"} or not rest[:1].isupper():
        return None
    node, _, attribute = rest.partition("_")
    return verb, node, attribute


def _node_class(name: str) -> type[libcst.CSTNode] | None:
    found = getattr(libcst, name, None)
    return found if isinstance(found, type) and issubclass(found, libcst.CSTNode) else None


def _check_names(kind: type[CstRule]) -> None:
    for name, method in _own_methods(kind).items():
        parts = _visits(name)
        if parts is None or _decorated(method) or _node_class(parts[1]) is not None:
            continue
        names = [each for each in dir(libcst) if _node_class(each) is not None]
        near = difflib.get_close_matches(parts[1], names, n=1)
        hint = f": did you mean {parts[0]}_{near[0]}?" if near else ""
        raise TypeError(f"{kind.__name__}.{name} would never be called, since libcst has no {parts[1]}{hint}")


@cache
def wants_all(kind: type[CstRule]) -> bool:
    """Whether libcst itself has to visit for a rule: for methods for attributes, and what is for any node."""
    methods = _own_methods(kind)
    if any(name.startswith(("on_visit", "on_leave")) for name in methods):
        return True
    if any(_decorated(each) and _matched(each) is None for each in methods.values()):
        return True
    return any(parts[2] for name in methods if (parts := _visits(name)) is not None)


def _matched(method: Callable[..., object]) -> frozenset[type] | None:
    """The kinds of nodes that can match the decorators of a method; None where that may be any."""
    found: set[type] = set()
    stack: list[Any] = [each for value in vars(method).values() if isinstance(value, (list, tuple)) for each in value]
    if not stack:
        return None
    while stack:
        matcher = stack.pop()
        name = type(matcher).__name__
        node = _node_class(name)
        if node is not None:
            # A matcher has the name of the node that it is for.
            found.add(node)
        elif name in {"OneOf", "AllOf"}:
            stack.extend(matcher.options)
        else:
            return None
    return frozenset(found)


# ---------------------------------------------------------------------------------------------------------------------
# One rule on one piece.
# ---------------------------------------------------------------------------------------------------------------------


class Visit:
    """A rule at work on a piece: its instance, what it does not look into, and how it failed."""

    __slots__ = ("error", "skipping", "visitor")

    def __init__(self, visitor: Any) -> None:
        self.visitor = visitor
        self.skipping: libcst.CSTNode | None = None
        self.error: Exception | None = None

    @property
    def idle(self) -> bool:
        """Whether it does not look at what is visited now."""
        return self.error is not None or self.skipping is not None

    def call(self, method: Callable[[Any], object], node: libcst.CSTNode) -> object:
        """Call a method; what it raises is kept, and the rule does no more."""
        try:
            return method(node)
        except Exception as error:  # noqa: BLE001 - one rule's crash is its own, and the others go on
            self.error = error
            return None


def walk(piece: Piece, visits: Sequence[Visit]) -> None:
    """Show a piece to rules: all in one walk, but for those that only libcst can visit."""
    plain: list[Visit] = []
    full: list[Visit] = []
    for each in visits:
        (full if wants_all(type(each.visitor).__mro__[1]) else plain).append(each)
    if plain:
        _walk_plain(piece, plain)
    if full:
        _walk_full(piece, full)


# ---------------------------------------------------------------------------------------------------------------------
# Rules with methods for nodes.
# ---------------------------------------------------------------------------------------------------------------------


class _Leave:
    """Where the walk is done with a node."""

    __slots__ = ("node",)

    def __init__(self, node: libcst.CSTNode) -> None:
        self.node = node


_WHITE = (
    libcst.BaseParenthesizableWhitespace,
    libcst.TrailingWhitespace,
    libcst.EmptyLine,
    libcst.Newline,
    libcst.Comment,
)
_SIGNS = (
    *_WHITE,
    libcst.AssignEqual,
    libcst.BaseAugOp,
    libcst.BaseBinaryOp,
    libcst.BaseBooleanOp,
    libcst.BaseCompOp,
    libcst.BaseUnaryOp,
    libcst.BitOr,
    libcst.Colon,
    libcst.Comma,
    libcst.Dot,
    libcst.LeftCurlyBrace,
    libcst.LeftParen,
    libcst.LeftSquareBracket,
    libcst.RightCurlyBrace,
    libcst.RightParen,
    libcst.RightSquareBracket,
    libcst.Semicolon,
)

_ORDER: dict[type[libcst.CSTNode], tuple[str, ...]] = {}


def attributes(node: libcst.CSTNode) -> tuple[str, ...]:
    """The attributes of a kind of node that hold nodes, in the order in which libcst visits them."""
    found = _ORDER.get(type(node))
    if found is None:
        names: list[str] = []
        asked = node

        class Asking(libcst.CSTVisitor):
            """Notes the attributes of one node."""

            def on_visit(self, node: libcst.CSTNode) -> bool:
                return node is asked

            def on_visit_attribute(self, node: libcst.CSTNode, attribute: str) -> None:
                if node is asked:
                    names.append(attribute)

        node.visit(Asking())
        found = _ORDER[type(node)] = tuple(names)
    return found


@cache
def _signs() -> frozenset[type]:
    def below(kind: type[Any]) -> set[type]:
        subs: list[type[Any]] = type.__subclasses__(kind)
        return {kind, *(each for sub in subs for each in below(sub))}

    return frozenset(each for kind in _SIGNS for each in below(kind))


@cache
def _methods(kind: type[CstRule]) -> tuple[tuple[str, str, type], ...]:
    """The methods for nodes: visit or leave, the method's name, the kind of node."""
    found: list[tuple[str, str, type]] = []
    methods = _own_methods(kind)
    for name in methods:
        parts = _visits(name)
        node = _node_class(parts[1]) if parts is not None else None
        if parts is not None and node is not None:
            found.append((parts[0], name, node))
    if not any(_decorated(each) for each in methods.values()):
        return tuple(found)
    # Only nodes that can match change anything for a rule with matchers: for others libcst need not be asked.
    kinds = {node for _, _, node in found}
    for each in methods.values():
        if _decorated(each):
            kinds |= _matched(each) or frozenset()
    return tuple((verb, f"on_{verb}", node) for node in kinds for verb in ("visit", "leave"))


def _walk_plain(piece: Piece, visits: Sequence[Visit]) -> None:
    enter: dict[type, list[tuple[Visit, Callable[[Any], object]]]] = {}
    leave: dict[type, list[tuple[Visit, Callable[[Any], object]]]] = {}
    for each in visits:
        for verb, name, kind in _methods(type(each.visitor).__mro__[1]):
            table = enter if verb == "visit" else leave
            table.setdefault(kind, []).append((each, getattr(each.visitor, name)))
    wanted = enter.keys() | leave.keys()
    if not wanted:
        return
    passed: frozenset[type] = frozenset()
    if not any(issubclass(each, _WHITE) for each in wanted):
        # Signs hold nothing but white space, and most nodes are one or the other.
        passed = _signs() - wanted
    if not _enter(piece.tree, visits, enter):
        _leave(piece.tree, visits, leave)
        return
    stack: list[Any] = [*reversed(piece.roots)]
    order = _ORDER
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is _Leave:
            _leave(node.node, visits, leave)
            continue
        deeper = True
        if kind in enter:
            deeper = _enter(node, visits, enter)
            if kind in leave or any(each.skipping is node for each in visits):
                stack.append(_Leave(node))
        elif kind in leave:
            stack.append(_Leave(node))
        if not deeper:
            continue
        below: list[Any] = []
        for name in order.get(kind) or attributes(node):
            value = getattr(node, name)
            if value is None:
                continue
            if type(value) is tuple or type(value) is list:
                below.extend(each for each in value if type(each) not in passed)
            elif type(value) not in passed and isinstance(value, libcst.CSTNode):
                below.append(value)
        below.reverse()
        stack += below
    _leave(piece.tree, visits, leave)


def _enter(
    node: libcst.CSTNode,
    visits: Sequence[Visit],
    methods: dict[type, list[tuple[Visit, Callable[[Any], object]]]],
) -> bool:
    """Call the methods for a node that is come to; False where nobody looks into it."""
    for each, method in methods.get(type(node), ()):
        if not each.idle and each.call(method, node) is False:
            each.skipping = node
    return not all(each.idle for each in visits)


def _leave(
    node: libcst.CSTNode,
    visits: Sequence[Visit],
    methods: dict[type, list[tuple[Visit, Callable[[Any], object]]]],
) -> None:
    for each in visits:
        if each.skipping is node:
            each.skipping = None
    for each, method in methods.get(type(node), ()):
        if not each.idle:
            each.call(method, node)


# ---------------------------------------------------------------------------------------------------------------------
# Rules that libcst visits.
# ---------------------------------------------------------------------------------------------------------------------


def _told(method: Callable[[Any, str], object], attribute: str, node: libcst.CSTNode) -> object:
    return method(node, attribute)


class _Together(libcst.CSTVisitor):
    """Several visitors in one walk of libcst, each with its own way of not looking into a node."""

    def __init__(self, visits: Sequence[Visit]) -> None:
        super().__init__()
        self.visits = visits

    def on_visit(self, node: libcst.CSTNode) -> bool:
        for each in self.visits:
            if not each.idle and each.call(each.visitor.on_visit, node) is False:
                each.skipping = node
        return not all(each.idle for each in self.visits)

    def on_leave(self, original_node: libcst.CSTNode) -> None:
        for each in self.visits:
            if each.skipping is original_node:
                each.skipping = None
            if not each.idle:
                each.call(each.visitor.on_leave, original_node)

    def on_visit_attribute(self, node: libcst.CSTNode, attribute: str) -> None:
        for each in self.visits:
            if not each.idle:
                each.call(partial(_told, each.visitor.on_visit_attribute, attribute), node)

    def on_leave_attribute(self, original_node: libcst.CSTNode, attribute: str) -> None:
        for each in self.visits:
            if not each.idle:
                each.call(partial(_told, each.visitor.on_leave_attribute, attribute), original_node)


def _walk_full(piece: Piece, visits: Sequence[Visit]) -> None:
    together = _Together(visits)
    try:
        if together.on_visit(piece.tree):
            for root in piece.roots:
                root.visit(together)
        together.on_leave(piece.tree)
    except RecursionError as error:
        for each in visits:
            each.error = each.error or error
    for each in visits:
        # libcst visits by recursion: where that ends, so does what a rule can be called for.
        if isinstance(each.error, RecursionError):
            each.error = piece.too_deep()
