"""Runs the codemods of `mcpcore migrate` over the files of some paths, in passes until nothing changes."""

from __future__ import annotations

import ast
import gc
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from itertools import chain
from typing import Final

from mcpcore_lint.codemods import require_libcst
from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.diagnostics import Edit, Failure
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.frameworks import is_of_version_2
from mcpcore_lint.migrate import requirements
from mcpcore_lint.migrate.callers import Callers, Helpers, asserted, follow, is_test
from mcpcore_lint.migrate.catching import is_plain
from mcpcore_lint.migrate.expectations import admits_failures, changes_between, expectations, reasons
from mcpcore_lint.migrate.imports import ordered, shortened, unused, used_names
from mcpcore_lint.migrate.lowlevel import LOW_LEVEL, NEW, REGISTERS, SUCCESS, Marker, names_server, plan_servers
from mcpcore_lint.migrate.middleware import doubles, plan_middleware
from mcpcore_lint.migrate.model import RULES, STOPS, Left, merged, stopped
from mcpcore_lint.migrate.options import RUNS, Servers, plan_options, servers_of
from mcpcore_lint.migrate.plan import FilePlan, lines_of, plan_tools
from mcpcore_lint.migrate.prompts import refused
from mcpcore_lint.migrate.reached import imported_by, unresolved_lines
from mcpcore_lint.migrate.renames import ATTRIBUTES, members_renamed
from mcpcore_lint.migrate.server import Project, Renaming
from mcpcore_lint.model import ToolDef
from mcpcore_lint.paths import below
from mcpcore_lint.records import in_test_file
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules import all_rules
from mcpcore_lint.runner.checker import Checker, FileState, crashes, guarded
from mcpcore_lint.runner.files import content_of, put_in_place, real_paths
from mcpcore_lint.runner.groups import Group, base_of, find_groups, listing
from mcpcore_lint.runner.installing import plans
from mcpcore_lint.runner.outcome import Located, Migration, Tried
from mcpcore_lint.runner.patch import FixedFile, Moves, disjoint
from mcpcore_lint.runner.trial import Experiment, Program, Trial, programs

MAX_PASSES: Final = 12
_VERSION_1: Final = re.compile(
    rb"mcp\.server\.fastmcp|\bMcpError\b|mcp\.server import [^\n]*FastMCP|\bimport fastmcp|from fastmcp"
)
_WORDS: Final = b"|".join([b"mcp", RUNS, REGISTERS.pattern, *(rb"\b%b\b" % name.encode() for name in ATTRIBUTES)])
_MARKED: Final = "let the CallToolResult that holds it have is_error=True"
_CONCERNS: Final = re.compile(_WORDS, re.IGNORECASE)


def migrate(
    paths: Sequence[str], *, rules: Iterable[str] = (), write: bool = False, trial: Trial | None = None
) -> Migration:
    """Migrate the files below some paths.

    Args:
        paths: Files and folders.
        rules: The rules to apply; all if empty.
        write: Whether to change the files.
        trial: How to try what was written; files that could be imported before and cannot any more are put back.

    Raises:
        ConfigError: If a configuration cannot be used.
        LibcstMissingError: If libcst is not installed.
    """
    require_libcst("mcpcore migrate")
    chosen = frozenset(rules) or frozenset(RULES)
    named = real_paths(paths)
    groups = find_groups(paths, lambda settings: settings._replace(include_tests=True))
    run = Run(groups, base_of(groups), chosen, named)
    # The garbage collector would walk the syntax trees again and again while more are made.
    enabled = gc.isenabled()
    gc.disable()
    try:
        for group in groups:
            run.migrate(group)
        return run.outcome(trial, write=write)
    finally:
        if enabled:
            gc.enable()


class Run:
    """The state of a run."""

    def __init__(self, groups: Sequence[Group], base: str, rules: frozenset[str], named: tuple[str, ...]) -> None:
        self.groups = groups
        self.base = base
        self.rules = rules
        self.named = named
        """The real paths that the run may change."""
        self.raw: dict[str, bytes] = {}
        """The contents on disk of the files that concern the run, by absolute path."""
        self.contents: dict[str, bytes] = {}
        """The contents of the files that change."""
        self.trees: dict[str, tuple[bytes, ast.Module]] = {}
        """The syntax of the files, each with the contents that it is of: most passes change few of them."""
        self.originals: dict[str, ast.Module] = {}
        """The syntax on disk of the files that change."""
        self.moves: dict[str, list[Moves]] = {}
        """How the lines of these files moved, pass by pass."""
        self.left: list[Located] = []
        """What is left."""
        self.converted: list[tuple[str, str, int, str]] = []
        self.removed: list[Left] = []
        """The clauses that catch everything, with their lines on disk."""
        self.failures: list[Failure] = []
        self.programs: dict[str, Program] = {}
        """What starts a server over stdio."""
        self.elsewhere: set[str] = set()
        """The files with the functions of tools."""
        self.homes: dict[str, str] = {}
        """The environment of each file."""
        self.kept: set[str] = set()
        """The environments that stay with version 1 of the SDK."""
        self.tools = 0
        self.admits = False
        """Whether a tool has an output schema that changes."""
        self.parallel: dict[str, str] = {}
        """The functions of tools that are not async, each with its file."""
        self.projects: list[tuple[Group, Mapping[str, bytes]]] = []
        """The projects, each with its files that concern the run."""
        self.requirements: dict[str, requirements.Requirements] = {}
        """What the files that list dependencies need."""

    def shown(self, absolute: str) -> str:
        """A path as the report shows it: relative to the current folder if it is below."""
        return below(absolute, os.getcwd())

    # -- passes --------------------------------------------------------------------------------------------------------

    def migrate(self, group: Group) -> None:
        """Apply the rules to the files of one project, without those that end the analysis."""
        self.failures += (failure._replace(path=self.shown(failure.path)) for failure in group.walk.failures)
        files = self._read(group)
        crashed: dict[str, Failure] = {}
        while True:
            before = len(crashed)
            # Other files may follow names that such a file would have changed, so they are migrated again without it.
            moves = {path: [*moves] for path, moves in self.moves.items()}
            state = dict(self.contents), [*self.converted], [*self.removed], moves
            left = self._passes(group, {path: raw for path, raw in files.items() if path not in crashed}, crashed)
            # The function of a tool may be in a file that does not name the protocol.
            more = {path: content_of(path) or b"" for path in self.elsewhere & {*group.walk.files} - files.keys()}
            if len(crashed) == before and not more:
                break
            files |= more
            self.raw |= more
            self.contents, self.converted, self.removed, self.moves = state
        self.failures += (failure._replace(path=self.shown(path)) for path, failure in crashed.items())
        self.left += left
        self.projects.append((group, files))

    def _passes(self, group: Group, files: dict[str, bytes], crashed: dict[str, Failure]) -> list[Located]:
        """Make passes over some files until nothing changes, or the analysis of one of them crashes; what is left.

        Each step is made again until it changes nothing. It visits all files first, and then those that changed.
        """
        # SDK 2 has no decorators for low-level servers. Unless these are rewritten, the old names are right.
        low = any(map(LOW_LEVEL.search, files.values()))
        lists = {path: content_of(path) or b"" for path in listing(group, files)}
        state = _State(crashed, version_1=low or any(map(_VERSION_1.search, files.values())), lists=lists)
        self.homes |= requirements.environments({**files, **lists}, lists)
        known = len(crashed)
        current = _Pass(self, group, files, state)
        is_plain = not names_server(current.modules.values())
        kept: set[str] = set()
        tools = 0
        new = low or any(map(NEW.search, files.values()))
        steps = (_Pass.rename, _Pass.convert, _Pass.reach, _Pass.expect, _Pass.tidy)
        for step in (*[_Pass.mark] * new, *[_Pass.adapt] * low, *steps):
            # The failures of what stays have lines.
            visited: Collection[str] = files.keys() - (kept if step is not _Pass.convert else set())
            for _ in range(MAX_PASSES):
                step(current, visited)
                tools = tools or len(current.handlers)
                removed = [(place.path, place.left._replace(line=self.line(place))) for place in current.removed]
                edits = {path: edits for path, edits in current.edits.items() if path not in kept}
                made = self._apply(edits, crashed) if len(crashed) == known else set()
                if len(crashed) > known:
                    return []
                state.exported.update(current.exported)
                self.converted += [place for path, place in current.converted if path in made]
                self.removed += [left._replace(path=self.shown(path)) for path, left in removed if path in made]
                if not made:
                    break
                visited = made | (current.naming() - kept)
                current = _Pass(self, group, files, state)
            if step is _Pass.adapt:
                self.kept |= {self.homes[place.path] for place in state.low}
                kept = {path for path in files if self.homes[path] in self.kept}
                kept = {*files} if is_plain and self.contents.keys().isdisjoint(files) else kept
        self.tools += tools
        with suppress(RecursionError):  # more functions may call each other than can be followed
            self.programs.update(programs(current.modules, current.checker.project, self.shown) if not kept else {})
        return [*chain.from_iterable(state.left.values()), *state.low]

    def _read(self, group: Group) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for path in sorted(group.walk.files):
            raw = content_of(path)
            if raw is None:  # pragma: no cover - the file went away after it was found
                self.failures.append(Failure(self.shown(path), "cannot be read"))
            elif _CONCERNS.search(raw) or (
                in_test_file(self.shown(path)) and re.search(rb"pytest|unittest|\.fn\(", raw)
            ):
                files[path] = self.raw[path] = raw
        return files

    def _apply(self, edits: Mapping[str, Sequence[Edit]], crashed: dict[str, Failure]) -> set[str]:
        """Make the edits of one pass, file by file; return the files that changed."""
        made: set[str] = set()
        for path, changes in edits.items():
            with guarded(crashed, path):
                if changes and self._change(path, changes, crashed):
                    made.add(path)
        return made

    def _change(self, path: str, changes: Sequence[Edit], crashed: dict[str, Failure]) -> bool:
        """Make the edits of one file; whether it changed."""
        raw = self.contents.get(path, self.raw[path])
        source = Source.from_bytes(self.shown(path), raw)
        changed = disjoint(changes)
        text = apply(source.text, changed)
        try:
            if source.to_bytes(source.text) != raw:
                raise SourceError(f"its bytes do not come back from the encoding {source.encoding!r}")  # noqa: TRY301
            tree = parse(Source(source.path, text))
            new = source.to_bytes(text)
        except (SourceError, UnicodeError) as error:
            # Its names do not change then, and the other files wait until no name changes any more.
            crashed[path] = Failure(path, f"the changes would break this file, so convert it by hand: {error}")
            return False
        self.originals[path] = self.originals.get(path) or self.trees.get(path, (b"", None))[1] or parse(source)
        self.contents[path] = new
        self.trees[path] = new, tree
        self.moves.setdefault(path, []).append(Moves(source, changed))
        return True

    def _require(self) -> None:
        """Plan what the files that list dependencies need, once it is known what the code imports."""
        for path in (path for path, plan in self.requirements.items() if plan.edits):
            self.contents.pop(path, None)
            self.moves.pop(path, None)
        self.requirements = {}
        for group, files in self.projects if "server" in self.rules else ():
            for path, text, plan in plans(self, group, files):
                self.requirements[path] = plan
                if plan.edits:
                    self.contents[path] = apply(text, plan.edits).encode()
                    self.moves[path] = [Moves(Source(path, text), plan.edits)]

    def line(self, place: Located, *, written: bool = False) -> int:
        """The line of a place on disk, before the run or after it."""
        line, moves = place.left.line, self.moves.get(place.path, [])
        for move in moves[place.edits :] if written else ():
            line = move.after(line)
        for move in () if written else reversed(moves[: place.edits]):
            line = move.before(line)
        return line

    # -- the outcome ---------------------------------------------------------------------------------------------------

    def _write(self, path: str, new: bytes, expected: bytes) -> bool:
        """Write a file; whether that was possible."""
        try:
            put_in_place(path, new, expected=expected, named=self.named)
        except OSError as error:
            self.failures.append(Failure(self.shown(path), f"not written: {error.strerror or error}"))
            return False
        return True

    def _restore(self, path: str) -> None:
        """Put back a file as it was."""
        if path in self.contents:
            self._write(path, self.raw[path], self.contents[path])

    def _undo(self, paths: Collection[str]) -> None:
        """Forget the changes of files that were put back; what the rest needs to be installed may be less."""
        lists = (path for path, plan in self.requirements.items() if plan.edits)
        before = {path: self.contents[path] for path in lists if path in self.contents}
        for path in paths:
            self.contents.pop(path, None)
        self._require()
        for path, old in before.items():
            if (new := self.contents.get(path, self.raw[path])) != old:
                self._write(path, new, old)
        shown = set(map(self.shown, paths))
        self.converted = [place for place in self.converted if place[0] not in shown]
        self.removed = [clause for clause in self.removed if clause.path not in shown]

    def _tried(self, trial: Trial | None, *, write: bool) -> Tried | None:
        """Write the files, and try them."""
        lists = {path for path, plan in self.requirements.items() if plan.edits}
        # The files that change and are no tests, as they are before that.
        paths = [path for path in sorted(self.contents.keys() - lists) if not in_test_file(self.shown(path))]
        wanted = trial is not None and write and (paths or trial.check)
        experiment = Experiment(trial, paths, self.base) if trial is not None and wanted else None
        for path, new in sorted(self.contents.items()) if write else ():
            if not self._write(path, new, self.raw[path]):
                del self.contents[path]
        # If a low-level server stays of version 1, so does the rest.
        together = paths if any(REGISTERS.search(self.raw[path]) for path in paths) else ()
        tried = experiment.outcome(self._restore, together) if experiment is not None else None
        if tried is not None and tried.undone:
            self._undo([path for path, _ in tried.undone])
        elif tried is not None and trial is not None and not tried.untried:
            tried = tried._replace(
                started=tuple((name, trial.start(program)) for name, program in self.programs.items())
            )
        return tried

    def outcome(self, trial: Trial | None, *, write: bool) -> Migration:
        """Write the files, or none; return what changed and what is left."""
        self._require()
        try:
            tried = self._tried(trial, write=write)
        except BaseException:
            # An interruption leaves the files as they were.
            for path in self.contents if write else ():
                self._restore(path)
            raise
        files: list[FixedFile] = []
        for path, new in sorted(self.contents.items()):
            with crashes(self.failures, self.shown(path)):
                before, after = (Source.from_bytes(path, raw).text for raw in (self.raw[path], new))
                files.append(FixedFile(self.shown(path), before, after, 1))
        planned = self.requirements.items()
        places = [*self.left, *(Located(path, line, 0) for path, plan in planned for line in plan.left)]
        left = [
            place.left._replace(path=self.shown(place.path), line=self.line(place, written=write)) for place in places
        ]
        removed = merged([*self.removed, *(line for _, plan in planned for line in plan.raised)])
        paths = {self.shown(path): path for path in self.raw}
        stopping = [(line, Located(paths.get(line.path, ""), line, 0)) for line in removed if line.stops]
        left += (line._replace(line=self.line(place, written=write)) for line, place in stopping)
        left += trial.missing(self.raw, self.shown, left) if trial is not None and write else ()
        if tried is not None and tried.runs:
            before_run, after_run = tried.runs
            tests = {path: self.contents.get(at, self.raw[at]) for path, at in paths.items()}
            tried = tried._replace(check=(*after_run.difference(before_run, reasons(left, tests)),))
        parallel = tuple(name for name, path in self.parallel.items() if self.homes.get(path) not in self.kept)
        if not parallel and not self.tools:
            parallel = ("every tool, resource and prompt",)
        return Migration(
            tuple(files), tuple(merged(left)), tuple(self.converted), tuple(self.failures), self.tools,
            tuple(line for line in removed if not line.stops), tried, parallel, self.admits or not self.tools,
        )  # fmt: skip


class _State:
    """What the passes over the files of a project share."""

    def __init__(self, crashed: dict[str, Failure], *, version_1: bool, lists: Mapping[str, bytes]) -> None:
        self.crashed = crashed
        self.version_1 = version_1
        self.sends_texts = requirements.sends_texts(lists)
        self.width = requirements.width_of(lists)
        self.typed = any(requirements.CHECKER.search(text.decode("utf-8", "replace")) for text in lists.values())
        self.exported: dict[tuple[str, str], str] = {}
        """The names that were renamed, by module and old name."""
        self.left: dict[tuple[str, str], list[Located]] = {}
        """What is left, by the step and the file that it visited."""
        self.low: list[Located] = []
        """The lines about low-level servers that cannot follow."""
        self.used_names = cache(used_names)
        self.content_of = cache(content_of)


class _Pass:
    """One pass over the files of a project."""

    def __init__(self, run: Run, group: Group, files: dict[str, bytes], state: _State) -> None:
        self._run = run
        self._group = group
        self._files = files
        self._state = state
        self.edits: dict[str, list[Edit]] = {}
        self.exported: dict[tuple[str, str], str] = {}
        self.converted: list[tuple[str, tuple[str, str, int, str]]] = []
        self.removed: list[Located] = []
        self.handlers: set[ast.AST] = set()
        self.checker = Checker(group.config.root, group.config.settings, files=files.keys(), every=True)
        self.modules: dict[str, Module] = {}
        for path, before in files.items():
            raw = run.contents.get(path, before)
            with self._guarded(path):
                try:
                    known, tree = run.trees.get(path, (b"", None))
                    module = self.checker.project.module_of_bytes(path, raw, tree if raw == known else None)
                    module.complete()
                    self.modules[path] = module
                    run.trees[path] = raw, module.tree
                except SourceError as error:
                    again = requirements.after_syntax_error(
                        content_of(os.path.join(group.config.root, "pyproject.toml")) or b""
                    )
                    shown = self.checker.project.display_path(path)
                    self._note(
                        "parse", path, [Left(shown, error.span.line, (), "parse-error", f"{error.message}; {again}")]
                    )

    def _guarded(self, path: str) -> AbstractContextManager[None]:
        return guarded(self._state.crashed, path)

    def naming(self) -> set[str]:
        """The files that have a name that this pass renamed in another one."""
        names = {name for _, name in self.exported}
        return {path for path, module in self.modules.items() if any(map(module.source.has, names))}

    def _located(self, left: Iterable[Left]) -> list[Located]:
        left = (place._replace(stops=self._stops(place)) for place in left)
        paths = [(self.checker.project.absolute(place.path), place) for place in left]
        return [Located(path, place, len(self._run.moves.get(path, ()))) for path, place in paths]

    def _stops(self, place: Left) -> int:
        """What a line stops, in a file that is no test, and holds a server or is imported by another one."""
        module = self.modules.get(self.checker.project.absolute(place.path))
        if module is None or is_test(module) or place.stops != STOPS:
            return place.stops * (place.stops != STOPS)
        others = (other for other in self.modules.values() if other is not module and not is_test(other))
        holds = names_server([module]) or module.source.has("mcp.server")
        serves = holds or any(module in imported_by(other) for other in others)
        return stopped(module.tree, place.line) if serves else 0

    def _note(self, step: str, path: str, left: Iterable[Left]) -> None:
        """Note what a step leaves in a file, instead of what it left there when it visited the file before."""
        self._state.left[step, path] = self._located(left)

    # -- the steps -----------------------------------------------------------------------------------------------------

    def mark(self, visited: Collection[str]) -> None:
        """Mark the failures that low-level servers return, if they are of version 2 of the SDK or will be."""
        tools = [tool for tools in self._tools.values() for tool in tools if tool.is_dispatcher and visited]
        marker, follows = Marker(self._callers(), self.checker.hierarchy, self._run.rules), self._handlers()[0]
        for tool in (tool for tool in tools if is_of_version_2(tool) or follows.get(tool.module.absolute)):
            with self._guarded(tool.handler.module.absolute):
                marker.mark(tool)
        for path, marks in ((path, marks) for path, marks in marker.marks() if path in self.modules):
            self.edits[path] = marks.edits
            self._note("mark", path, marks.left)
            self.converted += [(path, (self._run.shown(path), *place)) for place in marks.converted]

    def _handlers(self) -> tuple[dict[str, list[Edit]], list[Left]]:
        wanted = self.modules.items() if "server" in self._run.rules else ()
        return plan_servers({path: module for path, module in wanted if not is_test(module)}, self._run.homes)

    def adapt(self, visited: Collection[str]) -> None:
        """Register the handlers of low-level servers as version 2 of the SDK does."""
        plans, left = self._handlers()
        self.edits.update({path: plans[path] for path in visited if path in plans})
        self._state.low = self._located(left)

    def rename(self, visited: Collection[str]) -> None:
        """Rename what releases call differently. The tools wait until no name changes any more."""
        fields, managers = members_renamed(self.modules.values(), version_1=self._state.version_1)
        typed = self._state.version_1 and self._state.typed
        project = Project(fields, self._state.exported, managers, typed, self._state.sends_texts)
        for path, module in self.modules.items() if "server" in self._run.rules else ():
            with self._guarded(path):
                if path in visited:
                    renaming = Renaming(module, project)
                    renaming.run()
                    self.exported.update(renaming.exported)
                    self.edits[path] = renaming.edits
                    self._note("rename", path, [*renaming.left, *refused(module)])

    def convert(self, visited: Collection[str]) -> None:
        """Convert the failures in the functions of the tools."""
        servers, tools = servers_of(self.modules.values()), self._tools
        for path, module in self.modules.items() if "server" in self._run.rules else ():
            with self._guarded(path):
                if path in visited and self._run.homes[path] not in self._run.kept:
                    self._options(path, module, servers)
        hierarchy, callers = self.checker.hierarchy, self._callers()
        helpers = Helpers(hierarchy, self.handlers, self._guarded)
        plans: list[FilePlan] = []
        for path, group in tools.items():
            with self._guarded(path):
                if path in visited:
                    plan = plan_tools(self.modules[path], group, self._run.rules, callers, helpers, hierarchy)
                    self.edits.setdefault(path, []).extend(plan.edits)
                    self._note("convert", path, plan.left)
                    self.removed += self._located(plan.removed)
                    self.converted += [(path, (self._run.shown(path), *place)) for place in plan.converted]
                    plans.append(plan)
        # The tests follow the tools that change.
        failures = {tool: places for plan in plans for tool, places in plan.failures.items()}
        whole = {tool for plan in plans for tool in plan.whole}
        for path, module in self.modules.items() if failures else ():
            with self._guarded(path):
                if is_test(module):
                    self.edits.setdefault(path, []).extend(follow(module, failures, whole))

    def _options(self, path: str, module: Module, servers: Servers) -> None:
        names = {getattr(node, "name", "") for node in self.handlers} if is_test(module) else ()
        edits, left, gone = plan_options(module, names, servers.sites, self.edits)
        self.removed += self._located(gone)
        if not is_test(module) and not edits:
            edits, more = plan_middleware(module, servers.mounted)
            left += more
        elif module.source.has("FastMCP"):
            left += doubles(module)
        self.edits.setdefault(path, []).extend(edits)
        self._note("options", path, left)

    def reach(self, visited: Collection[str]) -> None:
        """Follow the tools into the functions that they call, once nothing else changes, and note those not found."""
        if "helper" not in self._run.rules or not visited:
            return
        for path, group in self._tools.items():
            with self._guarded(path):
                self._note("reach", path, lines_of(group, self.checker.reach, self.checker.hierarchy))
        for path, module in self.modules.items() if not self._group.config.settings.handlers else ():
            # A dispatcher already has a line.
            serves = any(tool.is_dispatcher for tool in self.checker.find_tools(module))
            self._note("unresolved", path, () if serves or is_test(module) else unresolved_lines(module))
            with self._guarded(path):
                self._note("served", path, self._unmarked(module) if serves else ())

    def _unmarked(self, module: Module) -> list[Left]:
        """The failures that a low-level server returns as successes, without those that the first step named."""
        places = chain.from_iterable(left for (step, _), left in self._state.left.items() if step == "mark")
        named = {(place.path, self._run.line(place)) for place in places}
        tools = [tool for tool in self.checker.find_tools(module) if tool.flavour == "lowlevel"]
        state = FileState(self.checker, module, tools)
        rule = all_rules()["no-error-as-data"]
        context = RuleContext(state, rule)
        for tool in (tool for tool, is_first in state.registered if is_first):
            rule.check_handler(tool.handler, tool, context)
        located = self._located(
            Left(
                finding.path, finding.span.line, finding.tools or tuple(filter(None, [finding.tool])), SUCCESS, _MARKED
            )
            for finding in state.diagnostics
        )
        return [place.left for place in located if (place.path, self._run.line(place)) not in named]

    def expect(self, visited: Collection[str]) -> None:
        """Note the expectations of tests that no longer hold."""
        tools = [*chain.from_iterable(self._tools.values())]
        converted = {tool for *_, tool in self._run.converted}
        changed = changes_between(self._files, self._run.contents, self.modules.values(), tools, converted)
        for path in self.modules if "server" in self._run.rules and visited else ():
            with self._guarded(path):
                self._note("expect", path, expectations(self.modules[path], changed))

    def tidy(self, visited: Collection[str]) -> None:
        """Remove the imports that the steps before left without a use, and break the lines that these made too long."""
        for path in self._run.contents.keys() & self.modules.keys() if visited else ():
            with self._guarded(path):
                # A file that does not name the framework may take a name from this one, too.
                rest = (at for at in self._group.walk.files if at != path)
                read = (self._run.contents.get(at) or self._state.content_of(at) for at in rest)
                others = ((raw or b"").decode("utf-8", "replace") for raw in read)
                module, before = self.modules[path], self._run.originals[path]
                edits = unused(module, before, others, self._state.used_names) or ordered(module, before)
                self.edits.setdefault(path, []).extend(
                    edits or shortened(module, self._run.raw[path], self._state.width)
                )

    # -- the tools -----------------------------------------------------------------------------------------------------

    def _callers(self) -> Callers:
        """What calls the tools, and what tests expect of them."""
        sources = [module for module in self.modules.values() if not is_test(module)]
        callers = Callers(sources, self.checker.hierarchy, self.handlers, self._guarded, self.checker.reach)
        for path, module in self.modules.items():
            if is_test(module):
                with self._guarded(path):
                    asserted(module, self.handlers, callers.asserted)
        return callers

    @cached_property
    def _tools(self) -> dict[str, list[ToolDef]]:
        """The tools by the file of their function."""
        tools: dict[str, list[ToolDef]] = {}
        for module in [module for module in self.modules.values() if not is_test(module)]:
            with self._guarded(module.absolute):
                for tool in self.checker.find_tools(module):
                    self._run.admits = self._run.admits or admits_failures(tool)
                    if is_plain(tool):
                        self._run.parallel[tool.handler.name] = tool.handler.module.absolute
                    home = tool.handler.module
                    self._run.elsewhere.add(home.absolute)
                    if tool.kind == "tool" and home.absolute in self.modules and not is_test(home):
                        tools.setdefault(home.absolute, []).append(tool)
        self.handlers = {tool.handler.node for group in tools.values() for tool in group}
        return tools
