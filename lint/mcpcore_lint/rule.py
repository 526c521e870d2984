"""The base class of rules: id, documentation, cases and hooks; and the context that the hooks get."""

from __future__ import annotations

import re
import sys
from abc import ABC
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from mcpcore_lint import ids
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Change, Diagnostic, Edit, Fix, Related, Severity, Span

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mcpcore_lint.engine.flow.effects import Throw
    from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.project import Project
    from mcpcore_lint.engine.syntax.scopes import Scope
    from mcpcore_lint.model import FunctionNode, Handler, Reach, ReachedWrite, ToolDef, Value
    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.runner.checker import FileState
    from mcpcore_lint.settings import Settings

FAMILIES: Final = (*ids.FAMILIES, "project")
"""The families of all rules; those of other packages belong to the last one."""
_LABELS: Final = ("Summary", "Why", "How to fix", "When to suppress", "Bad", "Good")
TEXTS: Final = tuple(label.lower().replace(" ", "_") for label in _LABELS)
"""The attributes with the texts of a rule's page. A docstring gives each after its label: `How to fix: ...`."""
_TEXT: Final = re.compile(rf"^ *({'|'.join(_LABELS)}):(?: |$)", re.MULTILINE)


@light
class Valid:
    r"""Code in which the rule finds nothing.

    ```python
    valid = (Valid("from helpers import ping\n", files={"helpers.py": "def ping() -> str: ...\n"}),)
    ```

    Attributes:
        code: The file.
        files: Other files of the project, by their paths.
        settings: Fields of `Settings` that differ from the defaults.
    """

    code: str
    files: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}


@light
class Invalid:
    """Code in which the rule finds something.

    Each line with a finding ends with the comment `# here`; the rule must report these lines and no others.

    Attributes:
        code: The file, with the comments.
        message: A part of the first finding's message.
        fixed: The file after all fixes of this rule, safe and unsafe; None if nothing is fixed.
        files: Other files of the project, by their paths.
        settings: Fields of `Settings` that differ from the defaults.
    """

    code: str
    message: str = ""
    fixed: str | None = None
    files: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}


class Rule(ABC):
    """The base class of all rules. One instance serves a whole run, so it must not keep state about a file."""

    id: ClassVar[str]
    family: ClassVar[str]
    """The linter's own rules get both from their modules, `rules/<family>/<rule_id>.py`."""
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    """What the rule reports, in one line without a full stop. The docstring may have this text and the next five."""
    why: ClassVar[str]
    bad: ClassVar[str]
    good: ClassVar[str]
    how_to_fix: ClassVar[str]
    when_to_suppress: ClassVar[str]
    fixable: ClassVar[bool | Literal["unsafe"]] = False
    """Whether the rule offers fixes; "unsafe" if each of them needs a review."""
    default: ClassVar[bool] = True
    """Whether the rule is on if the settings select no rules."""
    valid: ClassVar[Sequence[Valid | str]] = ()
    invalid: ClassVar[Sequence[Invalid]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        package, _, name = cls.__module__.rpartition(".")
        if package.startswith("mcpcore_lint.rules.") and not name.startswith("_"):
            cls.id = name.replace("_", "-")
            cls.family = package.rpartition(".")[2]
        _set_texts(cls)

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Check a tool, resource or prompt. Called for each registration in the file.

        Args:
            tool: The tool.
            ctx: Answers questions about the file, and takes findings.
        """

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Check a handler. Called once for each handler, however often it is registered.

        Args:
            handler: The function.
            tool: The first tool that it is registered as.
            ctx: Answers questions about the file, and takes findings.
        """

    def check_file(self, module: Module, ctx: RuleContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Check a file that uses MCP, whether it defines tools or not.

        Args:
            module: The file.
            ctx: Answers questions about the file, and takes findings.
        """

    def check_project(self, tools: Sequence[ToolRecord], ctx: ProjectContext) -> None:  # noqa: B027 - a rule overrides the hooks that it needs
        """Check all tools of the run together. Called once, after all files.

        Args:
            tools: The tools of all files.
            ctx: Answers questions about the run, and takes findings.
        """


def _set_texts(kind: type[Rule]) -> None:
    """Set the texts that the docstring of a rule has, except those that its class sets itself."""
    _, *parts = _TEXT.split(kind.__doc__ or "")
    for label, text in zip(parts[::2], parts[1::2], strict=True):
        name = label.lower().replace(" ", "_")
        rest = text.partition("\n")[2]
        indent = rest[: len(rest) - len(rest.lstrip())].rpartition("\n")[2]
        plain = text.replace(f"\n{indent}", "\n").strip()
        if name not in vars(kind):
            # Examples and texts of several paragraphs keep their lines.
            keeps_lines = name in {"bad", "good"} or "\n\n" in plain
            setattr(kind, name, plain if keeps_lines else " ".join(plain.split()))


if sys.flags.optimize > 1:
    for _name in TEXTS:
        setattr(Rule, _name, "not known under python -OO")


class RuleContext:
    """What a rule can ask about a file, and where it reports findings."""

    def __init__(self, state: FileState, rule: Rule) -> None:
        self._state = state
        self.rule = rule
        self.module: Module = state.module
        self.project: Project = state.module.project
        self.settings: Settings = state.settings
        """The settings of the run."""
        self.hierarchy: Hierarchy = state.hierarchy
        """The class hierarchy of exceptions."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of this rule."""
        return self.settings.options.get(self.rule.id, {})

    @property
    def named(self) -> bool:
        """Whether the settings select the rule by its id, or set its severity: then it reports minor findings too."""
        of_files = (selector for per_file in self._state.per_file for selector in per_file.select or ())
        selectors = {*(self.settings.select or ()), *self.settings.extend_select, *of_files}
        return self.rule.id in selectors or self._weighed

    @property
    def tools(self) -> Sequence[ToolDef]:
        """The tools, resources and prompts of the file."""
        return self._state.tools

    def reach(self, tool: ToolDef) -> Reach:
        """The errors that functions called by the tool's handler can raise, and the calls that cannot be resolved.

        Args:
            tool: The tool.
        """
        return self._state.checker.reach(tool)

    def called(self, handler: Handler, call: ast.Call) -> Sequence[FunctionNode]:
        """The functions of the project that a call in a handler may run.

        Args:
            handler: The handler.
            call: A call in its body.
        """
        return self._state.checker.graph.called(handler, call)

    def stopped(self, handler: Handler, *, deep: bool = False) -> Iterator[tuple[Throw, tuple[str, ...], Span]]:
        """The errors that clauses of a handler stop, each with the functions that lead to it, and its place or call.

        Args:
            handler: The handler.
            deep: Whether the clauses of the functions that it calls count too.
        """
        graph = self._state.checker.graph
        return (
            error
            for function in [handler, *(graph.on_the_way(handler) if deep else ())]
            for error in graph.stopped(function)
        )

    def wrappers(self, handler: Handler, tool: ToolDef | None = None) -> Sequence[Handler] | None:
        """The functions that replace a function, by its decorators or its registration; None if they are not all known.

        Args:
            handler: The function.
            tool: The tool that it handles.
        """
        wrappers = self._state.checker.graph.wrappers(handler, tool.registration if tool is not None else None)
        return None if wrappers is None else [*wrappers, *(tool.wrappers if tool is not None else ())]

    def is_handler(self, function: FunctionNode, module: Module) -> bool:
        """Whether a function of the project is the handler of a tool, a resource or a prompt.

        Args:
            function: The function.
            module: Its file.
        """
        # Another file may register it, such as the one with the handler of a low-level server.
        tools = (self._state.tools, self._state.checker.find_tools(module))
        key = ("handlers", module.path)
        return function in self.module.once(key, lambda: {tool.handler.node for part in tools for tool in part})

    def writes(self, tool: ToolDef) -> Sequence[ReachedWrite]:
        """The calls that write to standard output, in the tool's handler or in functions that it calls.

        Args:
            tool: The tool.
        """
        return self._state.checker.writes(tool)

    def resolve(self, node: ast.expr, scope: Scope | None = None, *, inside: Handler | None = None) -> Value:
        """The value of an expression in a scope, in a handler, or at module level.

        Args:
            node: The expression.
            scope: The scope in which it is read.
            inside: The handler in whose body it is, instead of a scope.
        """
        from mcpcore_lint.engine.semantics.evaluate import evaluate

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
        missing_tool: str | None = None,
    ) -> None:
        """Report a finding.

        Args:
            at: The node or span of the finding.
            message: One sentence that names the thing, without a full stop.
            help: The next step.
            tool: The tool that has the problem.
            module: The file of `at`, if it is not the checked file: a shared entry, or a handler of another file.
            related: Other places that matter for the finding.
            fix: Edits of the file of `at`.
            weight: The severity of this finding, if it differs from the rule's; the settings override it.
            shared: Whether several tools may share the finding, such as a failure that a common helper builds. It is
                then reported once, with all its places, and the tools are named after the message.
            missing_tool: The name of a tool that must not exist for the finding to hold. It is looked up when all files
                are known, and a similar name is added to the next step.
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
                missing_tool=missing_tool,
            )
        )

    @property
    def _weighed(self) -> bool:
        """Whether the settings set the severity of the rule."""
        overrides = (self.settings.severities, *(per_file.severities for per_file in self._state.per_file))
        return any(self.rule.id in severities for severities in overrides)

    def related(self, at: ast.AST, message: str, module: Module | None = None) -> Related:
        """Another place that matters for a finding.

        Args:
            at: The node there.
            message: What is there.
            module: Its file; left out, the file that is checked.
        """
        where = module or self.module
        return Related(where.path, where.source.span(at), message)

    def fix(self, title: str, edits: Iterable[Edit | Change | None], *, unsafe: bool = False) -> Fix | None:
        """A fix: changes that are made together. `mcpcore_lint.codemods.edits` has functions that describe them.

        If one of them is None, it cannot be made, and so there is no fix.

        Args:
            title: The name of the fix, as an imperative.
            edits: The changes.
            unsafe: Whether the fix may change the behavior of the program, and so needs a review.
        """
        made = tuple(edits)
        return None if None in made else Fix(title, made, "unsafe" if unsafe else "safe")  # type: ignore[arg-type]


def is_ours(rule: Rule) -> bool:
    """Whether a rule belongs to the linter itself."""
    return type(rule).__module__.startswith("mcpcore_lint.rules.")


def _check(at: object, message: object, step: object, weight: object, fix: Fix | None, length: int) -> None:
    """Check what a rule of another package reports; an error is reported as a crash of the rule."""
    import ast

    if not isinstance(at, (Span, ast.AST)):
        raise TypeError(f"report() takes a node or a Span, not {at!r}")
    if isinstance(at, Span) and (min(at.line, at.column) < 1 or (at.end_line, at.end_column) < (at.line, at.column)):
        raise ValueError(f"lines and columns start at 1, and the end cannot be before the start: {at!r}")
    if not isinstance(message, str) or not message.strip() or not isinstance(step, str):
        raise TypeError(f"report() takes a message and a help that are strings, not {message!r} and {step!r}")
    if weight is not None and not isinstance(weight, Severity):
        raise TypeError(f"weight is a Severity, not {weight!r}")
    end = 0
    for edit in sorted(edit for edit in (fix.edits if fix is not None else ()) if isinstance(edit, Edit)):
        if not end <= edit.start <= edit.end <= length:
            raise ValueError(f"{edit!r} overlaps another edit or lies outside of the file of {length} characters")
        end = edit.end


class ProjectContext:
    """What a rule can ask about the whole run, and where it reports findings.

    ```python
    def check_project(self, tools: Sequence[ToolRecord], ctx: ProjectContext) -> None:
        for tool in tools:
            if tool.name == "run":
                ctx.report(tool.path, tool.span, "the name 'run' says nothing", help="say what it runs")
    ```
    """

    def __init__(self, settings: Settings, rule: Rule, add: Callable[[Diagnostic], None]) -> None:
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
        """Report a finding in any file.

        Args:
            path: The file.
            span: The place in the file.
            message: What was found.
            help: The next step.
            tool: The tool that it concerns.
            related: Other places that belong to the finding.
        """
        severity = self.settings.severities.get(self.rule.id, self.rule.severity)
        self._add(Diagnostic(self.rule.id, severity, path, span, message, help, tuple(related), None, tool))
