"""Reason coverage in a run of pytest: in one process, in the workers of pytest-xdist, and in processes of tests.

It is written for the terminal, as JSON, as HTML and as Markdown.
"""

from __future__ import annotations

import ast
import json
import shutil
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from mcpcore.boundary import coverage_hook
from mcpcore.boundary.coverage_hook import REASONS_VARIABLE
from mcpcore.reports import html, markdown
from mcpcore.testing.reasons.recording import Covered, Recorder, merged, within
from mcpcore.values.escaping import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from _pytest.terminal import TerminalReporter


@dataclass(frozen=True, slots=True)
class Summary:
    """The coverage of all handlers of a run."""

    handlers: Sequence[Covered]
    root: Path
    """The folder to which paths are relative."""

    @property
    def declared(self) -> int:
        """The number of declared reasons."""
        return sum(len(covered.declared) for covered in self.handlers)

    @property
    def raised(self) -> int:
        """The number of declared reasons that a test raised."""
        return sum(len(covered.declared) - len(covered.missing) for covered in self.handlers)

    @property
    def percent(self) -> float:
        """The share of the declared reasons that a test raised; 100 if none is declared."""
        return 100 * self.raised / self.declared if self.declared else 100.0

    @property
    def shown_percent(self) -> str:
        """The percentage, rounded down, so that only complete coverage is shown as 100 %."""
        return f"{int(self.percent * 10) / 10:g}%"

    def place(self, file: str, line: int) -> str:
        """A file and a line, relative to the root if the file is in it."""
        path = Path(file)
        if path.is_relative_to(self.root):
            path = path.relative_to(self.root)
        return f"{path.as_posix()}:{line}"


@dataclass(frozen=True, slots=True)
class _Row:
    """One handler as all formats but JSON show it."""

    name: str
    place: str
    declared: int
    raised: int
    missing: list[tuple[str, str]]
    """Each reason that was not raised, and where it would be raised."""

    undeclared: list[str]


def _rows(summary: Summary) -> list[_Row]:
    rows = []
    for covered in summary.handlers:
        handler = covered.handler
        name = handler.name if handler.noun == "tool" else f"{handler.noun} {handler.name}"
        missing = [
            (
                one_line(reason),
                ", ".join(one_line(summary.place(*site)) for site in covered.sites.get(reason, ()))
                or "no known code raises it",
            )
            for reason in covered.missing
        ]
        undeclared = [
            one_line(code if reason is None else f"{code} ({reason})")
            for code, reason in sorted(covered.undeclared, key=lambda pair: (pair[0], pair[1] or ""))
        ]
        place = one_line(summary.place(handler.file, handler.line)) if handler.file else ""
        count = len(covered.declared)
        rows.append(_Row(one_line(name), place, count, count - len(missing), missing, undeclared))
    return rows


NOTHING: Final = "No contract was declared in this run."


def terminal(summary: Summary) -> str:
    """A table of the handlers, with the missing reasons and the undeclared codes below each of them."""
    rows = _rows(summary)
    if not rows:
        return NOTHING
    width = max(len("TOTAL"), *(len(row.name) for row in rows))
    lines = [f"{'handler':<{width}}  reasons  raised"]
    for row in rows:
        lines.append(f"{row.name:<{width}}  {row.declared:>7}  {row.raised:>6}  {row.place}".rstrip())
        lines += [f"    not raised: {reason} ({where})" for reason, where in row.missing]
        lines += [f"    undeclared: {code}" for code in row.undeclared]
    lines.append(f"{'TOTAL':<{width}}  {summary.declared:>7}  {summary.raised:>6}  {summary.shown_percent}")
    return "\n".join(lines)


def as_json(summary: Summary) -> str:
    """The coverage for programs."""
    document: dict[str, Any] = {
        "version": 1,
        "declared": summary.declared,
        "raised": summary.raised,
        "percent": summary.percent,
        "handlers": [
            {
                "kind": covered.handler.noun,
                "name": covered.handler.name,
                "file": covered.handler.file or None,
                "line": covered.handler.line or None,
                "reasons": [
                    {
                        "reason": reason,
                        "code": code,
                        "raised": reason in covered.raised,
                        "sites": [{"file": file, "line": line} for file, line in covered.sites.get(reason, ())],
                    }
                    for reason, code in covered.declared.items()
                ],
                "undeclared": [
                    {"code": code, "reason": reason}
                    for code, reason in sorted(covered.undeclared, key=lambda pair: (pair[0], pair[1] or ""))
                ],
            }
            for covered in summary.handlers
        ],
    }
    return json.dumps(document, indent=2) + "\n"


_TITLE: Final = "Reason coverage"
_HEADERS: Final = ("handler", "declared in", "reasons", "raised", "not raised", "undeclared")


def _total(summary: Summary) -> str:
    return f"{summary.raised} of {summary.declared} declared reasons were raised: {summary.shown_percent}."


def _cells(row: _Row, code: Callable[[str], str], plain: Callable[[str], str]) -> tuple[str, str, str, str, str, str]:
    """The cells of a row, whose texts `code` and `plain` escape."""
    missing = "<br>".join(f"{code(reason)} {plain(f'({where})')}" for reason, where in row.missing)
    undeclared = "<br>".join(map(code, row.undeclared))
    return code(row.name), plain(row.place), str(row.declared), str(row.raised), missing, undeclared


def as_markdown(summary: Summary) -> str:
    """A page in Markdown with a table of the handlers."""
    parts = [f"# {_TITLE}", _total(summary) if summary.handlers else NOTHING]
    if summary.handlers:
        rows = [_cells(row, markdown.code, markdown.inert) for row in _rows(summary)]
        parts.append(markdown.table(_HEADERS, rows))
    return "\n\n".join(parts) + "\n"


_STYLE: Final = """\
tr.missing { background: var(--band); }
td { vertical-align: top; }
"""


def as_html(summary: Summary) -> str:
    """A page in HTML that needs no other file."""
    rows = []
    for row in _rows(summary):
        mark = ' class="missing"' if row.missing else ""
        cells = _cells(row, lambda text: f"<code>{html.text(text)}</code>", html.text)
        rows.append(f"<tr{mark}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    header = "".join(f"<th>{name}</th>" for name in _HEADERS)
    table = f"\n<table>\n<tr>{header}</tr>\n{chr(10).join(rows)}\n</table>" if rows else ""
    words = _total(summary) if summary.handlers else NOTHING
    return html.page(_TITLE, f"<h1>{_TITLE}</h1>\n<p>{words}</p>{table}", style=_STYLE)


FORMATS: Final[dict[str, tuple[str, Callable[[Summary], str]]]] = {
    "json": ("reason-coverage.json", as_json),
    "html": ("reason-coverage.html", as_html),
    "markdown": ("reason-coverage.md", as_markdown),
}
"""The formats of files: each with its default path."""


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
    from mcpcore_lint.inventory import places_of_reasons

    places = places_of_reasons([*others], str(root))
    for covered in (covered for declared in others.values() for covered in declared):
        known = places.get((covered.handler.file, covered.handler.line), {})
        covered.sites = {reason: known[reason] for reason in covered.missing if reason in known} | covered.sites


def _own_sites(file: str) -> dict[int, dict[str, list[int]]]:
    """The lines with `….fail("reason")` in each function of a file, by the first line of the function."""
    try:
        # `tokenize.open` uses the encoding that the file declares.
        with tokenize.open(file) as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):  # the file changed during the run, or was made by a template
        return {}
    sites: dict[int, dict[str, list[int]]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        # A handler is known by the first line of its code object, which is that of its first decorator.
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
        # Paths on a command line are relative to the folder of the call, not to pytest's root.
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

    # The hook belongs to pytest-xdist, which may not be installed.
    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker the folder."""
        node.workerinput[_FOLDER] = str(self._folder)

    def pytest_collection_finish(self) -> None:
        """Let servers that the SDK starts over stdio inherit the folder; they get few variables otherwise."""
        from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

        DEFAULT_INHERITED_ENV_VARS.append(REASONS_VARIABLE)
        self._config.add_cleanup(lambda: DEFAULT_INHERITED_ENV_VARS.remove(REASONS_VARIABLE))

    # pytest-xdist stops its workers in this hook; only then are their records complete.
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
