"""Reason coverage in a run of pytest: in one process, in the workers of pytest-xdist, and in processes of tests."""

from __future__ import annotations

import ast
import shutil
import tempfile
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from mcpcore.boundary import coverage_hook
from mcpcore.boundary.coverage_hook import REASONS_VARIABLE
from mcpcore.testing.reasons.recording import Covered, Recorder, merged, within
from mcpcore.testing.reasons.reporting import FORMATS, Summary, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from _pytest.terminal import TerminalReporter


def find_sites(handlers: Sequence[Covered], root: Path) -> None:
    """Fill in `sites` of the missing reasons. A reason that its handler names itself has no other place.

    Most reasons are found this way. To load the linter takes longer than many runs of tests may lose, so it is loaded
    only for the files of handlers with other missing reasons.
    """
    by_file: dict[str, list[Covered]] = {}
    for covered in handlers:
        if covered.missing and covered.handler.file:
            by_file.setdefault(covered.handler.file, []).append(covered)
    for file, declared in by_file.items():
        own = _own_sites(file)
        for covered in declared:
            named = own.get(covered.handler.line, {})
            covered.sites = {
                reason: [(file, line) for line in named[reason]] for reason in covered.missing if reason in named
            }
    others = {
        file: declared
        for file, declared in by_file.items()
        if any(reason not in covered.sites for covered in declared for reason in covered.missing)
    }
    if not others:
        return
    from mcpcore_lint.runner.raises import places_of_reasons

    places = places_of_reasons(others, str(root))
    for covered in (covered for declared in others.values() for covered in declared):
        known = places.get((covered.handler.file, covered.handler.line), {})
        covered.sites = {reason: known[reason] for reason in covered.missing if reason in known} | covered.sites


def _own_sites(file: str) -> dict[int, dict[str, list[int]]]:
    """The lines with `….fail("reason")` in each function of a file, by the first line of the function."""
    try:
        with tokenize.open(file) as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):  # the file changed during the run, or was made by a template
        return {}
    sites: dict[int, dict[str, list[int]]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
        named = sites.setdefault(first, {})
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr="fail"), args=[ast.Constant(value=str(reason)), *_]):
                    named.setdefault(reason, []).append(node.lineno)
    return sites


_FOLDER: Final = "mcpcore_reason_coverage"
"""The key under which the controller of pytest-xdist tells its workers the folder."""


class ReasonCoverage:
    """Records what the processes of a run raise, and reports it in the process that started the others."""

    def __init__(self, config: pytest.Config, options: argparse.Namespace) -> None:
        """Start to record.

        Raises:
            UsageError: If an option is invalid.
        """
        self._reports = [_report(value) for value in options.reason_coverage_report]
        self._fail_under: float | None = options.reason_coverage_fail_under
        self._config = config
        base = config.invocation_params.dir
        self._sources = [(base / source).resolve() for source in options.reason_coverage_source]
        for source in self._sources:
            if not source.exists():
                raise pytest.UsageError(f"--reason-coverage-source: {source} does not exist")
        self._recorder = Recorder()
        self._observer_before = coverage_hook.observer
        self._environment = pytest.MonkeyPatch()
        self._folder: Path | None = None
        self._is_worker = False
        self._summary: Summary | None = None
        self._problem: str | None = None
        self._written: list[str] = []
        coverage_hook.observer = self._recorder

    def pytest_configure(self, config: pytest.Config) -> None:
        """Choose the folder of the run. Servers in other processes learn it from the environment."""
        worker_input: dict[str, Any] | None = getattr(config, "workerinput", None)
        folder = None if worker_input is None else worker_input.get(_FOLDER)
        self._is_worker = folder is not None
        self._folder = Path(folder or tempfile.mkdtemp(prefix="mcpcore-reasons-"))
        self._recorder.open(str(self._folder))
        self._environment.setenv(REASONS_VARIABLE, str(self._folder))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker the folder."""
        node.workerinput[_FOLDER] = str(self._folder)

    def pytest_collection_finish(self) -> None:
        """Let servers that the SDK starts over stdio inherit the folder; they get few variables otherwise."""
        try:
            from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
        except ImportError:  # pragma: no cover - the SDK is a dependency
            return
        DEFAULT_INHERITED_ENV_VARS.append(REASONS_VARIABLE)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Merge and write the coverage, and fail the run if too few reasons were raised."""
        if self._is_worker or self._folder is None or self._config.option.collectonly:
            return
        from mcpcore_lint.runner.files import write_text

        handlers = within(merged(self._folder), self._sources)
        root = self._config.rootpath
        find_sites(handlers, root)
        summary = self._summary = Summary(handlers, root)
        problems = []
        for name, path, write in self._reports:
            target = self._config.invocation_params.dir / path
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                write_text(str(target), write(summary))
                self._written.append(path)
            except OSError as exc:
                problems.append(f"--reason-coverage-report={name}: {target} cannot be written: {exc.strerror or exc}")
        if self._fail_under is not None:
            if not summary.declared and self._fail_under:
                problems.append("--reason-coverage-fail-under: no reason is declared in this run")
            elif summary.percent < self._fail_under:
                problems.append(
                    f"{summary.shown_percent} of the declared reasons were raised, fewer than the required "
                    f"{self._fail_under:g}%"
                )
        if problems:
            self._problem = "\n".join(problems)
            # A run that fails already keeps its exit code.
            if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print the coverage."""
        if self._summary is None:
            return
        terminalreporter.section("reason coverage")
        terminalreporter.write_line(terminal(self._summary))
        for path in self._written:
            terminalreporter.write_line(f"Written: {path}")
        if self._problem is not None:
            terminalreporter.write_line(f"FAILED: {self._problem}", red=True, bold=True)

    def pytest_unconfigure(self) -> None:
        """Stop to record, and remove the records."""
        coverage_hook.observer = self._observer_before
        self._environment.undo()
        self._recorder.close()
        if self._folder is not None and not self._is_worker:  # pragma: no branch - a worker may end before it counts
            shutil.rmtree(self._folder, ignore_errors=True)


def _report(value: str) -> tuple[str, str, Any]:
    """The name, the path and the writer of a report.

    Raises:
        UsageError: If there is no such format.
    """
    name, _, path = value.partition(":")
    if name not in FORMATS:
        raise pytest.UsageError(
            f"--reason-coverage-report: unknown format {name!r}; write one of {', '.join(FORMATS)}, or FORMAT:PATH"
        )
    default, write = FORMATS[name]
    return name, path or default, write
