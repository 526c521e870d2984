"""`mcpcore diff`: compare failure contracts, and grade each change."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mcpcore.cli import output
from mcpcore.cli.options import (
    SplitCommand,
    after_dashes,
    complete_files,
    header_option,
    output_option,
    require_url,
    static_option,
    timeout_option,
    verbose_option,
)
from mcpcore.cli.problems import FAILED, INTERRUPTED, Problem, replace_file
from mcpcore.values.untrusted import object_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.catalog import Change, Rules
    from mcpcore.cli.sources import Source

FORMATS: Final = ("text", "json", "md", "github")
THRESHOLDS: Final = ("breaking", "risky", "safe", "never")
_SECTION: Final = "[tool.mcpcore.diff]"
_KEYS: Final = ("levels", "fail-on")


@click.command(
    cls=SplitCommand,
    options_metavar="[OPTIONS]",
    epilog="""\b
  mcpcore diff old.json new.json                       two catalogs
  mcpcore diff main:server.py server.py                a git revision, and the working tree
  mcpcore diff v1.0:src v2.0:src --format md           two revisions, for a pull request
  mcpcore diff contracts.lock.json server.py           a lock file, and a server
  mcpcore diff old.json -- npx some-server             a server in any language
  mcpcore diff --check contracts.lock.json server.py   for CI: fails if the lock file is not up to date
  mcpcore diff old.json new.json --level reason-added=breaking --fail-on risky

\b
OLD and NEW are files, folders, modules, URLs, catalogs in JSON, or REV:PATH. The code of a
revision is only read, never run. If one side is a revision or a folder, the code of the other side
is only read too, so that both sides are read in the same way; --import imports it anyway. After `--`
comes the command of a server, or the arguments of a server that is imported.

\b
Exit codes: 0 no change at or above --fail-on, 1 such a change, 2 it could not be compared.""",
)
@click.argument("words", nargs=-1, metavar="OLD NEW", shell_complete=complete_files)
@click.option("--check", "lock", type=click.Path(), metavar="LOCK", help="Compare the server with this lock file.")
@click.option(
    "--format", "shape", type=click.Choice(FORMATS), default="text", show_default=True, help="The format of the report."
)
@output_option
@click.option(
    "--fail-on",
    type=click.Choice(THRESHOLDS),
    help="The least severe change that fails the command: breaking by default, any change (safe) with --check.",
)
@click.option(
    "--level", "levels", multiple=True, metavar="RULE=LEVEL", help="breaking, risky, safe or off; can be repeated."
)
@static_option
@click.option("--import", "importing", is_flag=True, help="Import Python files even if the other side is only read.")
@timeout_option(60.0, "How long a running server may take to start and to list what it has.")
@verbose_option
@header_option
@click.pass_context
def diff(
    ctx: click.Context,
    words: tuple[str, ...],
    *,
    lock: str | None,
    shape: str,
    path: str | None,
    fail_on: str | None,
    levels: tuple[str, ...],
    static: bool,
    importing: bool,
    timeout: float,
    verbose: bool,
    headers: dict[str, str],
) -> None:
    """Compare the failure contracts of two servers, or of two versions of one.

    Each change is breaking, risky or safe for clients, by the rules in the reference; `--level` changes them.
    """
    from mcpcore.catalog import compare
    from mcpcore.catalog.report import render_changes
    from mcpcore.catalog.rules import at_least
    from mcpcore.cli.catalog import warn
    from mcpcore.cli.sources import read_sources

    settings = _settings()
    rules = _rules(settings, levels)
    command = after_dashes(ctx)
    if static and importing:
        raise Problem("--static and --import exclude each other.", hint="leave out one of the two")
    try:
        sides = _sides(words, command, lock, static=static, importing=importing)
        require_url(headers, has_url=any(source.kind == "url" for side in sides for source in side))
        old, new = (read_sources(side, timeout=timeout, verbose=verbose, headers=headers) for side in sides)
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)
    warn(new)
    changes = compare(old, new, rules)
    text = render_changes(changes, shape)
    if path is not None and path != "-":
        replace_file(Path(path), text)
    elif shape == "text":
        _show(changes, text)
    else:
        output.text(text.removesuffix("\n"))
    threshold = fail_on or ("safe" if lock is not None else settings.get("fail-on", "breaking"))
    failing = [change for change in changes if threshold != "never" and at_least(change.level, threshold)]  # type: ignore[arg-type]
    if lock is not None and changes:
        update = " ".join([*words, *(["--", *command] if command else [])])
        output.line(
            output.styled("Next:", bold=True),
            f" {lock} is not up to date; if the changes are intended: "
            f"mcpcore catalog {'--static ' if static else ''}--output {lock} {update}",
            err=True,
        )
    ctx.exit(FAILED if failing else 0)


_COLOURS: Final = {"breaking": "red", "risky": "yellow", "safe": "green"}


def _show(changes: Sequence[Change], text: str) -> None:
    """Print the text; the level at the beginning of a line has its colour."""
    levels = {change.level for change in changes}
    for line in text.removesuffix("\n").split("\n"):
        level = next((level for level in levels if line.startswith(f"{level} ")), None)
        if level is None:
            output.line(line)
        else:
            output.line(output.styled(level, fg=_COLOURS[level], bold=level == "breaking"), line.removeprefix(level))


def _sides(
    words: Sequence[str],
    command: Sequence[str] | None,
    lock: str | None,
    *,
    static: bool,
    importing: bool,
) -> tuple[Sequence[Source], Sequence[Source]]:
    """The sources of the older and of the newer contract.

    Raises:
        Problem: If the command line does not name two.
    """
    from mcpcore.cli.sources import Source, parse_source, with_words_after

    if command == ():
        raise Problem("the command after `--` is missing.", hint="give the command: -- python server.py")
    if lock is not None and not lock.endswith(".json") and any(word.endswith(".json") for word in words):
        swapped = next(word for word in words if word.endswith(".json"))
        raise Problem(
            f"--check takes the lock file, but got {lock}.", hint=f"write mcpcore diff --check {swapped} {lock}"
        )
    sources = [parse_source(word, static=static) for word in words]
    sources = with_words_after(sources, command, arguments=lock is not None or len(sources) > 1)
    if lock is not None:
        if not Path(lock).is_file():
            raise Problem(
                f"the lock file {lock} does not exist.",
                hint=f"make it: mcpcore catalog --output {lock} {' '.join(words) or 'SERVER'}",
            )
        if not sources:
            raise Problem("which server?", hint=f"name it: mcpcore diff --check {lock} server.py")
        return [Source("catalog", lock)], sources
    if len(sources) != 2:
        raise Problem(
            f"diff compares two contracts, but got {len(sources)}.",
            hint="give the older and the newer one: mcpcore diff main:server.py server.py",
        )
    if not importing and any(source.kind in {"git", "static"} for source in sources):
        # A model that is imported says more than one that is read, which would look like changes.
        sources = [parse_source(source.text, static=True) if source.kind == "import" else source for source in sources]
    return sources[:1], sources[1:]


def _rules(settings: Mapping[str, Any], levels: Sequence[str]) -> Rules:
    """The rules, with the levels of the configuration and then those of the command line.

    Raises:
        Problem: If a rule or a level is unknown.
    """
    from mcpcore.catalog import Rules

    chosen: dict[str, str] = dict(settings.get("levels", {}))
    for level in levels:
        rule, equals, name = level.partition("=")
        if not equals:
            raise Problem(f"--level {level}: write RULE=LEVEL.", hint="such as --level reason-added=breaking")
        chosen[rule] = name
    try:
        return Rules(chosen)
    except ValueError as exc:
        raise Problem(f"{exc}.", hint="docs/reference/diff-rules.md lists the rules") from exc


def _settings() -> dict[str, Any]:
    """The section of the nearest `pyproject.toml`; empty without one.

    Raises:
        Problem: If it cannot be used.
    """
    folder = Path.cwd()
    candidates = (above / "pyproject.toml" for above in (folder, *folder.parents))
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    if path is None:
        return {}
    shown = os.path.relpath(path)
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as exc:
        raise Problem(f"{shown} cannot be read: {exc}.", hint="correct the file") from exc
    section = object_in(object_in(plain, "tool"), "mcpcore").get("diff", {})
    if not isinstance(section, dict):
        raise Problem(f"{shown}: {_SECTION} is not a table.")
    unknown = next((key for key in section if key not in _KEYS), None)
    if unknown is not None:
        raise Problem(f"{shown}: {_SECTION} has no key {unknown!r}.", hint=f"it takes {' and '.join(_KEYS)}")
    levels = section.get("levels", {})
    if not isinstance(levels, dict) or not all(isinstance(level, str) for level in levels.values()):
        raise Problem(f"{shown}: {_SECTION} levels must be a table of rules and their levels.")
    if section.get("fail-on", "breaking") not in THRESHOLDS:
        raise Problem(f"{shown}: {_SECTION} fail-on must be one of {', '.join(THRESHOLDS)}.")
    return section
