"""Reads and checks files: what the rules see of a file, and what a run and the cache keep of it."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.diagnostics import Diagnostic, Failure, Severity
from mcpcore_lint.engine.flow.calls import CallGraph
from mcpcore_lint.engine.flow.facts.converting import guard_of_contract
from mcpcore_lint.engine.flow.facts.stdout import may_write
from mcpcore_lint.engine.registrations.build import Builder
from mcpcore_lint.engine.registrations.named import external_tools, named_tools, names_module
from mcpcore_lint.engine.registrations.unresolved import unresolved_in
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.syntax.imports import ImportSearch
from mcpcore_lint.engine.syntax.prefilter import SUPPRESSION, speaks_of_mcp
from mcpcore_lint.engine.syntax.project import Project, nearby
from mcpcore_lint.engine.syntax.source import Source, SourceError
from mcpcore_lint.model import Reach, ReachedWrite, ToolDef, string
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.rule import ProjectContext, Rule, RuleContext, is_ours
from mcpcore_lint.rules import all_rules, selected
from mcpcore_lint.rules._tools import in_test
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.memo import checksum
from mcpcore_lint.runner.results import FileResult, failed

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.runner.suppress import Suppressions
    from mcpcore_lint.settings import PerFile, Settings

_HOOKS: Final = ("check_tool", "check_handler", "check_file", "check_project")
LOADED_LINES: Final = 65_000
"""How many lines stay parsed at a time.

With 45,000, a server of 62,000 lines whose registrations are searched for in all files is parsed twice over. With
70,000, two processes on the tree of `bench.lint` take nearly the 400 MB that the bench allows.
"""
_BY_NAME: Final = (b"iter_modules", b"walk_packages", b"import_module")
"""Calls that load modules without an import statement."""


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
        alone: bool = False,
        rules: Iterable[Rule] | None = None,
    ) -> None:
        """Prepare to check files.

        Args:
            root: The project's folder.
            settings: The settings.
            files: The files whose whole syntax will be needed. Other files can be checked too.
            every: Whether this includes files that have nothing to do with MCP.
            alone: Whether the files are linted without the rest of the project, which may register their functions.
            rules: The rules; by default, all that the settings select.
        """
        self.settings = settings
        self.files = files
        self.every = every
        self.alone = alone
        self.project = Project(root, source_roots=settings.source_roots, reads_whole=self._reads_whole)
        self.hierarchy = Hierarchy(self.project, settings.exceptions)
        self.graph = CallGraph(self.project, self.hierarchy, settings.raises)
        self.tools: dict[str, list[ToolDef]] = {}
        self.is_cached = True  # the results need the checksums of the files
        self.contents: dict[str, bytes] = {}
        """The contents by absolute path that replace those on disk."""
        self._reached: dict[object, Reach] = {}
        self._prints = ImportSearch(self.project, may_write)
        if rules is None:
            rules = (rule for rule in all_rules().values() if settings.per_file or selected(rule, settings))
        self.rules = list(rules)
        self._hooks = {
            rule.id: [
                getattr(rule, hook) if getattr(type(rule), hook) is not getattr(Rule, hook) else None for hook in _HOOKS
            ]
            for rule in self.rules
        }
        """The hooks that each rule overrides, with None for the others."""
        self.mentions = any(self._hooks[rule.id][2] is not None and not is_ours(rule) for rule in self.rules)
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
        mapping = guard_of_contract(tool.contract)
        key = (tool.handler, mapping.becomes)
        reach = self._reached.get(key)
        if reach is None:
            reach = self._reached[key] = self.graph.reach(tool.handler, mapping=mapping)
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
        raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self.contents[absolute] = raw
        shown = self.project.display_path(absolute)
        with contextlib.suppress(SourceError):  # reported when the file is checked
            source = Source(shown, content) if isinstance(content, str) else Source.from_bytes(shown, raw)
            self.project.give(absolute, source)

    def read(self, absolute: str) -> FileResult:
        """Read and check a file. One that has nothing to do with MCP may not even be parsed."""
        shown = self.project.display_path(absolute)
        try:
            raw = self.contents.get(absolute)
            if raw is None:
                with open(absolute, "rb", buffering=0) as file:
                    raw = file.read()
        except OSError as error:
            return failed(Failure(shown, f"cannot be read: {error.strerror or error}"))
        digest = checksum(raw) if self.is_cached else b""
        relevant = self.is_relevant(absolute, raw)
        if relevant or self.every or self.settings.handlers:  # whose patterns name modules
            self.project.depends_on_packages(absolute)
        if not relevant and not self.every:
            consulted, missing = self.project.dependencies(absolute)
            return FileResult("", digest, consulted=(*consulted,), missing=(*missing,))
        suppresses = relevant and SUPPRESSION in raw
        try:
            module = self.project.module_of_bytes(absolute, raw)
        except SourceError as error:
            return FileResult(shown, digest, suppresses, self.parse_errors(shown, error))
        except Exception as error:  # noqa: BLE001 - a crash on one file is reported, and the others are checked
            return failed(crash(shown, None, error))
        return self.check(absolute, module, digest, suppresses=suppresses)

    def check(self, absolute: str, module: Module, digest: bytes = b"", *, suppresses: bool = False) -> FileResult:
        """Check a parsed file."""
        failures: list[Failure] = []
        state = FileState(self, module)
        external: tuple[str | None, ...] = ()
        with crashes(failures, module.path):
            state.tools = self.find_tools(module)
        with crashes(failures, module.path):
            # Behind a registration that cannot be read, a tool of any name may be.
            external = external_tools(module) + ((None,) if unresolved_in(module) else ())
        self._run_rules(state, module.path, failures)
        tools, diagnostics = state.tools, state.diagnostics
        if self.alone and not tools:
            # The result depends on every file that was searched, so it must not be cached.
            digest = b""
            with crashes(failures, module.path):
                other, tools = _registered_elsewhere(self, module)
                # The dispatcher in the other file decides whether what the tools return reaches the client.
                around = FileState(self, other, self.find_tools(other))
                around.registered = [entry for entry in around.registered if entry[0] in tools]
                self._run_rules(around, module.path, failures, tools_only=True)
                diagnostics += (diagnostic for diagnostic in around.diagnostics if diagnostic.path == module.path)
        consulted, missing = self.project.dependencies(absolute)
        return FileResult(
            module.path,
            digest,
            suppresses,
            tuple(dict.fromkeys(diagnostics)),
            tuple(failures),
            tuple(map(_record, tools)),
            external,
            tuple(sorted(consulted)),
            tuple(sorted(missing)),
        )

    def _run_rules(self, state: FileState, path: str, failures: list[Failure], *, tools_only: bool = False) -> None:
        registered = state.registered
        for rule in self.rules_for(path):
            check_tool, check_handler, check_file, _ = self._hooks[rule.id]
            if (check_file is None or tools_only) and not registered:
                continue
            try:  # as `crashes`, which takes longer than most rules
                context = RuleContext(state, rule)
                for tool, first in registered if check_tool or check_handler else ():
                    if check_tool is not None:
                        check_tool(tool, context)
                    if first and check_handler is not None:
                        check_handler(tool.handler, tool, context)
                if check_file is not None and not tools_only:
                    check_file(state.module, context)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a rule may raise anything
                failures.append(crash(path, rule, error))

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
            check_project = self._hooks[rule.id][3]
            if check_project is not None and selected(rule, self.settings):
                with crashes(failures, "", rule):
                    check_project(tools, ProjectContext(self.settings, rule, diagnostics.append))
        return diagnostics, failures

    def suppress(
        self, absolute: str, diagnostics: Sequence[Diagnostic]
    ) -> tuple[list[Diagnostic], list[Failure], list[Diagnostic]]:
        """The findings of a file that its comments do not suppress; failures and findings about these comments."""
        from mcpcore_lint.runner.suppress import Suppressions

        failures: list[Failure] = []
        module = self.project.module_at(self.project.display_path(absolute))
        if module is None:
            return list(diagnostics), failures, []
        suppressions = Suppressions(module.source, module.tree)
        kept = [diagnostic for diagnostic in diagnostics if not suppressions.suppresses(diagnostic)]
        state = FileState(self, module)
        active = self.rules_for(module.path) if suppressions.all else []
        for rule in active:
            check = getattr(rule, "check_suppressions", None)
            if check is not None:
                with crashes(failures, module.path, rule):
                    check(suppressions, {rule.id for rule in active}, RuleContext(state, rule))
        own = [finding for finding in state.diagnostics if not suppressions.suppresses(finding, by_name=True)]
        return kept, failures, own


def _registered_elsewhere(checker: Checker, module: Module) -> tuple[Module, list[ToolDef]]:
    """The file that registers functions of a module, and these tools; the module itself if no file does."""
    if not any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node in module.tree.body):
        return module, []
    stem = re.escape(module.name.rpartition(".")[2].encode())
    named = re.compile(
        rb"\bimport\b[^\n]*\b%b\b|\bfrom\s+[\w.]*\b%b\b|[\"'][\w.]*\b%b[\"']|^\s+%b,?\s*$" % ((stem,) * 4), re.MULTILINE
    )
    for path in nearby(module.absolute, checker.project.root):
        raw = checker.contents.get(path) or content_of(path) or b""
        if not speaks_of_mcp(raw) or not (named.search(raw) or any(call in raw for call in _BY_NAME)):
            continue
        try:
            other = checker.project.read(path)
        except (OSError, SourceError):
            continue
        tools = [tool for tool in checker.find_tools(other) if tool.handler.module is module]
        if tools:
            return other, tools
    return module, []


def _record(tool: ToolDef) -> ToolRecord:
    handler = tool.handler
    name = string(tool.name)
    place = (handler.qualname, handler.module.path, tool.span)
    return ToolRecord(name, tool.kind, tool.flavour, tool.server, *place, in_test(tool))


@contextlib.contextmanager
def crashes(failures: list[Failure], path: str, rule: Rule | None = None) -> Iterator[None]:
    """Report a crash in a block as a failure of its file, and go on. A crash costs the file, and not the run."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a rule may raise anything
        failures.append(crash(path, rule, error))


@contextlib.contextmanager
def guarded(crashed: dict[str, Failure], path: str) -> Iterator[None]:
    """Go on without a file if its analysis crashes, or if it cannot be read or encoded."""
    failures: list[Failure] = []
    with crashes(failures, path):
        yield
    for failure in failures:
        crashed.setdefault(path, failure)


def crash(path: str, rule: Rule | None, error: BaseException) -> Failure:
    """The failure for a crash of a rule or of the linter."""
    import traceback

    from mcpcore_lint.codemods import LibcstMissingError, lacks_libcst

    culprit = f"the rule {rule.id}" if rule is not None else "the linter"
    if lacks_libcst(error):
        return Failure(path, str(LibcstMissingError(culprit)), rule.id if rule else None)
    limit = 30 if isinstance(error, RecursionError) else None
    # Printing a node of libcst prints the whole code below it, line by line and level by level.
    if any(type(argument).__module__.startswith("libcst") for argument in error.args):
        error = type(error)(*(type(argument).__name__ for argument in error.args)).with_traceback(error.__traceback__)
    detail = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=limit))
    text = " ".join(str(error).split())[:200]
    return Failure(path, f"{culprit} crashed: {type(error).__name__}: {text}", rule.id if rule else None, detail)
