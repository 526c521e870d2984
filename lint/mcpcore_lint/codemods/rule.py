"""`CstRule`: a rule whose author writes a libcst visitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias
from weakref import WeakKeyDictionary

from mcpcore_lint.codemods.piece import Unreadable
from mcpcore_lint.codemods.visited import VisitedPiece, cut
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Fix, Related, Severity, Span
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.syntax.prefilter import speaks_of_mcp

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Mapping, Sequence

    import libcst
    from libcst.matchers import MatcherDecoratableVisitor as _Visitor
    from libcst.metadata import CodePosition, CodeRange

    from mcpcore_lint.codemods.splice import Replacement
    from mcpcore_lint.model import Handler, ToolDef, Value
    from mcpcore_lint.rule import Family
    from mcpcore_lint.runner.checker import FileState
    from mcpcore_lint.syntax.module import Module
else:
    # At run time a rule becomes a visitor only before it visits: loading libcst takes longer than most runs.
    _Visitor = object

CstScope: TypeAlias = Literal["tool", "file"]
_SCOPED = frozenset({"ScopeProvider", "QualifiedNameProvider", "FullyQualifiedNameProvider"})
"""Providers that need to see what a file imports."""


@light
class Finding:
    """A finding that is not reported yet."""

    span: Span
    message: str
    help: str
    related: tuple[Related, ...]
    fix: Fix | None
    tool: ToolDef | None
    module: Module


class Look:
    """The code that one instance of a rule visits, and its findings."""

    __slots__ = ("context", "findings", "piece")

    def __init__(self, piece: VisitedPiece, context: RuleContext) -> None:
        self.piece = piece
        self.context = context
        self.findings: list[Finding] = []


class CstRule(Rule, _Visitor):
    """A rule that is a libcst visitor: `visit_Call(self, node)`, `leave_With(...)`, `@m.visit(...)`, and `self.report`.

    A new instance visits each handler or file, so attributes of `self` belong to that handler or file. If `visit_...`
    returns False, the children of the node are not visited.
    """

    severity: ClassVar[Severity] = Severity.WARNING
    family: ClassVar[Family] = "project"
    scope: ClassVar[CstScope] = "tool"
    """`"tool"`: the handlers of tools, resources and prompts, each with its decorators. `"file"`: whole files that
    concern MCP, which takes several times as long."""
    words: ClassVar[Sequence[str]] = ()
    """The rule only looks at code that contains one of these texts. Other code is not even parsed, which saves most of
    the time."""

    _look: Look | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.scope not in {"tool", "file"}:
            raise TypeError(f"{cls.__name__}.scope is {cls.scope!r}: choose 'tool' or 'file'")
        if isinstance(cls.words, str):
            raise TypeError(f"{cls.__name__}.words is one text: write a tuple of texts, ({cls.words!r},)")
        if "VALID" in vars(cls) or "INVALID" in vars(cls):
            from mcpcore_lint.codemods.ported import adopt

            adopt(cls)
        if "fixable" not in vars(cls):
            cls.fixable = cls.fixable or any(each.fixed is not None for each in cls.invalid)

    # -- the visited code -----------------------------------------------------------------------------------------

    def _looking(self) -> Look:
        if self._look is None:
            raise RuntimeError(f"{type(self).__name__} is not visiting anything: use this in a visit_ method")
        return self._look

    @property
    def ctx(self) -> RuleContext:
        """The context that every rule has: the settings, the file, the project."""
        return self._looking().context

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of this rule."""
        return self.ctx.options

    @property
    def file(self) -> Module:
        """The file of the visited code."""
        return self._looking().piece.module

    @property
    def tool(self) -> ToolDef | None:
        """The tool whose handler is visited; None in a whole file."""
        return self._looking().piece.tool

    @property
    def handler(self) -> Handler | None:
        """The handler that is visited; None in a whole file."""
        return self._looking().piece.handler

    def ast_node(self, node: libcst.CSTNode) -> ast.expr | None:
        """The `ast` node of the same expression, as in the model; None if the node is not an expression."""
        found = self._looking().piece.ast_node(node)
        return None if found is None else found[0]

    def value_of(self, node: libcst.CSTNode) -> Value:
        """The value of an expression, with imports and names resolved, such as `Symbol("httpx.get")`."""
        from mcpcore_lint.model import Unknown
        from mcpcore_lint.semantics.evaluate import evaluate

        found = self._looking().piece.ast_node(node)
        if found is None:
            return Unknown(None, self.file, "it is not an expression in the file")
        return evaluate(*found)

    # -- findings ---------------------------------------------------------------------------------------------

    def report(
        self,
        node: libcst.CSTNode,
        message: str | None = None,
        *,
        help: str | None = None,  # noqa: A002
        position: CodePosition | CodeRange | Span | None = None,
        replacement: Replacement | None = None,
        unsafe: bool = False,
        title: str | None = None,
        related: Iterable[Related] = (),
    ) -> None:
        """Report a finding.

        Args:
            node: The node that the finding is about, as the rule got it.
            message: One sentence without a full stop; the default is `MESSAGE`.
            help: The next step; the default is `how_to_fix`.
            position: A place in the file, if it is not that of the node.
            replacement: The node that replaces it; `libcst.RemoveFromParent()` removes it.
            unsafe: Whether the replacement needs a review.
            title: A few words about the fix.
            related: Other places that the message mentions.

        Raises:
            ValueError: If there is no message, or the node is not part of the visited code.
        """
        look = self._looking()
        piece = look.piece
        text = " ".join(str(message or getattr(self, "MESSAGE", "")).split())
        if not text:
            raise ValueError(f"{self.id} reports without a message: give one, or set MESSAGE")
        span = piece.span(node) if position is None else _span(position)
        fix: Fix | None = None
        if replacement is not None:
            from mcpcore_lint.codemods.splice import replace

            edit = replace(piece, node, replacement)
            if edit is not None:
                said = title or _title(piece, replacement)
                fix = Fix(said, (edit,), "unsafe" if unsafe else "safe")
        advice = str(getattr(self, "how_to_fix", "")) if help is None else help
        look.findings.append(
            Finding(span, _plain(text), " ".join(advice.split()), tuple(related), fix, piece.tool, piece.module)
        )

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report the findings of this rule. The first libcst rule of a file runs all of them."""
        run = _run(module, ctx)
        findings, error = run.of(self)
        for each in findings:
            ctx.report(
                each.span,
                each.message,
                help=each.help,
                tool=each.tool,
                module=each.module,
                related=each.related,
                fix=each.fix,
            )
        if error is not None:
            raise error


def _plain(text: str) -> str:
    return text if text.endswith("..") else text.removesuffix(".")


def _span(position: CodePosition | CodeRange | Span) -> Span:
    if isinstance(position, Span):
        return position
    from libcst.metadata import CodePosition

    if isinstance(position, CodePosition):
        return Span(position.line, position.column + 1, position.line, position.column + 2)
    start, end = position.start, position.end
    return Span(start.line, start.column + 1, end.line, end.column + 1)


def _title(piece: VisitedPiece, replacement: Replacement) -> str:
    import libcst

    if isinstance(replacement, libcst.RemovalSentinel):
        return "Remove it"
    if isinstance(replacement, (libcst.BaseExpression, libcst.BaseSmallStatement)):
        code = piece.tree.code_for_node(replacement).strip()
        if len(code) <= 60 and code.isprintable():
            return f"Write {code}"
    return "Rewrite it"


# ---------------------------------------------------------------------------------------------------------------------
# All libcst rules of a file.
# ---------------------------------------------------------------------------------------------------------------------


class _Run:
    """The findings of all libcst rules in one file; each piece is parsed once and not kept."""

    def __init__(self) -> None:
        self.findings: dict[str, list[Finding]] = {}
        self.errors: dict[str, Exception] = {}
        """The first error of each rule."""
        self._crashed: set[str] = set()
        self._seen: set[tuple[str, str, Span, str]] = set()

    def of(self, rule: CstRule) -> tuple[Sequence[Finding], Exception | None]:
        """The findings of a rule, and its error if it failed."""
        return self.findings.get(rule.id, ()), self.errors.get(rule.id)

    def _crash(self, rule: CstRule, error: Exception) -> None:
        """Stop a rule that failed. After code that libcst cannot read it goes on with the next piece."""
        self.errors.setdefault(rule.id, error)
        if not isinstance(error, Unreadable):
            self._crashed.add(rule.id)

    def look(
        self,
        rules: Sequence[CstRule],
        context: RuleContext,
        module: Module,
        handler: Handler | None = None,
        tool: ToolDef | None = None,
    ) -> None:
        """Show a handler, or a whole file, to rules."""
        module.complete()
        try:
            where = None if handler is None else cut(module, handler.node)
        except Unreadable as error:
            for each in rules:
                self._crash(each, error)
            return
        text = module.source.text
        start, end = (0, len(text)) if where is None else (where.start, where.end)
        working = [
            each
            for each in rules
            if each.id not in self._crashed
            and (not each.words or any(text.find(word, start, end) >= 0 for word in each.words))
        ]
        if not working:
            return
        from mcpcore_lint.codemods.walk import Visit, visiting_class, walk

        classes: dict[str, type[Any]] = {}
        for rule in working:
            try:
                classes[rule.id] = visiting_class(type(rule))
            except Exception as error:  # noqa: BLE001 - reported as the rule's own
                self._crash(rule, error)
        imports = any(_sees_imports(each) for each in classes.values())
        try:
            piece = VisitedPiece(module, where, handler=handler, tool=tool, imports=imports)
        except Unreadable as error:
            for each in working:
                self._crash(each, error)
            return
        visits: list[tuple[CstRule, Look, Visit]] = []
        for rule in working:
            if rule.id in classes:
                look = Look(piece, RuleContext(context._state, rule))  # noqa: SLF001 - each rule has its own context
                try:
                    visitor = _instance(classes[rule.id], look)
                except Exception as error:  # noqa: BLE001 - reported as the rule's own
                    self._crash(rule, error)
                    continue
                visits.append((rule, look, Visit(visitor)))
        walk(piece, [visit for _, _, visit in visits])
        for rule, look, visit in visits:
            if visit.error is not None:
                self._crash(rule, visit.error)
            for finding in look.findings:
                # A handler inside another handler is visited twice.
                key = (rule.id, finding.module.path, finding.span, finding.message)
                if key not in self._seen:
                    self._seen.add(key)
                    self.findings.setdefault(rule.id, []).append(finding)


def _sees_imports(kind: type[Any]) -> bool:
    return any(each.__name__ in _SCOPED for each in kind.get_inherited_dependencies())


def _instance(kind: type[Any], look: Look) -> Any:
    made = object.__new__(kind)
    made._look = look  # there before the author's own __init__
    made.__init__()
    return made


_RUNS: WeakKeyDictionary[FileState, _Run] = WeakKeyDictionary()
"""The runs over the files that are checked at the moment."""


def _run(module: Module, ctx: RuleContext) -> _Run:
    state = ctx._state  # noqa: SLF001 - the file state that all rules share
    known = _RUNS.get(state)
    if known is not None:
        return known
    run = _RUNS[state] = _Run()
    rules = [each for each in state.checker.rules_for(module.path) if isinstance(each, CstRule)]
    if ctx.rule not in rules and isinstance(ctx.rule, CstRule):
        rules.append(ctx.rule)
    for_tools = [each for each in rules if each.scope == "tool"]
    seen: set[int] = set()
    if for_tools:
        for tool in state.tools:
            handler = tool.handler
            if id(handler.node) not in seen:
                seen.add(id(handler.node))
                run.look(for_tools, ctx, handler.module, handler, tool)
    for_files = [each for each in rules if each.scope == "file"]
    if for_files and speaks(module):
        run.look(for_files, ctx, module)
    return run


def speaks(module: Module) -> bool:
    """Whether a file concerns MCP, by the test that selects the files of a large tree."""
    return speaks_of_mcp(module.source.text.encode("utf-8", "surrogatepass"), mentions=True)
