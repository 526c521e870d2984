"""What a rule is: its name, its page, its cases, and the hooks by which it looks at the model."""

from __future__ import annotations

from abc import ABC
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Diagnostic, Edit, Fix, Related, Severity, Span

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from mcpcore_lint.model import FunctionNode, Handler, Reach, ReachedWrite, ToolDef, Value
    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.runner.checker import FileState
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.settings import Settings
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.project import Project
    from mcpcore_lint.syntax.scopes import Scope

Family: TypeAlias = Literal["contract", "conformance", "handler", "definitions", "linter", "project"]
DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType({"select": None})
"""Settings for a case: what a run finds that selects no rule."""
FAMILIES: tuple[Family, ...] = ("contract", "conformance", "handler", "definitions", "linter", "project")


@light
class Valid:
    """Code in which the rule finds nothing. `files` are further files of the project, by path beside `server.py`."""

    code: str
    files: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}
    """Fields of `Settings` that differ from the defaults."""


@light
class Invalid:
    """Code in which the rule finds something.

    A comment `# here` at the end of a line says that a finding stands on that line; as many findings as there are such
    comments must be made, in that order, and no others by this rule. `message` must be part of the first finding's.
    `fixed` is the whole text after the fixes of this rule alone, safe and unsafe; None where nothing is fixed.
    """

    code: str
    message: str = ""
    fixed: str | None = None
    files: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}
    loose: bool = False
    """Whether any finding on any line will do, and whatever the fixes make where `fixed` is None: as Fixit has it."""


class Rule(ABC):
    """The base of all rules. One instance serves a whole run, so it keeps nothing about a file."""

    id: ClassVar[str]
    severity: ClassVar[Severity]
    family: ClassVar[Family]
    summary: ClassVar[str]
    """What it catches, in one line without a full stop."""
    why: ClassVar[str]
    bad: ClassVar[str]
    good: ClassVar[str]
    how_to_fix: ClassVar[str]
    when_to_suppress: ClassVar[str]
    fixable: ClassVar[bool] = False
    default: ClassVar[bool] = True
    """Whether it is on where nothing selects rules."""
    of_settings: ClassVar[bool] = False
    """Whether it is about the settings of a run, of which a case has none."""
    valid: ClassVar[Sequence[Valid | str]] = ()
    invalid: ClassVar[Sequence[Invalid]] = ()

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Look at a tool, resource or prompt. Called for each registration in the file."""

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Look at a handler. Called once for a handler, however often it is registered."""

    def check_file(self, module: Module, ctx: RuleContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Look at a file that has to do with MCP, whether it defines tools or not."""

    def check_project(self, tools: Sequence[ToolRecord], ctx: ProjectContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Look at all tools of the run together. Called once, after the files."""


class RuleContext:
    """What a rule may ask, and where it reports. One for each file."""

    def __init__(self, state: FileState, rule: Rule) -> None:
        self._state = state
        self.rule = rule

    @property
    def module(self) -> Module:
        """The file."""
        return self._state.module

    @property
    def project(self) -> Project:
        """The files round it."""
        return self._state.module.project

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self._state.settings

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of this rule."""
        return self.settings.options.get(self.rule.id, {})

    @property
    def named(self) -> bool:
        """Whether the settings select the rule by its own id, or give it a severity: then it tells all that it sees."""
        selectors = {*(self.settings.select or ()), *self.settings.extend_select}
        for per_file in self._state.per_file:
            selectors.update(per_file.select or ())
        return self.rule.id in selectors or self._weighed

    @property
    def hierarchy(self) -> Hierarchy:
        """Which exception is a kind of which."""
        return self._state.hierarchy

    @property
    def tools(self) -> Sequence[ToolDef]:
        """The tools, resources and prompts of the file."""
        return self._state.tools

    def project_tools(self) -> AbstractSet[str] | None:
        """The names of all tools of the project; None where some tool's name cannot be known.

        Ask whether a name is in it before anything else: while not all files are read yet it takes every name to exist,
        and a file that asked for one that turns out not to is judged again.
        """
        return self._state.project_tools()

    def reach(self, tool: ToolDef) -> Reach:
        """What can come out of the functions that the tool's handler calls, and which calls cannot be resolved."""
        return self._state.reach(tool)

    def called(self, handler: Handler, call: ast.Call) -> Sequence[FunctionNode]:
        """The functions of the project that a call in a handler may run."""
        return self._state.judge.graph.called(handler, call)

    def wrappers(self, handler: Handler) -> Sequence[Handler]:
        """The functions that the project's own decorators put round a handler."""
        decorated = len(getattr(handler.node, "decorator_list", ())) > 1
        return self._state.judge.graph.wrappers(handler) if decorated else ()

    def is_handler(self, function: FunctionNode, module: Module) -> bool:
        """Whether a function of the project is the handler of a tool, a resource or a prompt."""
        return any(tool.handler.node is function for tool in self._state.judge.find_tools(module))

    def writes(self, tool: ToolDef) -> Sequence[ReachedWrite]:
        """What writes to standard output in the tool's handler, or in the functions that it calls."""
        return self._state.writes(tool)

    def resolve(self, node: ast.expr, scope: Scope | None = None, *, inside: Handler | None = None) -> Value:
        """What an expression is: in a scope, in a handler's own scope, or at the top of the file."""
        from mcpcore_lint.semantics.evaluate import evaluate

        if scope is None:
            scope = self.module.scope if inside is None else inside.module.scope_of(inside.node)
        return evaluate(node, scope)

    def report(
        self,
        at: ast.AST | Span,
        message: str,
        *,
        help: str = "",  # noqa: A002
        tool: ToolDef | None = None,
        module: Module | None = None,
        related: Sequence[Related] = (),
        fix: Fix | None = None,
        weight: Severity | None = None,
        shared: bool = False,
    ) -> None:
        """Report a finding.

        Args:
            at: The node or the place that it stands at.
            message: One sentence that names the thing, without a full stop.
            help: The next step.
            tool: The tool that it belongs to.
            module: The file of `at`, where it is not the file that is looked at: an entry of a shared constant, a
                handler that another file defines.
            related: Other places that it speaks of.
            fix: Edits of the file of `at`.
            weight: The severity of this finding, where it is not the rule's; what the settings say goes before it.
            shared: Whether several tools may have it in common, such as a failure that a helper of theirs builds. It is
                then reported once, with the places of all of them, and the tools are named after the message.
        """
        where = module or self.module
        if not is_ours(self.rule):
            _check(at, message, help, weight, fix, len(where.source.text))
        span = at if isinstance(at, Span) else where.source.span(at)
        self._state.add(
            Diagnostic(
                self.rule.id,
                self._state.severity(self.rule) if weight is None or self._weighed else weight,
                where.path,
                span,
                message,
                help,
                tuple(related),
                fix if fix is not None and fix.edits else None,
                tool.display_name if tool is not None and not shared else None,
                (tool.display_name,) if tool is not None and shared else (),
                folds=tool is not None and tool.flavour != "mcpcore" and self.rule.family == "handler",
            )
        )

    @property
    def _weighed(self) -> bool:
        """Whether the settings give the rule a severity of their own."""
        chosen = (self.settings.severities, *(each.severities for each in self._state.per_file))
        return any(self.rule.id in each for each in chosen)

    def related(self, at: ast.AST, message: str, module: Module | None = None) -> Related:
        """Another place that a finding speaks of."""
        where = module or self.module
        return Related(where.path, where.source.span(at), message)

    def fix(self, title: str, edits: Iterable[Edit], *, unsafe: bool = False) -> Fix:
        """Edits that belong together; the helpers that make them are in `mcpcore_lint.codemods.edits`."""
        return Fix(title, tuple(edits), "unsafe" if unsafe else "safe")


def is_ours(rule: Rule) -> bool:
    """Whether a rule is one of the linter's own."""
    return type(rule).__module__.startswith("mcpcore_lint.rules.")


def _check(at: object, message: object, then: object, weight: object, fix: Fix | None, length: int) -> None:
    """Refuse what no report could show, and edits that fit nowhere: the rule is told to have crashed.

    Raises:
        TypeError: If something is of another type than it should be.
        ValueError: If the place or an edit lies outside of the file.
    """
    import ast

    if not isinstance(at, (Span, ast.AST)):
        raise TypeError(f"report() takes a node or a Span, not {at!r}")
    if isinstance(at, Span) and (min(at.line, at.column) < 1 or (at.end_line, at.end_column) < (at.line, at.column)):
        raise ValueError(f"lines and columns count from 1, and the end does not come before the start: {at!r}")
    if not isinstance(message, str) or not message.strip() or not isinstance(then, str):
        raise TypeError(f"report() takes a message and a help that are texts, not {message!r} and {then!r}")
    if weight is not None and not isinstance(weight, Severity):
        raise TypeError(f"weight is a Severity, not {weight!r}")
    end = 0
    for each in sorted(fix.edits, key=lambda one: (one.start, one.end)) if fix is not None else ():
        if not end <= each.start <= each.end <= length:
            raise ValueError(f"{each!r} overlaps another edit or lies outside of the file of {length} characters")
        end = each.end


class ProjectContext:
    """What a rule may ask about the run as a whole, and where it reports."""

    def __init__(self, settings: Settings, rule: Rule, add: _Add) -> None:
        self.settings = settings
        self.rule = rule
        self._add = add

    def report(
        self,
        path: str,
        span: Span,
        message: str,
        *,
        help: str = "",  # noqa: A002
        tool: str | None = None,
        related: Sequence[Related] = (),
    ) -> None:
        """Report a finding in some file."""
        severity = self.settings.severities.get(self.rule.id, self.rule.severity)
        self._add(Diagnostic(self.rule.id, severity, path, span, message, help, tuple(related), None, tool))


if TYPE_CHECKING:
    from typing import Protocol

    class _Add(Protocol):
        def __call__(self, diagnostic: Diagnostic, /) -> None: ...
