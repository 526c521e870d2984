"""Reads and judges files: what the rules see of one file, and what is kept of it for the run and for the cache."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.diagnostics import Diagnostic, Failure, Severity
from mcpcore_lint.flow.calls import CallGraph
from mcpcore_lint.flow.facts.stdout import may_write
from mcpcore_lint.model import Handler, Reach, ReachedWrite, ToolDef, string
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.registrations.build import Builder
from mcpcore_lint.registrations.external import OPTION, external_tools
from mcpcore_lint.registrations.named import named_tools, names_module
from mcpcore_lint.rules import all_rules, is_ours, selected
from mcpcore_lint.rules._tools import in_test
from mcpcore_lint.rules.base import ProjectContext, Rule, RuleContext
from mcpcore_lint.runner.prefilter import SUPPRESSION, speaks_of_mcp
from mcpcore_lint.semantics.hierarchy import Hierarchy
from mcpcore_lint.syntax.imports import ImportSearch
from mcpcore_lint.syntax.project import Project
from mcpcore_lint.syntax.source import SourceError

if TYPE_CHECKING:
    import ast
    from collections.abc import Container, Iterable, Iterator, Sequence

    from mcpcore_lint.runner.suppress import Suppressions
    from mcpcore_lint.settings import PerFile, Settings
    from mcpcore_lint.syntax.module import Module

LOADED_LINES: Final = 45_000
"""How many lines stay parsed at a time."""


class FileResult(NamedTuple):
    """What is known of a file after it was looked at."""

    path: str
    """As diagnostics show it; empty where there can be none."""
    digest: bytes
    """What stands for its content; empty where nobody keeps the result."""
    relevant: bool
    has_suppressions: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    """Before suppressions; some may stand in other files."""
    failures: tuple[Failure, ...] = ()
    tools: tuple[ToolRecord, ...] = ()
    asked: tuple[str, ...] = ()
    """Tool names that were taken to exist before all files were read."""
    exact: bool = False
    """Whether a rule asked for more than that some names exist, so that the file is judged again."""
    consulted: tuple[str, ...] = ()
    """Absolute paths of the other files that it depends on."""
    missing: tuple[str, ...] = ()
    """Absolute paths, without `.py`, of modules that were looked for and not found."""
    external: tuple[str | None, ...] = ()
    """Tools of other servers that the file names as `external_tools=`; None for those that cannot be known."""


def irrelevant(digest: bytes) -> FileResult:
    """What is known of a file that has nothing to do with MCP."""
    return FileResult("", digest, relevant=False, has_suppressions=False)


class ToolNames(AbstractSet[str]):
    """The names of all tools; before they are known, a set that takes each name to exist and remembers the question."""

    def __init__(self, names: frozenset[str] | None) -> None:
        self._names = names
        self.asked: set[str] = set()
        self.exact = False

    def __contains__(self, name: object) -> bool:
        if self._names is None:
            if isinstance(name, str):
                self.asked.add(name)
            return True
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        if self._names is None:
            self.exact = True
            return iter(())
        return iter(sorted(self._names))

    def __len__(self) -> int:
        if self._names is None:
            self.exact = True
            return 0
        return len(self._names)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> AbstractSet[Any]:
        return frozenset(it)


class FileState:
    """One file while it is judged."""

    def __init__(self, judge: Judge, module: Module) -> None:
        self.judge = judge
        self.module = module
        self.settings = judge.settings
        self.hierarchy = judge.hierarchy
        self.tools: Sequence[ToolDef] = ()
        self.diagnostics: list[Diagnostic] = []
        self._known: set[Diagnostic] = set()
        self.per_file = judge.per_file(module.path)
        self.names = judge.names()

    @cached_property
    def registered(self) -> list[tuple[ToolDef, bool]]:
        """The tools, each with whether it is the first of its handler."""
        first: dict[ast.AST, ToolDef] = {}
        return [(tool, first.setdefault(tool.handler.node, tool) is tool) for tool in self.tools]

    def severity(self, rule: Rule) -> Severity:
        """The severity of a rule in this file."""
        severity = self.settings.severities.get(rule.id, rule.severity)
        for each in self.per_file:
            severity = each.severities.get(rule.id, severity)
        return severity

    def add(self, diagnostic: Diagnostic) -> None:
        """Take a finding."""
        if diagnostic.tools and SUPPRESSION.decode() in self.module.source.text:
            diagnostic = self._at_the_call(diagnostic)
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.diagnostics.append(diagnostic)

    @cached_property
    def _suppressions(self) -> Suppressions:
        """The suppression comments of the file."""
        from mcpcore_lint.runner.suppress import Suppressions

        return Suppressions(self.module.source, self.module.tree)

    def _at_the_call(self, diagnostic: Diagnostic) -> Diagnostic:
        """A finding that tools share, moved to where this file leads to it if a comment there suppresses it."""
        for place in diagnostic.related:
            local = diagnostic._replace(path=place.path, span=place.span, tools=())
            if place.path == self.module.path and self._suppressions.suppresses(local):
                return local
        return diagnostic

    def reach(self, tool: ToolDef) -> Reach:
        """What comes out of the functions that a handler calls."""
        return self.judge.reach(tool)

    def writes(self, tool: ToolDef) -> tuple[ReachedWrite, ...]:
        """What writes to standard output in a handler, or in what it calls."""
        return self.judge.writes(tool)

    def project_tools(self) -> AbstractSet[str] | None:
        """The names of all tools of the project."""
        return self.names


class Judge:
    """Judges the files of one project, one after another."""

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
        """Make it ready for some files.

        Args:
            root: The project's folder.
            settings: The settings.
            files: The files of which all syntax will be needed; any file can be judged.
            every: Whether those of them that have nothing to do with MCP are looked at too.
            alone: Whether the files are linted by themselves, so that other files may register what they define.
            hashes: Whether results tell what stands for the content of their file, as those have to that are kept.
        """
        self.settings = settings
        self.files = files
        self.every = every
        self.hashes = hashes
        self.alone = alone
        self.project = Project(root, source_roots=settings.source_roots, reads_whole=self._looks_at)
        self.hierarchy = Hierarchy(self.project, settings.exceptions)
        self.graph = CallGraph(self.project, self.hierarchy, settings.raises)
        self.tools: dict[str, list[ToolDef]] = {}
        self.tool_names: frozenset[str] | None = None
        """All tools of the project, once they are known."""
        self.tools_unknown = False
        """Whether some tool's name cannot be known, so that no rule may say that one does not exist."""
        self.given: dict[str, bytes] = {}
        """Contents that go before those on disk."""
        self._reached: dict[Handler, Reach] = {}
        self._prints = ImportSearch(self.project, may_write)
        per_file = bool(settings.per_file)
        self.rules = [rule for rule in all_rules().values() if per_file or selected(rule, settings)]
        self._hooks = {rule.id: _Hooks(rule) for rule in self.rules}
        self.mentions = any(self._hooks[rule.id].file and not is_ours(rule) for rule in self.rules)
        """Whether every file that speaks of mcpcore counts: a rule of the project's own may look at any."""

    def _looks_at(self, absolute: str, raw: bytes) -> bool:
        return absolute in self.files and (self.every or self.speaks(absolute, raw))

    def speaks(self, absolute: str, raw: bytes) -> bool:
        """Whether a file may define tools, by its bytes, or because the settings name functions of its module."""
        if speaks_of_mcp(raw, mentions=self.mentions):
            return True
        handlers = self.settings.handlers
        return bool(handlers) and names_module(handlers, self.project.module_name(absolute)[0])

    # -- what rules and files share --------------------------------------------------------------------------------

    def per_file(self, path: str) -> tuple[PerFile, ...]:
        """The per-file settings that match a path."""
        return tuple(each for each in self.settings.per_file if each.matches(path))

    def rules_for(self, path: str) -> list[Rule]:
        """The rules that are on for a file."""
        matching = self.per_file(path)
        if not matching and not self.settings.per_file:
            return self.rules
        return [rule for rule in self.rules if selected(rule, self.settings, matching)]

    def names(self) -> ToolNames | None:
        """The names of all tools, for one file."""
        return None if self.tools_unknown else ToolNames(self.tool_names)

    def find_tools(self, module: Module) -> list[ToolDef]:
        """The tools of a file."""
        found = self.tools.get(module.path)
        if found is None:
            builder = Builder(module, self.hierarchy)
            found = builder.tools()
            if self.settings.handlers:
                found += named_tools(builder, self.settings.handlers, found, self.project.root)
            self.tools[module.path] = found
        return found

    def reach(self, tool: ToolDef) -> Reach:
        """What comes out of the functions that a handler calls."""
        found = self._reached.get(tool.handler)
        if found is None:
            found = self.graph.reach(tool.handler)
            self._reached[tool.handler] = found
        return found

    def writes(self, tool: ToolDef) -> tuple[ReachedWrite, ...]:
        """What writes to standard output in a handler, or in what it calls."""
        # To follow the calls of a tool costs much more than to search the files for `print`.
        if not any(self._prints.found_from(module.absolute) for module in {tool.module, tool.handler.module}):
            return ()
        return self.reach(tool).writes

    # -- one file --------------------------------------------------------------------------------------------------

    def give(self, absolute: str, raw: bytes) -> None:
        """Take the content of a file that goes before what is on disk."""
        from mcpcore_lint.syntax.source import Source

        self.given[absolute] = raw
        with contextlib.suppress(SourceError):  # told when the file is read
            self.project.give(absolute, Source.from_bytes(self.project.display_path(absolute), raw))

    def read(self, absolute: str, *, every: bool) -> FileResult:
        """Read a file from disk and judge it; where not `every`, only if it has to do with MCP."""
        if absolute in self.given:
            return self.content(absolute, self.given[absolute], every=every)
        try:
            with open(absolute, "rb", buffering=0) as file:
                raw = file.read()
        except OSError as error:
            shown = self.project.display_path(absolute)
            failure = Failure(shown, f"cannot be read: {error.strerror or error}")
            return FileResult(shown, b"", relevant=True, has_suppressions=False, failures=(failure,))
        return self.content(absolute, raw, every=every)

    def content(self, absolute: str, raw: bytes, *, every: bool) -> FileResult:
        """Judge the content of a file."""
        digest = self._digest(raw)
        relevant = self.speaks(absolute, raw)
        if not relevant and not every:
            return irrelevant(digest)
        shown = self.project.display_path(absolute)
        suppresses = relevant and SUPPRESSION in raw
        try:
            module = self.project.module_of_bytes(absolute, raw)
        except SourceError as error:
            found = (parse_error(shown, error, self.settings),) if self._on("parse-error", shown) else ()
            return FileResult(shown, digest, relevant=True, has_suppressions=suppresses, diagnostics=found)
        except Exception as error:  # noqa: BLE001 - as below
            failure = crash(shown, None, error)
            return FileResult(shown, digest, relevant=True, has_suppressions=False, failures=(failure,))
        result = self.module(absolute, module, digest, suppresses=suppresses)
        return self.with_tools_elsewhere(module, result) if self.alone and not result.tools else result

    def _digest(self, raw: bytes) -> bytes:
        if not self.hashes:
            return b""
        from mcpcore_lint.runner.cache import content_hash

        return content_hash(raw)

    def module(self, absolute: str, module: Module, digest: bytes = b"", *, suppresses: bool = False) -> FileResult:
        """Judge a file that was parsed."""
        failures: list[Failure] = []
        state = FileState(self, module)
        try:
            state.tools = self.find_tools(module)
        except Exception as error:  # noqa: BLE001 - a crash is reported with its file, and the others go on
            failures.append(crash(module.path, None, error))
        records = tuple(self._records(state.tools))
        external: tuple[str | None, ...] = ()
        try:
            external = external_tools(module)
        except Exception as error:  # noqa: BLE001 - as above
            failures.append(crash(module.path, None, error))
        for rule in self.rules_for(module.path):
            try:
                self._apply(rule, state)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - one rule's crash on one file is told, and the rest goes on
                failures.append(crash(module.path, rule, error))
        consulted, missing = self.project.dependencies(absolute)
        names = state.names
        return FileResult(
            module.path,
            digest,
            relevant=True,
            has_suppressions=suppresses,
            diagnostics=tuple(state.diagnostics),
            failures=tuple(failures),
            tools=records,
            asked=tuple(sorted(names.asked)) if names is not None else (),
            exact=names is not None and names.exact,
            consulted=tuple(sorted(consulted)),
            missing=tuple(sorted(missing)),
            external=external,
        )

    def with_tools_elsewhere(self, module: Module, result: FileResult) -> FileResult:
        """The result of a file by itself, with what the rules say of those of its functions that others register."""
        from mcpcore_lint.runner.elsewhere import registered_elsewhere

        failures = list(result.failures)
        # The outcome rests on files that are only searched, so that nobody keeps it.
        result = result._replace(digest=b"")
        try:
            match = registered_elsewhere(self, module)
        except Exception as error:  # noqa: BLE001 - as above
            return result._replace(failures=(*failures, crash(module.path, None, error)))
        if match is None:
            return result
        other, tools = match
        state = FileState(self, other)
        state.tools = tools
        for rule in self.rules_for(module.path):
            try:
                self._apply(rule, state, tools_alone=True)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - as above
                failures.append(crash(module.path, rule, error))
        names = state.names
        mine = [each for each in state.diagnostics if each.path == module.path]
        return result._replace(
            diagnostics=tuple(dict.fromkeys((*result.diagnostics, *mine))),
            failures=tuple(failures),
            tools=tuple(self._records(tools)),
            asked=tuple(sorted({*result.asked, *(names.asked if names is not None else ())})),
            exact=result.exact or (names is not None and names.exact),
        )

    def _apply(self, rule: Rule, state: FileState, *, tools_alone: bool = False) -> None:
        hooks = self._hooks[rule.id]
        of_tools = state.tools and (hooks.tool or hooks.handler)
        of_file = hooks.file and not tools_alone
        if not of_file and not of_tools:
            return
        context = RuleContext(state, rule)
        if of_tools and not hooks.handler:
            for tool in state.tools:
                rule.check_tool(tool, context)
        elif of_tools:
            for tool, first in state.registered:
                if hooks.tool:
                    rule.check_tool(tool, context)
                if first:
                    rule.check_handler(tool.handler, tool, context)
        if of_file:
            rule.check_file(state.module, context)

    @staticmethod
    def _records(tools: Iterable[ToolDef]) -> Iterator[ToolRecord]:
        for each in tools:
            yield ToolRecord(
                string(each.name),
                each.kind,
                each.flavour,
                each.server,
                each.handler.qualname,
                each.handler.module.path,
                each.span,
                in_test(each),
            )

    def _on(self, rule_id: str, path: str) -> bool:
        rule = all_rules().get(rule_id)
        return rule is None or selected(rule, self.settings, self.per_file(path))

    def trim(self) -> None:
        """Forget the syntax of what was read, once it is much; what functions throw is kept."""
        if self.project.loaded_lines > LOADED_LINES:
            self.project.forget()
            self.tools.clear()
            self._reached.clear()

    # -- the run as a whole ----------------------------------------------------------------------------------------

    def project_rules(self, tools: Sequence[ToolRecord]) -> tuple[list[Diagnostic], list[Failure]]:
        """What the rules say of all tools together."""
        found: list[Diagnostic] = []
        failures: list[Failure] = []
        for rule in self.rules:
            if not self._hooks[rule.id].project or not selected(rule, self.settings):
                continue
            try:
                rule.check_project(tools, ProjectContext(self.settings, rule, found.append))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - as above
                failures.append(crash("", rule, error))
        return found, failures

    def suppress(self, absolute: str, diagnostics: Sequence[Diagnostic]) -> tuple[list[Diagnostic], int, list[Failure]]:
        """Take out the findings of one file that its comments suppress, and look at those comments."""
        from mcpcore_lint.runner.suppress import Suppressions

        shown = self.project.display_path(absolute)
        failures: list[Failure] = []
        module = self.project.module_at(shown)
        if module is None:
            return list(diagnostics), 0, failures
        suppressions = Suppressions(module.source, module.tree)
        kept = [each for each in diagnostics if not suppressions.suppresses(each)]
        hidden = len(diagnostics) - len(kept)
        if suppressions.all:
            state = FileState(self, module)
            active = self.rules_for(module.path)
            names = {each.id for each in active}
            for rule in active:
                check = getattr(rule, "check_suppressions", None)
                if check is None:
                    continue
                try:
                    check(suppressions, names, RuleContext(state, rule))
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # noqa: BLE001 - as above
                    failures.append(crash(module.path, rule, error))
            kept.extend(each for each in state.diagnostics if not suppressions.suppresses(each, by_name=True))
        return kept, hidden, failures


class _Hooks:
    """Which hooks a rule has."""

    def __init__(self, rule: Rule) -> None:
        kind = type(rule)
        self.tool = kind.check_tool is not Rule.check_tool
        self.handler = kind.check_handler is not Rule.check_handler
        self.file = kind.check_file is not Rule.check_file
        self.project = kind.check_project is not Rule.check_project


def crash(path: str, rule: Rule | None, error: BaseException) -> Failure:
    """A crash on a file."""
    import traceback

    limit = 30 if isinstance(error, RecursionError) else None
    detail = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=limit))
    who = f"the rule {rule.id}" if rule is not None else "the linter"
    text = " ".join(str(error).split())[:200]
    return Failure(path, f"{who} crashed: {type(error).__name__}: {text}", rule.id if rule else None, detail)


def parse_error(path: str, error: SourceError, settings: Settings) -> Diagnostic:
    """The finding for a file that is not valid Python."""
    severity = settings.severities.get("parse-error", Severity.ERROR)
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return Diagnostic(
        "parse-error",
        severity,
        path,
        error.span,
        f"the file cannot be read as {version}: {error.message}",
        "correct the syntax, run the linter under the Python that the file is written for, or exclude the file; "
        "the other files are checked all the same",
    )


def related_names(root: str, names: Iterable[str], settings: Settings, skip: AbstractSet[str]) -> frozenset[str]:
    """Tools that other files of the project define under some names: for runs over a part of the project."""
    from mcpcore_lint.runner.discover import Walk

    asked = frozenset(names)
    wanted = [name.encode("utf-8", "surrogatepass") for name in asked]
    option = OPTION.encode()
    found: set[str] = set()
    judge: Judge | None = None
    for path in Walk(settings, root).run([root]).files:
        if path in skip:
            continue
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except OSError:
            continue
        # A list of other servers' tools may name constants of a third file.
        if not (option in raw or any(name in raw for name in wanted)):
            continue
        judge = judge or Judge(root, settings)
        if not judge.speaks(path, raw):
            continue
        try:
            module = judge.project.module_of_bytes(path, raw)
            tools = judge.find_tools(module)
            external = external_tools(module)
        except Exception:  # noqa: BLE001, S112 - a file that is not asked about must not fail the one that is
            continue
        found.update(name for name in (string(each.name) for each in tools if each.kind == "tool") if name is not None)
        if None in external:
            found.update(asked)
        found.update(name for name in external if name is not None)
        judge.trim()
    return frozenset(found)


__all__ = ["FileResult", "FileState", "Judge", "ToolNames", "crash", "parse_error", "related_names"]
