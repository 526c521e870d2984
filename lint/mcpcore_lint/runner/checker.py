"""Reads and checks files: what the rules see of a file, and what a run and the cache keep of it."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.diagnostics import Diagnostic, Failure, Severity
from mcpcore_lint.flow.calls import CallGraph
from mcpcore_lint.flow.facts.stdout import may_write
from mcpcore_lint.model import Handler, Reach, ReachedWrite, ToolDef, string
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.registrations.build import Builder
from mcpcore_lint.registrations.external import OPTION, external_tools
from mcpcore_lint.registrations.named import named_tools, names_module
from mcpcore_lint.rule import ProjectContext, Rule, RuleContext
from mcpcore_lint.rules import all_rules, is_ours, selected
from mcpcore_lint.rules._tools import in_test
from mcpcore_lint.runner.results import FileResult, irrelevant
from mcpcore_lint.semantics.hierarchy import Hierarchy
from mcpcore_lint.syntax.imports import ImportSearch
from mcpcore_lint.syntax.prefilter import SUPPRESSION, speaks_of_mcp
from mcpcore_lint.syntax.project import Project
from mcpcore_lint.syntax.source import SourceError

if TYPE_CHECKING:
    import ast
    from collections.abc import Container, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from mcpcore_lint.runner.suppress import Suppressions
    from mcpcore_lint.settings import PerFile, Settings
    from mcpcore_lint.syntax.module import Module

LOADED_LINES: Final = 45_000
"""How many lines stay parsed at a time."""


class FileState:
    """One file while its rules run."""

    def __init__(self, checker: Checker, module: Module, tools: Sequence[ToolDef] = ()) -> None:
        self.checker = checker
        self.module = module
        self.tools = tools
        self.settings = checker.settings
        self.hierarchy = checker.hierarchy
        self.diagnostics: list[Diagnostic] = []
        self._known: set[Diagnostic] = set()
        self.per_file = checker.per_file(module.path)

    @cached_property
    def registered(self) -> list[tuple[ToolDef, bool]]:
        """The tools, each with whether it is the first of its handler."""
        first: dict[ast.AST, ToolDef] = {}
        return [(tool, first.setdefault(tool.handler.node, tool) is tool) for tool in self.tools]

    def severity(self, rule: Rule) -> Severity:
        """The severity of a rule in this file."""
        severity = self.settings.severities.get(rule.id, rule.severity)
        for per_file in self.per_file:
            severity = per_file.severities.get(rule.id, severity)
        return severity

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding."""
        if diagnostic.tools and SUPPRESSION.decode() in self.module.source.text:
            diagnostic = self._at_the_call(diagnostic)
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.diagnostics.append(diagnostic)

    @cached_property
    def _suppressions(self) -> Suppressions:
        from mcpcore_lint.runner.suppress import Suppressions

        return Suppressions(self.module.source, self.module.tree)

    def _at_the_call(self, diagnostic: Diagnostic) -> Diagnostic:
        """Move a finding that several tools share to the place in this file where a comment suppresses it, if any."""
        for place in diagnostic.related:
            local = diagnostic._replace(path=place.path, span=place.span, tools=())
            if place.path == self.module.path and self._suppressions.suppresses(local):
                return local
        return diagnostic


class Checker:
    """Checks the files of one project."""

    def __init__(
        self,
        root: str,
        settings: Settings,
        *,
        files: Container[str] = frozenset(),
        every: bool = True,
        hashes: bool = False,
        alone: bool = False,
    ) -> None:
        """Prepare to check files.

        Args:
            root: The project's folder.
            settings: The settings.
            files: The files whose whole syntax will be needed. Other files can be checked too.
            every: Whether this includes files that have nothing to do with MCP.
            hashes: Whether results identify the content of their file, for the cache.
            alone: Whether the files are linted without the rest of the project, which may register their functions.
        """
        self.settings = settings
        self.files = files
        self.every = every
        self.hashes = hashes
        self.alone = alone
        self.project = Project(root, source_roots=settings.source_roots, reads_whole=self._reads_whole)
        self.hierarchy = Hierarchy(self.project, settings.exceptions)
        self.graph = CallGraph(self.project, self.hierarchy, settings.raises)
        self.tools: dict[str, list[ToolDef]] = {}
        self._contents: dict[str, bytes] = {}
        self._reached: dict[Handler, Reach] = {}
        self._prints = ImportSearch(self.project, may_write)
        self.rules = [rule for rule in all_rules().values() if settings.per_file or selected(rule, settings)]
        self._hooks = {rule.id: _hooks(rule) for rule in self.rules}
        self.mentions = any("check_file" in self._hooks[rule.id] and not is_ours(rule) for rule in self.rules)
        """Whether every file that mentions mcpcore is relevant, since a custom rule may look at it."""

    def _reads_whole(self, absolute: str, raw: bytes) -> bool:
        return absolute in self.files and (self.every or self.is_relevant(absolute, raw))

    def is_relevant(self, absolute: str, raw: bytes) -> bool:
        """Whether a file may define tools, judged by its bytes and by the `handlers` of the settings."""
        if speaks_of_mcp(raw, mentions=self.mentions):
            return True
        handlers = self.settings.handlers
        return bool(handlers) and names_module(handlers, self.project.module_name(absolute)[0])

    # -- shared by rules and files ---------------------------------------------------------------------------------

    def per_file(self, path: str) -> tuple[PerFile, ...]:
        """The per-file settings that match a path."""
        return tuple(per_file for per_file in self.settings.per_file if per_file.matches(path))

    def rules_for(self, path: str) -> list[Rule]:
        """The rules that are enabled for a file."""
        if not self.settings.per_file:
            return self.rules
        matching = self.per_file(path)
        return [rule for rule in self.rules if selected(rule, self.settings, matching)]

    def find_tools(self, module: Module) -> list[ToolDef]:
        """The tools of a file."""
        tools = self.tools.get(module.path)
        if tools is None:
            builder = Builder(module, self.hierarchy)
            tools = builder.tools()
            if self.settings.handlers:
                tools += named_tools(builder, self.settings.handlers, tools, self.project.root)
            self.tools[module.path] = tools
        return tools

    def reach(self, tool: ToolDef) -> Reach:
        """What a handler and the functions that it calls can raise."""
        reach = self._reached.get(tool.handler)
        if reach is None:
            reach = self._reached[tool.handler] = self.graph.reach(tool.handler)
        return reach

    def writes(self, tool: ToolDef) -> tuple[ReachedWrite, ...]:
        """The writes to standard output in a handler and in the functions that it calls."""
        # Searching the imported files for `print` costs much less than following calls.
        if not any(self._prints.found_from(module.absolute) for module in {tool.module, tool.handler.module}):
            return ()
        return self.reach(tool).writes

    # -- one file --------------------------------------------------------------------------------------------------

    def give(self, absolute: str, content: bytes | str) -> None:
        """Use this content of a file instead of the one on disk."""
        from mcpcore_lint.syntax.source import Source

        raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self._contents[absolute] = raw
        shown = self.project.display_path(absolute)
        with contextlib.suppress(SourceError):  # reported when the file is checked
            source = Source(shown, content) if isinstance(content, str) else Source.from_bytes(shown, raw)
            self.project.give(absolute, source)

    def read(self, absolute: str, *, every: bool) -> FileResult:
        """Read and check a file. Unless `every`, a file that has nothing to do with MCP is not parsed."""
        shown = self.project.display_path(absolute)
        try:
            raw = self._contents.get(absolute)
            if raw is None:
                with open(absolute, "rb", buffering=0) as file:
                    raw = file.read()
        except OSError as error:
            failure = Failure(shown, f"cannot be read: {error.strerror or error}")
            return FileResult(shown, b"", relevant=True, has_suppressions=False, failures=(failure,))
        digest = b""
        if self.hashes:
            from mcpcore_lint.runner.cache import content_hash

            digest = content_hash(raw)
        relevant = self.is_relevant(absolute, raw)
        if not relevant and not every:
            return irrelevant(digest)
        suppresses = relevant and SUPPRESSION in raw
        try:
            module = self.project.module_of_bytes(absolute, raw)
        except SourceError as error:
            diagnostics = self.parse_errors(shown, error)
            return FileResult(shown, digest, relevant=True, has_suppressions=suppresses, diagnostics=diagnostics)
        except Exception as error:  # noqa: BLE001 - a crash on one file is reported, and the others are checked
            failure = crash(shown, None, error)
            return FileResult(shown, digest, relevant=True, has_suppressions=False, failures=(failure,))
        result = self.check(absolute, module, digest, suppresses=suppresses)
        return self.with_tools_elsewhere(module, result) if self.alone and not result.tools else result

    def check(self, absolute: str, module: Module, digest: bytes = b"", *, suppresses: bool = False) -> FileResult:
        """Check a parsed file."""
        failures: list[Failure] = []
        state = FileState(self, module)
        external: tuple[str | None, ...] = ()
        with _crashes(failures, module.path):
            state.tools = self.find_tools(module)
        with _crashes(failures, module.path):
            external = external_tools(module)
        self._run_rules(state, module.path, failures)
        consulted, missing = self.project.dependencies(absolute)
        return FileResult(
            module.path,
            digest,
            relevant=True,
            has_suppressions=suppresses,
            diagnostics=tuple(state.diagnostics),
            failures=tuple(failures),
            tools=tuple(_record(tool) for tool in state.tools),
            external=external,
            consulted=tuple(sorted(consulted)),
            missing=tuple(sorted(missing)),
        )

    def with_tools_elsewhere(self, module: Module, result: FileResult) -> FileResult:
        """The result of a file that is linted alone, with findings about its functions that other files register."""
        from mcpcore_lint.runner.elsewhere import registered_elsewhere

        failures = list(result.failures)
        # The result depends on every file that was searched, so it must not be cached.
        result = result._replace(digest=b"")
        match = None
        with _crashes(failures, module.path):
            match = registered_elsewhere(self, module)
        if match is None:
            return result._replace(failures=tuple(failures))
        other, tools = match
        state = FileState(self, other, tools)
        self._run_rules(state, module.path, failures, tools_only=True)
        diagnostics = (diagnostic for diagnostic in state.diagnostics if diagnostic.path == module.path)
        return result._replace(
            diagnostics=tuple(dict.fromkeys((*result.diagnostics, *diagnostics))),
            failures=tuple(failures),
            tools=tuple(_record(tool) for tool in tools),
        )

    def _run_rules(self, state: FileState, path: str, failures: list[Failure], *, tools_only: bool = False) -> None:
        for rule in self.rules_for(path):
            with _crashes(failures, path, rule):
                self._apply(rule, state, tools_only=tools_only)

    def _apply(self, rule: Rule, state: FileState, *, tools_only: bool) -> None:
        hooks = self._hooks[rule.id]
        if "check_tool" in hooks or "check_handler" in hooks:
            context = RuleContext(state, rule)
            for tool, first in state.registered:
                if "check_tool" in hooks:
                    rule.check_tool(tool, context)
                if "check_handler" in hooks and first:
                    rule.check_handler(tool.handler, tool, context)
        if "check_file" in hooks and not tools_only:
            rule.check_file(state.module, RuleContext(state, rule))

    def parse_errors(self, path: str, error: SourceError) -> tuple[Diagnostic, ...]:
        """The finding for a file that is not valid Python, unless its rule is disabled."""
        rule = all_rules().get("parse-error")
        if rule is not None and not selected(rule, self.settings, self.per_file(path)):
            return ()
        severity = self.settings.severities.get("parse-error", Severity.ERROR)
        version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        message = f"the file cannot be read as {version}: {error.message}"
        help_ = (
            "correct the syntax, run the linter under the Python that the file is written for, or exclude the file; "
            "the other files are checked"
        )
        return (Diagnostic("parse-error", severity, path, error.span, message, help_),)

    def trim(self) -> None:
        """Forget parsed files once they are many, but not their functions' exceptions."""
        if self.project.loaded_lines > LOADED_LINES:
            self.project.forget()
            self.tools.clear()
            self._reached.clear()

    # -- the run as a whole ----------------------------------------------------------------------------------------

    def project_rules(self, tools: Sequence[ToolRecord]) -> tuple[list[Diagnostic], list[Failure]]:
        """The findings of the rules that compare all tools."""
        diagnostics: list[Diagnostic] = []
        failures: list[Failure] = []
        for rule in self.rules:
            if "check_project" in self._hooks[rule.id] and selected(rule, self.settings):
                with _crashes(failures, "", rule):
                    rule.check_project(tools, ProjectContext(self.settings, rule, diagnostics.append))
        return diagnostics, failures

    def suppress(self, absolute: str, diagnostics: Sequence[Diagnostic]) -> tuple[list[Diagnostic], int, list[Failure]]:
        """Remove the findings of one file that its comments suppress, and check these comments."""
        from mcpcore_lint.runner.suppress import Suppressions

        failures: list[Failure] = []
        module = self.project.module_at(self.project.display_path(absolute))
        if module is None:
            return list(diagnostics), 0, failures
        suppressions = Suppressions(module.source, module.tree)
        kept = [diagnostic for diagnostic in diagnostics if not suppressions.suppresses(diagnostic)]
        hidden = len(diagnostics) - len(kept)
        if suppressions.all:
            state = FileState(self, module)
            active = self.rules_for(module.path)
            names = {rule.id for rule in active}
            for rule in active:
                check = getattr(rule, "check_suppressions", None)
                if check is not None:
                    with _crashes(failures, module.path, rule):
                        check(suppressions, names, RuleContext(state, rule))
            kept += (each for each in state.diagnostics if not suppressions.suppresses(each, by_name=True))
        return kept, hidden, failures


def _hooks(rule: Rule) -> set[str]:
    """The hooks that a rule overrides."""
    hooks = ("check_tool", "check_handler", "check_file", "check_project")
    return {hook for hook in hooks if getattr(type(rule), hook) is not getattr(Rule, hook)}


def _record(tool: ToolDef) -> ToolRecord:
    handler = tool.handler
    name = string(tool.name)
    place = (handler.qualname, handler.module.path, tool.span)
    return ToolRecord(name, tool.kind, tool.flavour, tool.server, *place, in_test(tool))


@contextlib.contextmanager
def _crashes(failures: list[Failure], path: str, rule: Rule | None = None) -> Iterator[None]:
    """Report a crash in a block as a failure of its file, and go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a rule may raise anything
        failures.append(crash(path, rule, error))


def crash(path: str, rule: Rule | None, error: BaseException) -> Failure:
    """The failure for a crash of a rule or of the linter."""
    import traceback

    limit = 30 if isinstance(error, RecursionError) else None
    detail = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=limit))
    culprit = f"the rule {rule.id}" if rule is not None else "the linter"
    text = " ".join(str(error).split())[:200]
    return Failure(path, f"{culprit} crashed: {type(error).__name__}: {text}", rule.id if rule else None, detail)


def related_names(root: str, names: Iterable[str], settings: Settings, skip: AbstractSet[str]) -> frozenset[str]:
    """Which of some tool names other files of the project define, for runs over a part of the project."""
    from mcpcore_lint.runner.discover import Walk

    asked = frozenset(names)
    # A list of other servers' tools may use constants of a third file, so it counts even without the names.
    wanted = [OPTION.encode(), *(name.encode("utf-8", "surrogatepass") for name in asked)]
    defined: set[str] = set()
    checker: Checker | None = None
    for path in Walk(settings, root).run([root]).files:
        if path in skip:
            continue
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except OSError:
            continue
        if not any(name in raw for name in wanted):
            continue
        checker = checker or Checker(root, settings)
        if not checker.is_relevant(path, raw):
            continue
        try:
            module = checker.project.module_of_bytes(path, raw)
            tools = checker.find_tools(module)
            external = external_tools(module)
        except Exception:  # noqa: BLE001, S112 - a crash here must not fail the file that is checked
            continue
        defined.update(asked if None in external else ())
        named = (*external, *(string(tool.name) for tool in tools if tool.kind == "tool"))
        defined.update(name for name in named if name is not None)
        checker.trim()
    return frozenset(defined)
