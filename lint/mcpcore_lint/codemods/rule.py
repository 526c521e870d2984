"""`CstRule`: a rule whose author writes a libcst visitor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

from mcpcore_lint.codemods import require_libcst
from mcpcore_lint.codemods.statements import Statements, Stretch, Unreadable, stretch_around
from mcpcore_lint.diagnostics import Fix, Related, Severity
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.prefilter import speaks_of_mcp
from mcpcore_lint.model import FunctionNode, Handler, ToolDef, Unknown, Value
from mcpcore_lint.rule import Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import libcst
    from libcst import CSTVisitor as _Visitor

    from mcpcore_lint.codemods.piece import Piece, Replacement
    from mcpcore_lint.engine.syntax.scopes import Scope
else:
    # At run time a rule becomes a visitor only before it visits: loading libcst takes longer than most runs.
    _Visitor = object

CstScope: TypeAlias = Literal["tool", "file"]


class Visit(NamedTuple):
    """The code that one instance of a rule visits."""

    piece: Piece
    module: Module
    context: RuleContext
    tool: ToolDef | None
    reported: set[object]
    """The findings in this file, since a handler inside another handler is visited twice."""


class CstRule(Rule, _Visitor):
    """A rule that is a libcst visitor: `visit_Call(self, node)`, `leave_With(...)`, `@m.visit(...)`, and `self.report`.

    A new instance visits each handler or file, so attributes of `self` belong to that handler or file. If `visit_...`
    returns False, the children of the node are not visited.
    """

    severity: ClassVar[Severity] = Severity.WARNING
    family: ClassVar[str] = "project"
    scope: ClassVar[CstScope] = "tool"
    """`"tool"`: the handlers of tools, resources and prompts, each with its decorators. `"file"`: whole files that
    concern MCP, which takes several times as long."""
    words: ClassVar[Sequence[str]] = ()
    """The rule only looks at code that contains one of these texts. Other code is not even parsed, which saves most of
    the time."""

    _visiting: Visit | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        require_libcst(f"the rule {cls.__name__}")
        if cls.scope not in {"tool", "file"}:
            raise TypeError(f"{cls.__name__}.scope is {cls.scope!r}: choose 'tool' or 'file'")
        if isinstance(cls.words, str):
            raise TypeError(f"{cls.__name__}.words is one text: write a tuple of texts, ({cls.words!r},)")
        if "fixable" not in vars(cls):
            cls.fixable = cls.fixable or any(case.fixed is not None for case in cls.invalid)

    # -- the visited code -----------------------------------------------------------------------------------------

    @property
    def _visit(self) -> Visit:
        if self._visiting is None:
            raise RuntimeError(f"{type(self).__name__} is not visiting anything: use this in a visit_ method")
        return self._visiting

    @property
    def ctx(self) -> RuleContext:
        """The context that every rule has: the settings, the file, the project."""
        return self._visit.context

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of this rule."""
        return self.ctx.options

    @property
    def file(self) -> Module:
        """The file of the visited code."""
        return self._visit.module

    @property
    def tool(self) -> ToolDef | None:
        """The tool whose handler is visited; None in a whole file."""
        return self._visit.tool

    @property
    def handler(self) -> Handler | None:
        """The handler that is visited; None in a whole file."""
        return None if self.tool is None else self.tool.handler

    def ast_node(self, node: libcst.CSTNode) -> ast.expr | None:
        """The `ast` node of the same expression, as in the model; None if the node is not an expression.

        Args:
            node: The node of libcst.
        """
        piece, module = self._visit.piece, self._visit.module
        (stretch,) = piece.stretches
        known: dict[tuple[int, int], ast.expr] = module.memo.setdefault(("expressions", stretch), {})
        if not known:
            position = module.source.position
            lines = range(position(stretch.start)[0], position(stretch.end)[0] + 1)
            nodes = (part for part in module.parents if isinstance(part, ast.expr) and part.lineno in lines)
            known.update((module.source.node_range(part), part) for part in nodes)
        return next((known[place] for place in piece.ranges(node) if place in known), None)

    def value_of(self, node: libcst.CSTNode) -> Value:
        """The value of an expression, with imports and names resolved, such as `Symbol("httpx.get")`.

        Args:
            node: The node of libcst.
        """
        from mcpcore_lint.engine.semantics.evaluate import evaluate

        expression = self.ast_node(node)
        if expression is None:
            return Unknown(None, self.file, "it is not an expression in the file")
        return evaluate(expression, _scope_of(expression, self.file))

    # -- findings ---------------------------------------------------------------------------------------------

    def report(
        self,
        node: libcst.CSTNode,
        message: str,
        *,
        help: str | None = None,  # noqa: A002
        replacement: Replacement | None = None,
        unsafe: bool = False,
        title: str | None = None,
        related: Iterable[Related] = (),
    ) -> None:
        """Report a finding.

        Args:
            node: The node that the finding is about, as the rule got it.
            message: One sentence without a full stop.
            help: The next step; the default is `how_to_fix`.
            replacement: The node that replaces it; `libcst.RemoveFromParent()` removes it.
            unsafe: Whether the replacement needs a review.
            title: A few words about the fix.
            related: Other places that the message mentions.

        Raises:
            ValueError: If the node is not part of the visited code.
        """
        visit = self._visit
        span = visit.piece.span(node)
        if (span, message) in visit.reported:
            return
        visit.reported.add((span, message))
        fix = None
        if replacement is not None:
            edit = visit.piece.edit([node], lambda old, new: replacement if old is node else new)
            fix = Fix(title or "Rewrite it", (edit,), "unsafe" if unsafe else "safe") if edit is not None else None
        step = " ".join((str(getattr(self, "how_to_fix", "")) if help is None else help).split())
        tool, module = visit.tool, visit.module
        visit.context.report(span, message, help=step, tool=tool, module=module, related=tuple(related), fix=fix)

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Visit the handlers of the file, or the whole file.

        Args:
            module: The file.
            ctx: Answers questions about the file.
        """
        problem: Unreadable | None = None
        reported: dict[Module, set[object]] = {}
        # Backwards, so that the first tool of a handler replaces the others.
        handlers = {tool.handler.node: tool for tool in reversed(ctx.tools)}
        tools: list[ToolDef | None] = [*reversed(handlers.values())]
        if self.scope == "file":
            text = module.source.text.encode("utf-8", "surrogatepass")
            tools = [None] if speaks_of_mcp(text, mentions=True) else []
        for tool in tools:
            where = module if tool is None else tool.handler.module
            try:
                piece = _piece(where, None if tool is None else tool.handler.node)
                self._look(Visit(piece, where, ctx, tool, reported.setdefault(where, set())))
            except Unreadable as error:
                problem = problem or error  # the other handlers may be readable
        if problem is not None:
            raise problem

    def _look(self, visit: Visit) -> None:
        """Visit one piece, with a new instance."""
        if self.words and not any(word in visit.piece.text for word in self.words):
            return
        from mcpcore_lint.codemods import visiting

        kind = visiting.visiting_class(type(self))
        roots = visit.piece.roots
        if visit.tool is not None and not visiting.NAMES.isdisjoint(kind.get_inherited_dependencies()):
            place = visit.module.source.node_range(visit.tool.handler.node)
            visit = visit._replace(piece=_piece(visit.module, None))
            roots = (visit.piece.find(*place, visiting.FUNCTIONS),)
        visitor = object.__new__(kind)
        visitor._visiting = visit  # there before the author's own __init__
        visitor.__init__()
        visiting.visit(visit.piece, roots, type(self), visitor)


@kept
def _piece(module: Module, handler: FunctionNode | None) -> Piece:
    """A handler, or the whole file; all rules share the piece, which is parsed once."""
    from mcpcore_lint.codemods.piece import Piece

    module.complete()
    source = module.source
    if handler is None:
        return Piece(source, [Stretch(0, len(source.text))])
    statements = module.once("statements", lambda: Statements(source, module.tree))
    return Piece(source, [stretch_around(source, statements, *source.node_range(handler))])


def _scope_of(node: ast.AST, module: Module) -> Scope:
    """The scope in which an expression is evaluated."""
    around = module.parents.get(node)
    while around is not None:
        if node not in getattr(around, "decorator_list", ()):
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return module.scope_of(around)
            if isinstance(around, ast.ClassDef):
                return module.classes[around].body_scope
        node, around = around, module.parents.get(around)
    return module.scope
