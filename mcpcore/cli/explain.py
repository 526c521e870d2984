"""`mcpcore explain`: the page of one reason."""

from __future__ import annotations

import ast
import os
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from mcpcore.cli import output
from mcpcore.cli.options import (
    SplitCommand,
    complete_files,
    header_option,
    static_option,
    timeout_option,
    verbose_option,
)
from mcpcore.cli.problems import Problem
from mcpcore.reports import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.catalog import Catalog
    from mcpcore.catalog.model import Failure, Item

_ASSERTIONS: Final = frozenset({"assert_fails", "raises_reason"})
"""The functions of `mcpcore.testing` whose calls say that a test makes a reason happen."""

_MOST: Final = 20
"""The most places of one kind that are listed."""


@click.command(
    cls=SplitCommand,
    epilog="""\b
  mcpcore explain server.py payment_unconfirmed
  mcpcore explain server.py payment_unconfirmed --tool place_order --trail audit.jsonl
  mcpcore explain http://127.0.0.1:8000/mcp no_order
  mcpcore explain src/ no_order --static                       read the code without running it

\b
SERVER is written as for `mcpcore catalog`. Exit codes: 0 the reason was explained, 2 the reason is
unknown, or the server cannot be read.""",
)
@click.argument("server", metavar="SERVER", shell_complete=complete_files)
@click.argument("reason")
@click.option("--tool", "only", metavar="NAME", help="Explain the reason only for this tool, resource or prompt.")
@click.option(
    "--trail",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Count the failures in this audit trail; the default is MCPCORE_AUDIT.",
)
@click.option(
    "--tests",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where the tests are; the default is the folder tests, if there is one.",
)
@static_option
@timeout_option(60.0, "How long a running server may take to start and to list what it has.")
@verbose_option
@header_option
@click.pass_context
def explain(
    ctx: click.Context,
    server: str,
    reason: str,
    *,
    only: str | None,
    trail: Path | None,
    tests: Path | None,
    static: bool,
    timeout: float,
    verbose: bool,
    headers: dict[str, str],
) -> None:
    """Explain REASON of SERVER: when it happens, what to do, where it is raised and tested, and how often it was seen.

    The page is for anyone who reads a failure: an operator with a record, or a developer with a report.
    """
    from mcpcore.cli.catalog import make_catalog

    catalog = make_catalog(ctx, (server,), static=static, timeout=timeout, verbose=verbose, headers=headers)
    pages = [
        (item, error)
        for _, item in catalog.items
        for error in item.errors
        if error.reason == reason and only in (None, item.name)
    ]
    if not pages:
        raise _unknown(catalog, server, reason, only)
    seen = _Seen.read(trail, reason)
    named = list(_tests_of(reason, tests or Path("tests")))
    for index, (item, error) in enumerate(pages):
        if index:
            output.line()
        _print(item, error, seen, named)


def _unknown(catalog: Catalog, server: str, reason: str, only: str | None) -> Problem:
    items = [item for _, item in catalog.items if only in (None, item.name)]
    if only is not None and not items:
        names = [item.name for _, item in catalog.items]
        return Problem(f"{server} has no {only!r}.", hint=_nearest(only, names, "has"))
    reasons = sorted({error.reason for item in items for error in item.errors})
    return Problem(f"{only or server} declares no reason {reason!r}.", hint=_nearest(reason, reasons, "declares"))


def _nearest(wanted: str, names: list[str], verb: str) -> str:
    """The name that is probably meant, or else the first of all names."""
    near = get_close_matches(wanted, names, n=1)
    shown = f"it {verb} {', '.join(names[:_MOST])}{', …' if len(names) > _MOST else ''}"
    return f"did you mean {near[0]!r}?" if near else shown if names else "it declares no failure modes"


def _print(item: Item, error: Failure, seen: _Seen | None, tests: list[str]) -> None:
    from mcpcore.catalog.markdown import data_fields, effects_words, recovery_details

    output.line(output.styled(error.reason, bold=True), f"  {item.label}  {error.code_label}")
    output.line()
    rows = [
        ("When", error.when),
        ("Recovery", error.recovery),
        *recovery_details(error),
        ("Advice", "" if error.retry is None else error.retry.phrase),
        ("Effects", effects_words(error)),
        ("Data", ", ".join(f"{name} ({kind})" for name, kind in data_fields(error))),
        ("Raised at", _places(error)),
        ("Tested at", ", ".join(tests[:_MOST]) or "no test found that asserts it"),
        ("Seen", "no trail was read" if seen is None else seen.of(item.name)),
    ]
    width = max(len(name) for name, words in rows if words)
    for name, words in rows:
        if words:
            output.line(output.styled(f"{name:<{width}}", dim=True), f"  {words}")


def _places(error: Failure) -> str:
    from mcpcore.catalog.markdown import place_words

    places = [f"{label} ({way})" if way else label for label, way in place_words(error.raised[:_MOST])]
    return ", ".join(places) or "no known code raises it"


class _Seen(NamedTuple):
    """The failures with the reason in a trail, by tool, and the last of each."""

    path: Path
    counts: dict[str, tuple[int, str]]

    @classmethod
    def read(cls, path: Path | None, reason: str) -> _Seen | None:
        """Count the records; None without a trail.

        Raises:
            Problem: If the trail cannot be read.
        """
        from mcpcore.audit import AuditError
        from mcpcore.audit.kinds import count_of
        from mcpcore.audit.reading import Query, read, text_of, what_failed

        named = os.environ.get("MCPCORE_AUDIT")
        if path is None and not named:
            return None
        path = path or Path(str(named))
        counts: dict[str, tuple[int, str]] = {}
        try:
            for record in read(path, Query(reasons=frozenset({reason}))):
                if not record.get("injected"):
                    name = what_failed(record)
                    before = counts.get(name, (0, ""))[0]
                    counts[name] = before + count_of(record), text_of(record, "timestamp") or ""
        except (OSError, AuditError) as exc:
            raise Problem(f"the trail {path} cannot be read: {exc}.", hint="name it with --trail FILE") from exc
        return cls(path, counts)

    def of(self, name: str) -> str:
        """How often the reason of a tool, a resource or a prompt was seen."""
        # Records name a tool alone, and a resource or a prompt with its kind.
        labels = (name, f"resource {name}", f"prompt {name}")
        count, last = next((self.counts[label] for label in labels if label in self.counts), (0, ""))
        return f"{counted(count, 'time')}, last at {last} ({self.path})" if count else f"never ({self.path})"


def _tests_of(reason: str, path: Path) -> Iterator[str]:
    """The places of tests that assert the reason: a call of `assert_fails` or `raises_reason` with it."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py")) if path.is_dir() else []
    for file in files:
        try:
            source = file.read_bytes()
            # Parsing takes long, and few files contain the reason.
            tree = ast.parse(source) if reason.encode() in source else None
        except (OSError, ValueError, SyntaxError):
            continue
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and _name_of(node.func) in _ASSERTIONS:
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                if any(isinstance(value, ast.Constant) and value.value == reason for value in values):
                    yield f"{file.as_posix()}:{node.lineno}"


def _name_of(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
