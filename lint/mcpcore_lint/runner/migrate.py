"""Runs the codemods of `mcpcore migrate` over the files of some paths, in passes until nothing changes."""

from __future__ import annotations

import contextlib
import gc
import os
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.codemods import require_libcst
from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.diagnostics import Edit, Failure
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.migrate.callers import Callers, Helpers
from mcpcore_lint.migrate.classes import new_classes
from mcpcore_lint.migrate.contracts import Names, Writer
from mcpcore_lint.migrate.following import follow
from mcpcore_lint.migrate.imports import unused
from mcpcore_lint.migrate.model import RULES, Left
from mcpcore_lint.migrate.options import plan_options
from mcpcore_lint.migrate.plan import FilePlan, leaving_tools, plan_reached, plan_tools
from mcpcore_lint.migrate.renames import ATTRIBUTES
from mcpcore_lint.migrate.report import FILES, left_in_requirements, merged
from mcpcore_lint.migrate.server import Project, Renaming, plan_middleware
from mcpcore_lint.paths import below, upwards
from mcpcore_lint.records import in_test_file
from mcpcore_lint.runner.checker import Checker, crashes
from mcpcore_lint.runner.files import content_of, put_in_place, real_paths
from mcpcore_lint.runner.groups import Group, base_of, find_groups
from mcpcore_lint.runner.patch import FixedFile
from mcpcore_lint.runner.trial import Experiment, Tried

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope
    from mcpcore_lint.migrate.classes import Leaving
    from mcpcore_lint.migrate.model import Place
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.runner.trial import Trial

MAX_PASSES: Final = 12
_VERSION_1: Final = re.compile(
    rb"mcp\.server\.fastmcp|\bMcpError\b|mcp\.server import [^\n]*FastMCP|\bimport fastmcp|from fastmcp"
)
_CONCERNS: Final = re.compile(
    rb"mcp|MCP|" + b"|".join(rb"\b%b\b" % name.encode() for name in ATTRIBUTES), re.IGNORECASE
)
_TESTS: Final = re.compile(
    r"^\s*(?:async\s+)?def test_|^\s*class Test|\bimport (?:pytest|unittest)\b|^from pytest", re.MULTILINE
)


class Migration(NamedTuple):
    """The outcome of a run."""

    files: tuple[FixedFile, ...]
    """The files that change, by the paths that reports show."""
    left: tuple[Left, ...]
    """What is left; its lines are those of the files as they are after the run."""
    converted: tuple[tuple[str, str, int, str], ...]
    """The places that were converted: path, rule, line and tool."""
    failures: tuple[Failure, ...]
    tools: int
    removed: tuple[Left, ...] = ()
    """The clauses that caught everything and went, or raise again now, by their lines before the run."""
    tried: Tried | None = None
    """What came of importing the files, and of the command of the project; None if nothing was asked for."""

    @property
    def exit_code(self) -> int:
        """0 if nothing is left to do, 1 if something is, 2 if a file could not be read or written."""
        tried = self.tried or Tried()
        return 2 if self.failures else int(bool(self.left or tried.undone or tried.broken or tried.worse))


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
    base = base_of(groups)
    run = _Run(groups, base, chosen)
    # The garbage collector would walk the syntax trees again and again while more are made.
    enabled = gc.isenabled()
    gc.disable()
    try:
        for group in groups:
            run.migrate(group)
        return run.outcome(named if write else None, trial)
    finally:
        if enabled:
            gc.enable()


class _Run:
    """The state of a run."""

    def __init__(self, groups: Sequence[Group], base: str, rules: frozenset[str]) -> None:
        self.groups = groups
        self.base = base
        self.rules = rules
        self.raw: dict[str, bytes] = {}
        """The contents on disk of the files that concern the run, by absolute path."""
        self.contents: dict[str, bytes] = {}
        """The contents of the files that change."""
        self.trees: dict[str, tuple[bytes, ast.Module]] = {}
        """The syntax of the files, each with the contents that it is of: most passes change few of them."""
        self.moves: dict[str, list[_Moves]] = {}
        """How the lines of these files moved, pass by pass."""
        self.left: list[tuple[str, Left]] = []
        """What is left, with the absolute path."""
        self.converted: list[tuple[str, str, int, str]] = []
        self.asserted: list[tuple[str, Left]] = []
        """The asserts of tests about failures that tools returned before."""
        self.removed: list[Left] = []
        """The clauses that catch everything, with their lines on disk."""
        self.failures: list[Failure] = []
        self.tools = 0

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
            state = (
                dict(self.contents),
                list(self.converted),
                list(self.removed),
                {path: [*moves] for path, moves in self.moves.items()},
            )
            last = self._passes(group, {path: raw for path, raw in files.items() if path not in crashed}, crashed)
            if len(crashed) == before:
                break
            self.contents, self.converted, self.removed, self.moves = state
        self.failures += (failure._replace(path=self.shown(path)) for path, failure in crashed.items())
        self.tools += last.tools
        self.left += [*last.left, *self.asserted]
        self.left += self._requirements(group)
        self.left = list(dict.fromkeys(self.left))

    def _passes(self, group: Group, files: dict[str, bytes], crashed: dict[str, Failure]) -> _Pass:
        """Make passes over some files until nothing changes, or the analysis of one of them crashes; the last pass."""
        version_1 = any(_VERSION_1.search(raw) for raw in files.values())
        exported: dict[tuple[str, str], str] = {}
        known = len(crashed)
        left = MAX_PASSES
        while True:
            left -= 1
            current = _Pass(self, group, files, exported, crashed, version_1=version_1)
            edits = current.run()
            if len(crashed) > known:
                break
            places = [(path, left._replace(line=self._before(path, left.line))) for path, left in current.removed]
            self.asserted += current.asserted
            made = self._apply(edits, crashed)
            if len(crashed) > known:
                break
            exported = {**exported, **current.exported}
            self.converted += [place for path, place in current.converted if path in made]
            self.removed += [left._replace(path=self.shown(path)) for path, left in places if path in made]
            if not (made and left):
                break
        return current

    def _read(self, group: Group) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for path in sorted(group.walk.files):
            raw = content_of(path)
            if raw is None:  # pragma: no cover - the file went away after it was found
                self.failures.append(Failure(self.shown(path), "cannot be read"))
            elif _CONCERNS.search(raw) or (b"pytest" in raw and in_test_file(self.shown(path))):
                files[path] = self.raw[path] = raw
        return files

    def _apply(self, edits: Mapping[str, Sequence[Edit]], crashed: dict[str, Failure]) -> set[str]:
        """Make the edits of one pass, file by file; return the files that changed."""
        made: set[str] = set()
        for path, changes in edits.items():
            with _guarded(crashed, path):
                if changes and self._change(path, changes, crashed):
                    made.add(path)
        return made

    def _change(self, path: str, changes: Sequence[Edit], crashed: dict[str, Failure]) -> bool:
        """Make the edits of one file; whether it changed."""
        raw = self.contents.get(path, self.raw[path])
        source = Source.from_bytes(self.shown(path), raw)
        changed = _disjoint(changes)
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
        if new == raw:  # pragma: no cover - a guard; no source gets here
            return False
        self.contents[path] = new
        self.trees[path] = new, tree
        self.moves.setdefault(path, []).append(_Moves(source, changed))
        return True

    def _requirements(self, group: Group) -> list[tuple[str, Left]]:
        if "server" not in self.rules:
            return []
        roots = {os.path.abspath(path) for path in group.paths if os.path.isdir(path)} | {group.config.root}
        folders = {
            folder for root in roots for folder in (root, *upwards(root)) if folder.startswith(group.config.root)
        }
        left: list[tuple[str, Left]] = []
        for folder in sorted(folders):
            for name in FILES:
                path = os.path.join(folder, name)
                raw = content_of(path) if os.path.isfile(path) else None
                if raw is not None:
                    text = raw.decode("utf-8", "replace")
                    left += [(path, remaining) for remaining in left_in_requirements(self.shown(path), text)]
        return left

    def _before(self, path: str, line: int) -> int:
        """The line on disk of a line of a file as it would be after the run."""
        for moves in reversed(self.moves.get(path, ())):
            line = moves.before(line)
        return line

    # -- the outcome ---------------------------------------------------------------------------------------------------

    def _experiment(self, trial: Trial) -> Experiment | None:
        """The files that change and are no tests, as they are before that."""
        paths = [path for path in self.contents if not in_test_file(self.shown(path))]
        return Experiment(trial, paths, self.base) if paths or trial.check else None

    def _restore(self, path: str, named: tuple[str, ...] | None) -> None:
        """Put back a file as it was."""
        put_in_place(path, self.raw[path], expected=self.contents[path], named=named)

    def outcome(self, named: tuple[str, ...] | None, trial: Trial | None) -> Migration:
        """Write the files below some real paths, or none; return what changed and what is left."""
        files: list[FixedFile] = []
        experiment = self._experiment(trial) if trial is not None and named is not None else None
        for path, new in sorted(self.contents.items()):
            old = self.raw[path]
            if named is not None:
                try:
                    put_in_place(path, new, expected=old, named=named)
                except OSError as error:
                    self.failures.append(Failure(self.shown(path), f"not written: {error.strerror or error}"))
                    continue
            with crashes(self.failures, self.shown(path)):
                before, after = (Source.from_bytes(path, raw).text for raw in (old, new))
                files.append(FixedFile(self.shown(path), before, after, 1))
        tried = None
        if experiment is not None:
            tried = experiment.outcome(lambda path: self._restore(path, named))
            undone = {self.shown(path) for path, _ in tried.undone}
            files = [file for file in files if file.path not in undone]
            self.converted = [place for place in self.converted if place[0] not in undone]
            self.removed = [clause for clause in self.removed if clause.path not in undone]
        left = [remaining._replace(path=self.shown(path)) for path, remaining in self.left]
        if named is None:
            left = [
                remaining._replace(path=self.shown(path), line=self._before(path, remaining.line))
                for path, remaining in self.left
            ]
        return Migration(
            tuple(files),
            tuple(merged(left)),
            tuple(self.converted),
            tuple(self.failures),
            self.tools,
            tuple(merged(self.removed)),
            tried,
        )


class _Moves:
    """From lines after some edits to those before them."""

    def __init__(self, source: Source, edits: Iterable[Edit]) -> None:
        self._starts: list[int] = []
        self._hunks: list[tuple[int, int, int]] = []
        """The lines that are new, the line before the edit, and the lines that are gone."""
        shift = 0
        for edit in edits:
            (first, _), (last, column) = source.position(edit.start), source.position(edit.end)
            new = len(Source("", edit.text).line_starts)
            gone = last - first + 1
            if column == 1 and edit.text.endswith(("\n", "\r")):
                new, gone = new - 1, gone - 1  # the line behind the edit stays as it was
            self._starts.append(first + shift)
            shift += new - gone
            # An edit may drop the lines that it begins with, such as `try:`, and keep what follows.
            opening = edit.text.partition("\n")[0].strip()
            same = (number for number in range(gone) if opening and source.line(first + number).strip() == opening)
            head = next(same, 0)
            self._hunks.append((new, first + head, gone - head))

    def before(self, line: int) -> int:
        """The line before the edits at which this one was, or that it replaces."""
        place = bisect_right(self._starts, line) - 1
        if place < 0:
            return line
        new, first, gone = self._hunks[place]
        beyond = line - self._starts[place]
        return min(first + beyond, first + max(gone - 1, 0)) if beyond < new else first + gone + beyond - new


def _disjoint(edits: Sequence[Edit]) -> list[Edit]:
    """The edits of a pass without those that overlap an earlier one; these come in the next pass."""
    chosen: list[Edit] = []
    for edit in sorted(set(edits)):
        if not chosen or edit.start >= chosen[-1].end:  # pragma: no branch - a guard, like `_touch`
            chosen.append(edit)
    return chosen


class _Pass:
    """One pass over the files of a project."""

    def __init__(
        self,
        run: _Run,
        group: Group,
        files: dict[str, bytes],
        exported: Mapping[tuple[str, str], str],
        crashed: dict[str, Failure],
        *,
        version_1: bool,
    ) -> None:
        self._run = run
        self._group = group
        self._files = files
        self._exported = exported
        self._crashed = crashed
        self._version_1 = version_1
        self.exported: dict[tuple[str, str], str] = {}
        self.left: list[tuple[str, Left]] = []
        self.converted: list[tuple[str, tuple[str, str, int, str]]] = []
        self.removed: list[tuple[str, Left]] = []
        self.asserted: list[tuple[str, Left]] = []
        """The asserts of tests about failures that tools returned until this pass."""
        self.tools = 0
        settings = group.config.settings
        self.checker = Checker(group.config.root, settings, files=files.keys(), every=True)
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
                    pattern, decide = "parse-error", f"{error.message}; correct the file and run again"
                    self.left.append((path, Left(run.shown(path), error.span.line, (), pattern, decide)))
        self._edits: dict[str, list[Edit]] = {}

    def _guarded(self, path: str) -> contextlib.AbstractContextManager[None]:
        return _guarded(self._crashed, path)

    def run(self) -> Mapping[str, Sequence[Edit]]:
        """The edits of the pass by file. The tools wait until no name changes any more."""
        if "server" in self._run.rules:
            self._rename()
            if any(self._edits.values()):
                return self._edits
            for path, module in self.modules.items():
                with self._guarded(path):
                    options, left, gone = plan_options(module)
                    self._edits.setdefault(path, []).extend(options)
                    self.left += [(path, remaining) for remaining in left]
                    self.removed += [(path, option) for option in gone]
                    if not _is_test(module) and not options:
                        edits, left = plan_middleware(module)
                        self._edits.setdefault(path, []).extend(edits)
                        self.left += [(path, remaining) for remaining in left]
        self._convert()
        if "helper" in self._run.rules and not any(self._edits.values()):
            self._reach()
        if not any(self._edits.values()):
            self._tidy()
        return self._edits

    def _rename(self) -> None:
        owned = {
            name
            for module in self.modules.values()
            for info in module.classes.values()
            for name in (*info.attributes, *info.instance_attributes, *info.methods)
        }
        fields = frozenset(ATTRIBUTES) - owned if self._version_1 else frozenset()
        project = Project(fields, self._exported)
        for path, module in self.modules.items():
            with self._guarded(path):
                renaming = Renaming(module, project)
                renaming.run()
                self.exported.update(renaming.exported)
                self._edits[path] = renaming.edits
                self.left += [(path, remaining) for remaining in renaming.left]

    def _convert(self) -> None:
        tools = self._tools(self.checker, self.modules, bodies=False)
        handlers: set[ast.AST] = {tool.handler.node for group in tools.values() for tool in group}
        self.tools = len(handlers)
        sources = [module for module in self.modules.values() if not _is_test(module)]
        hierarchy = self.checker.hierarchy
        callers = Callers(sources, hierarchy, handlers, frozenset(self._group.walk.files), self._guarded)
        helpers = Helpers(hierarchy, handlers, self._guarded)
        failures: dict[ast.AST, Sequence[tuple[Place, Scope]]] = {}
        whole: set[ast.AST] = set()
        for path, group in tools.items():
            with self._guarded(path):
                plan = plan_tools(self.modules[path], group, self._run.rules, callers, helpers, hierarchy)
                self._take(path, plan)
                failures.update(plan.failures)
                whole |= plan.whole
        self._follow(self.modules, failures, whole)

    def _follow(
        self,
        modules: Mapping[str, Module],
        failures: Mapping[ast.AST, Sequence[tuple[Place, Scope]]],
        whole: Collection[ast.AST],
    ) -> None:
        """Let the tests follow the tools that change."""
        for path, module in modules.items() if failures else ():
            with self._guarded(path):
                if _is_test(module):
                    edits, left = follow(module, failures, whole)
                    self._edits.setdefault(path, []).extend(edits)
                    self.asserted += [(path, remaining) for remaining in left]

    def _reach(self) -> None:
        """Follow the tools into the functions that they call, once everything else is done."""
        checker = Checker(self._group.config.root, self._group.config.settings, files=self._files.keys(), every=True)
        modules: dict[str, Module] = {}
        for path in self.modules:
            with self._guarded(path):
                raw, tree = self._run.trees[path]
                modules[path] = checker.project.module_of_bytes(path, raw, tree)
                modules[path].complete()
        tools = self._tools(checker, modules, bodies=True)
        leaving: list[Leaving] = []
        for path, group in tools.items():
            with self._guarded(path):
                leaving += leaving_tools(group, checker.reach, checker.hierarchy)
        files = frozenset(self._group.walk.files)
        for module, edits in new_classes(leaving, files).items():
            if not _is_test(module):
                self._known(module)
                self._edits.setdefault(module.absolute, []).extend(edits)
        if any(self._edits.values()):
            return
        failures: dict[ast.AST, Sequence[tuple[Place, Scope]]] = {}
        for path, group in tools.items():
            with self._guarded(path):
                plan = plan_reached(modules[path], group, checker.reach, checker.hierarchy)
                self._take(path, plan)
                failures.update(plan.failures)
        self._follow(modules, failures, ())

    def _tidy(self) -> None:
        """Remove the imports that the passes before this one left without a use."""
        for path in self._run.contents.keys() & self.modules.keys():
            with self._guarded(path):
                before = parse(Source.from_bytes(path, self._run.raw[path]))
                others = [other for known, other in self.modules.items() if known != path]
                self._edits.setdefault(path, []).extend(unused(self.modules[path], before, others))

    def _tools(self, checker: Checker, modules: Mapping[str, Module], *, bodies: bool) -> dict[str, list[ToolDef]]:
        """The tools by the file of their function."""
        tools: dict[str, list[ToolDef]] = {}
        for module in list(modules.values()):
            if _is_test(module):
                continue
            with self._guarded(module.absolute):
                for tool in checker.find_tools(module, bodies=bodies):
                    home = tool.handler.module
                    if tool.kind == "tool" and home.absolute in modules and not _is_test(home):
                        tools.setdefault(home.absolute, []).append(tool)
        return tools

    def _take(self, path: str, plan: FilePlan) -> None:
        """Note what a plan changes and leaves."""
        self._edits.setdefault(path, []).extend(plan.edits)
        self.left += [(self._absolute(remaining.path, path), remaining) for remaining in plan.left]
        self.removed += [(path, clause) for clause in plan.removed]
        self.converted += [(path, (self._run.shown(path), *place)) for place in plan.converted]
        for shield in plan.shields:
            self._shield(shield.module, shield.node)

    def _absolute(self, shown: str, path: str) -> str:
        return path if shown == self.modules[path].path else self.checker.project.absolute(shown)

    def _known(self, module: Module) -> None:
        """Have a file among those that the run reads, also if it says nothing of MCP."""
        if module.absolute not in self._files:
            self._files[module.absolute] = self._run.raw[module.absolute] = module.source.to_bytes(module.source.text)

    def _shield(self, module: Module, node: ast.Try) -> None:
        """Let failures pass through a decorator of another file."""
        self._known(module)
        names = Names(module)
        edits = [Writer(module, names).shield(node, names), *names.edits({("mcpcore", "CodedError")})]
        known = self._edits.setdefault(module.absolute, [])
        known += [edit for edit in edits if edit not in known]


@contextlib.contextmanager
def _guarded(crashed: dict[str, Failure], path: str) -> Iterator[None]:
    """Go on without a file if its analysis crashes, or if it cannot be read or encoded."""
    failures: list[Failure] = []
    with crashes(failures, path):
        yield
    for failure in failures:
        crashed.setdefault(path, failure)


def _is_test(module: Module) -> bool:
    """Whether a file is one of tests. A source file may be called `test_runs.py`."""
    path = module.path
    if not in_test_file(path):
        return False
    in_folder = in_test_file("/".join([*path.split("/")[:-1], "_.py"]))
    return in_folder or path.endswith("conftest.py") or _TESTS.search(module.source.text) is not None
