"""Runs the rules over files: what is read, what is judged, what is reported, what is mended."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from mcpcore_lint.build import Builder
from mcpcore_lint.calls import CallGraph
from mcpcore_lint.diagnostics import Diagnostic, Failure, Severity, Span
from mcpcore_lint.fixes import MAX_PASSES, apply, choose
from mcpcore_lint.hierarchy import Hierarchy
from mcpcore_lint.model import Const, Handler, Reach, ToolDef, ToolRecord, string
from mcpcore_lint.project import Module, Project
from mcpcore_lint.rules import all_rules, selected
from mcpcore_lint.rules.base import ProjectContext, Rule, RuleContext
from mcpcore_lint.settings import PerFile, Settings
from mcpcore_lint.source import Source, SourceError, parse
from mcpcore_lint.suppress import Suppressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a run."""

    diagnostics: tuple[Diagnostic, ...] = ()
    """The findings that no suppression covers, in the order of files and lines."""
    failures: tuple[Failure, ...] = ()
    """What kept the linter from its work; the run is incomplete where there is any."""
    files: int = 0
    """The Python files that were looked at."""
    tools: tuple[ToolRecord, ...] = ()
    """Every tool, resource and prompt that was found."""
    suppressed: int = 0
    """How many findings a suppression covers."""

    def worst(self) -> Severity | None:
        """The gravest severity among the findings; None where there are none."""
        return max((each.severity for each in self.diagnostics), default=None)


@dataclass(frozen=True, slots=True)
class FixedFile:
    """What the fixes did to a file."""

    path: str
    before: str
    after: str
    count: int


class FileState:
    """One file while it is judged."""

    def __init__(self, run: Run, module: Module) -> None:
        self.run = run
        self.module = module
        self.settings = run.settings
        self.hierarchy = run.hierarchy
        self.tools: Sequence[ToolDef] = ()
        self.diagnostics: list[Diagnostic] = []
        self.per_file = run.per_file(module.path)

    def severity(self, rule: Rule) -> Severity:
        """The severity of a rule in this file."""
        severity = self.settings.severities.get(rule.id, rule.severity)
        for each in self.per_file:
            severity = each.severities.get(rule.id, severity)
        return severity

    def add(self, diagnostic: Diagnostic) -> None:
        """Take a finding."""
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    def reach(self, tool: ToolDef) -> Reach:
        """What comes out of the functions that a handler calls."""
        return self.run.reach(tool)

    def project_tools(self) -> frozenset[str] | None:
        """The names of all tools of the project."""
        return self.run.project_tools()


class Run:
    """One run over some files of one project."""

    def __init__(self, root: str, settings: Settings) -> None:
        self.settings = settings
        self.project = Project(root, source_roots=settings.source_roots)
        self.hierarchy = Hierarchy(self.project, settings.exceptions)
        self.modules: dict[str, Module] = {}
        self.tools: dict[str, list[ToolDef]] = {}
        self.failures: list[Failure] = []
        self.graph = CallGraph(self.project, self.hierarchy, settings.raises)
        self._reached: dict[Handler, Reach] = {}
        self.rules = [rule for rule in all_rules().values() if selected(rule, settings) or settings.per_file]

    def per_file(self, path: str) -> tuple[PerFile, ...]:
        """The per-file settings that match a path."""
        return tuple(each for each in self.settings.per_file if fnmatch(path, each.pattern))

    def rules_for(self, path: str) -> list[Rule]:
        """The rules that are on for a file."""
        matching = self.per_file(path)
        return [rule for rule in self.rules if selected(rule, self.settings, matching)]

    def find_tools(self, module: Module) -> list[ToolDef]:
        """The tools of a file."""
        found = self.tools.get(module.path)
        if found is None:
            found = Builder(module, self.hierarchy).tools()
            self.tools[module.path] = found
        return found

    def project_tools(self) -> frozenset[str] | None:
        """The names of all tools of the run; None where one cannot be known."""
        names: set[str] = set(self.settings.tools)
        for tools in self.tools.values():
            for tool in tools:
                if tool.kind != "tool":
                    continue
                name = string(tool.name)
                if name is None:
                    return None
                names.add(name)
        return frozenset(names)

    def reach(self, tool: ToolDef) -> Reach:
        """What comes out of the functions that a handler calls."""
        found = self._reached.get(tool.handler)
        if found is None:
            found = self.graph.reach(tool.handler)
            self._reached[tool.handler] = found
        return found

    def judge(self, module: Module) -> tuple[list[Diagnostic], int]:
        """Run every rule over one file; also how many findings were suppressed."""
        state = FileState(self, module)
        state.tools = self.find_tools(module)
        rules = self.rules_for(module.path)
        for rule in rules:
            context = RuleContext(state, rule)
            try:
                self._apply(rule, state, context)
            except Exception as error:  # noqa: BLE001 - one rule's crash is reported, and the others go on
                self.failures.append(crash(module.path, rule, error))
        suppressions = Suppressions(module.source, module.tree)
        kept = [each for each in state.diagnostics if not suppressions.suppresses(each)]
        hidden = len(state.diagnostics) - len(kept)
        if suppressions.all:
            state.diagnostics = []
            for rule in rules:
                check = getattr(rule, "check_suppressions", None)
                if check is not None:
                    check(suppressions, {each.id for each in rules}, RuleContext(state, rule))
            late = [each for each in state.diagnostics if not suppressions.suppresses(each, by_name=True)]
            kept.extend(late)
        return kept, hidden

    @staticmethod
    def _apply(rule: Rule, state: FileState, context: RuleContext) -> None:
        seen: set[int] = set()
        for tool in state.tools:
            rule.check_tool(tool, context)
            if id(tool.handler) not in seen:
                seen.add(id(tool.handler))
                rule.check_handler(tool.handler, tool, context)
        rule.check_file(state.module, context)


def crash(path: str, rule: Rule, error: BaseException) -> Failure:
    """A rule's crash on a file."""
    detail = "".join(traceback.format_exception(error))
    return Failure(path, f"the rule {rule.id} crashed: {type(error).__name__}: {error}", rule.id, detail)


def parse_error(path: str, error: SourceError, settings: Settings) -> Diagnostic:
    """The finding for a file that is not valid Python."""
    severity = settings.severities.get("parse-error", Severity.ERROR)
    return Diagnostic(
        "parse-error",
        severity,
        path,
        error.span,
        f"the file cannot be read as Python: {error.message}",
        "correct the syntax, or exclude the file; the other files are checked all the same",
    )


def records(tools: Iterable[ToolDef]) -> list[ToolRecord]:
    """What the whole project knows of some tools."""
    return [
        ToolRecord(
            string(each.name), each.kind, each.flavour, each.server, each.handler.qualname, each.module.path, each.span
        )
        for each in tools
    ]


def _lint(
    sources: Sequence[tuple[str, Source]], settings: Settings, root: str, overlay: Mapping[str, Source]
) -> Report:
    run = Run(root, settings)
    diagnostics: list[Diagnostic] = []
    modules: list[Module] = []
    for absolute, source in overlay.items():
        try:
            run.project.add(absolute, source)
        except SourceError:
            continue
    for absolute, source in sources:
        try:
            modules.append(run.project.add(absolute, source))
        except SourceError as error:
            if _on("parse-error", settings):
                diagnostics.append(parse_error(source.path, error, settings))
    for module in modules:
        run.find_tools(module)
    hidden = 0
    for module in modules:
        found, suppressed = run.judge(module)
        diagnostics.extend(found)
        hidden += suppressed
    tools = records(tool for tools in run.tools.values() for tool in tools)
    by_path = {module.path: Suppressions(module.source, module.tree) for module in modules}

    def add(diagnostic: Diagnostic) -> None:
        nonlocal hidden
        suppressions = by_path.get(diagnostic.path)
        if suppressions is not None and suppressions.suppresses(diagnostic):
            hidden += 1
        else:
            diagnostics.append(diagnostic)

    for rule in run.rules:
        try:
            rule.check_project(tools, ProjectContext(settings, rule, add))
        except Exception as error:  # noqa: BLE001 - as above
            run.failures.append(crash("", rule, error))
    diagnostics.sort(key=lambda each: each.sort_key)
    return Report(tuple(diagnostics), tuple(run.failures), len(sources), tuple(tools), hidden)


def _on(rule_id: str, settings: Settings) -> bool:
    rule = all_rules().get(rule_id)
    return rule is None or selected(rule, settings)


def lint_source(
    source: str | bytes,
    *,
    path: str = "<stdin>",
    settings: Settings | None = None,
    root: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Report:
    """Lint one file that is held in memory.

    Args:
        source: Its text, or its bytes as they are on disk.
        path: Its name, from which the project's other files are found where it exists there.
        settings: The settings; the defaults where left out.
        root: The project's folder; the current one where left out.
        files: Further files of the project, by path, that go before what is on disk.
    """
    settings = settings or Settings()
    root = os.path.abspath(root or os.getcwd())
    try:
        made = Source.from_bytes(path, source) if isinstance(source, bytes) else Source(path, source)
    except SourceError as error:
        found = (parse_error(path, error, settings),) if _on("parse-error", settings) else ()
        return Report(found, (), 1)
    overlay = {os.path.join(root, name): Source(name, text) for name, text in (files or {}).items()}
    return _lint([(os.path.join(root, path), made)], settings, root, overlay)


def fix_source(
    source: str | bytes,
    *,
    path: str = "<stdin>",
    settings: Settings | None = None,
    root: str | None = None,
    files: Mapping[str, str] | None = None,
    unsafe: bool = False,
) -> tuple[FixedFile, Report]:
    """Mend one file that is held in memory, pass after pass until no fix is left; the report is of what remains."""
    settings = settings or Settings()
    made = Source.from_bytes(path, source) if isinstance(source, bytes) else Source(path, source)
    text = made.text
    count = 0
    report = lint_source(text, path=path, settings=settings, root=root, files=files)
    for _ in range(MAX_PASSES):
        mine = [each for each in report.diagnostics if each.path == path]
        changed, done = _pass(path, text, mine, unsafe=unsafe)
        if not done:
            break
        count += done
        text = changed
        report = lint_source(text, path=path, settings=settings, root=root, files=files)
    return FixedFile(path, made.text, text, count), report


def _pass(path: str, text: str, diagnostics: Sequence[Diagnostic], *, unsafe: bool) -> tuple[str, int]:
    """One pass of fixes over a text: the new text, and how many fixes it took."""
    chosen = choose(diagnostics, unsafe=unsafe)
    if not chosen:
        return text, 0
    changed = apply(text, [edit for _, fix in chosen for edit in fix.edits])
    if changed != text and _parses(path, changed):
        return changed, len(chosen)
    # Together they break the file, so one of them does: make them one by one, and leave out what breaks.
    for _, fix in chosen:
        changed = apply(text, fix.edits)
        if changed != text and _parses(path, changed):
            return changed, 1
    return text, 0


def _parses(path: str, text: str) -> bool:
    try:
        parse(Source(path, text))
    except SourceError:
        return False
    return True


def lint_paths(
    paths: Sequence[str | os.PathLike[str]], *, settings: Settings | None = None, root: str | None = None
) -> Report:
    """Lint files and folders.

    Args:
        paths: Files and folders; of a folder every Python file in it.
        settings: The settings; the defaults where left out.
        root: The project's folder, to which paths in the report are relative; the current one where left out.
    """
    settings = settings or Settings()
    root = os.path.abspath(root or os.getcwd())
    project = Project(root)
    sources: list[tuple[str, Source]] = []
    broken: list[Diagnostic] = []
    failures: list[Failure] = []
    for absolute in _walk(paths):
        shown = project.display_path(absolute)
        try:
            with open(absolute, "rb") as file:
                sources.append((absolute, Source.from_bytes(shown, file.read())))
        except SourceError as error:
            if _on("parse-error", settings):
                broken.append(parse_error(shown, error, settings))
        except OSError as error:
            failures.append(Failure(shown, f"cannot be read: {error.strerror or error}"))
    report = _lint(sources, settings, root, {})
    diagnostics = sorted((*broken, *report.diagnostics), key=lambda each: each.sort_key)
    return Report(
        tuple(diagnostics), (*failures, *report.failures), report.files + len(broken), report.tools, report.suppressed
    )


def _walk(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    found: dict[str, None] = {}
    for each in paths:
        absolute = os.path.abspath(os.fspath(each))
        if os.path.isdir(absolute):
            for folder, folders, names in os.walk(absolute):
                folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
                for name in sorted(names):
                    if name.endswith(".py"):
                        found[os.path.join(folder, name)] = None
        else:
            found[absolute] = None
    return list(found)


__all__ = [
    "Const",
    "FixedFile",
    "Report",
    "Span",
    "fix_source",
    "lint_paths",
    "lint_source",
]
