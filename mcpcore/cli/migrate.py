"""`mcpcore migrate`: turn the tools of a plain SDK or FastMCP server into tools with contracts."""

from __future__ import annotations

import gc
import os
import re
import sys
from typing import TYPE_CHECKING, Final

import click

from mcpcore.cli import output
from mcpcore.cli.output import EscapingStream
from mcpcore.cli.problems import Problem
from mcpcore.reports import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.migrate.model import Left
    from mcpcore_lint.runner.outcome import Migration, Tried

_EPILOG: Final = """\b
Examples:
  mcpcore migrate .                          show what would change, and what is left
  mcpcore migrate src tests --write          change the files
  mcpcore migrate . --only server --write    only move from version 1 of the SDK
  mcpcore migrate . --only raise --only mapping

Name the tests too: they follow the new names of classes and fields. The report has one line for each place
that is left: PATH:LINE TOOL: finding: next step. Places in several files with the same next step share it.

Exits 0 when nothing is left to do by hand, 1 when something is left, 2 when it could not run."""


_HEADINGS: Final = (
    "Nothing is moved to version 2 of the SDK until you change this: PATH:LINE: finding: next step",
    "The server does not work until you change this: PATH:LINE: finding: next step",
    "This fails where it is run, or is not as before, until you change it: PATH:LINE: finding: next step",
    "Left to you: PATH:LINE TOOL: finding: next step",
    "About the project: PATH:LINE: finding: next step",
    "Removed, for a reviewer: PATH:LINE-BEFORE TOOL: clause or option: the text that clients read, or what to do",
    "Possible failures, for a reviewer: PATH:LINE TOOL: finding: next step",
)
"""What is above each part of the report, in the order of importance."""
_TEXTS: Final = (
    'Where this wrote expose_internal_errors="message", clients go on to read the texts of exceptions that no '
    "contract declares; remove it once the contracts declare what clients need."
)
_SERVER: Final = re.compile(r"^[ \t]*from mcpcore import (?:\([^)]*|.*)\bServer\b", re.MULTILINE)
_COVERED: Final = "ContractMiddleware"
_OLD: Final = r"\b(?:FastMCP|MCPServer)\b"
# The texts of files that use the releases before those that run functions in threads.
_BEFORE_THREADS: Final = {
    "Version 2 of the SDK": re.compile(r"mcp\.server\.fastmcp"),
    "FastMCP since 3.0": re.compile(r"\bfastmcp\b[^\n,]*?(?:[=^][ \"]*2\.|<[ ]*3\b)"),
}
_THREADS: Final = (
    "{} runs functions without `async` in parallel threads ({}): those that share something, such as a file, need a "
    "lock."
)
_NAMED: Final = re.compile(
    r"^(?P<exception>[\w.]+\(.*\)(?= of a helper ))|^(?P<call>[\w.]+\(.*?\)(?= ))"
    r"|(?<=^the field error of )(?P<result>the result \w+$)"
)
"""The exception, the function or the class of a result that a finding is about."""
# The line of a test that a next step names.
_TEST: Final = re.compile(r"(?<=change )\S+:\d+(?=, and run)")
_SHOWN: Final = 8
"""How many lines of a file are named for the same finding."""
_MOST: Final = 12
"""How many possible failures, or lines about the project, with the same next step have their own lines."""


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from mcpcore_lint.migrate.model import RULES

    return [name for name in RULES if name.startswith(incomplete)]


def _checked(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from mcpcore_lint.migrate.model import RULES

    for name in names:
        if name not in RULES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(RULES)}.")
    return names


@click.command(epilog=_EPILOG)
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option(
    "--write",
    is_flag=True,
    help="Change the files instead of printing a diff. This imports code of the project, and starts its servers.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="RULE",
    callback=_checked,
    shell_complete=_complete,
    help="Apply only this rule: server, raise, rethrow, tool-error, project-error, helper, mapping, json, "
    "model, text or result. May be repeated.",
)
@click.option("--check", metavar="COMMAND", default="", help="Run this command, such as your tests, before and after.")
@click.option(
    "--environment",
    metavar="PATH",
    help="The interpreter, or the folder of the environment, with the dependencies of the server. --write runs code of "
    "the project there.",
)
def migrate(paths: tuple[str, ...], *, write: bool, only: tuple[str, ...], check: str, environment: str | None) -> None:
    """Turn the tools of plain SDK and FastMCP servers into tools with contracts.

    Without --write, print the change as a diff for `git apply`, and import or run nothing. With --write, import the
    changed files in a child process, and restore each file that could be imported before but no longer can. Then start
    the programs of the project that are servers over stdio, and list their tools. PATHS are files and folders.
    """
    from mcpcore_lint.output import CannotRunError, say_patch
    from mcpcore_lint.runner.migrate import migrate as run
    from mcpcore_lint.runner.trial import Trial, interpreter

    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise Problem(f"{missing[0]}: no such file or folder.")
    try:
        migration = run(paths, rules=only, write=write, trial=Trial(interpreter(environment), check) if write else None)
        gc.freeze()  # the process ends soon, so no collection should walk the syntax trees that are left
    except CannotRunError as error:
        raise Problem(str(error)) from None
    if not write:
        stream = sys.stdout
        if isinstance(stream, EscapingStream):
            # A patch must stay as it is, or git could not apply it.
            stream.flush()
            sys.stdout = stream.original
        try:
            say_patch("".join(file.diff(file.path.replace(os.sep, "/")) for file in migration.files))
        except CannotRunError as error:
            raise Problem(f"{error}.") from None
        finally:
            sys.stdout = stream
    *stops, certain, project, perhaps = groups = _groups(migration.left)
    for heading, group in zip(_HEADINGS, (*groups[:-1], migration.removed, perhaps), strict=True):
        if group:
            output.line(f"{heading}:")
        for line in _lines(group):
            output.line(line)
        if group is stops[-1] and migration.tried is not None:
            _say_tried(migration.tried)
    for failure in migration.failures:
        output.line(f"{failure.path}: {failure.message}", err=True)
    places, files = len(migration.converted), counted(len(migration.files), "file")
    done = (
        f"{counted(places, 'place')} {'converted' if write else 'would be converted'} in {files}"
        if places or not migration.files
        else f"{files} {'changed' if write else 'would change'}"
    )
    names = ", ".join(dict.fromkeys(entry.path.rpartition("/")[2] for entry in project))
    todo = sum(map(len, [*stops, certain]))
    counts = (
        f"{counted(todo, 'place')} left to you" * bool(todo),
        f"{len(perhaps)} to look at" * bool(perhaps),
        f"{len(project)} about the project ({names})" * bool(project),
    )
    output.line(f"{done}; {', '.join(filter(None, counts)) or 'nothing is left'}", err=True)
    # The files that get the server of mcpcore.
    served = [file for file in migration.files if _SERVER.search(file.after) and not _SERVER.search(file.before)]
    covered = [
        file for file in migration.files if file in served or (_COVERED in file.after and _COVERED not in file.before)
    ]
    stale = [
        f"{file.path}:{number}"
        for file in served
        # Code that still imports a class of that name may mean it.
        if not re.search(rf"^[ \t]*(?:from|import)\b[^\n(]*(?:\([^)]*)?{_OLD}", file.after, re.MULTILINE)
        for number, line in enumerate(file.after.splitlines(), 1)
        if re.search(_OLD, line)
    ]
    from_version_1 = [file for file in served if _BEFORE_THREADS["Version 2 of the SDK"].search(file.before)]
    parallel = [*migration.parallel[:_SHOWN], *["..."] * (len(migration.parallel) > _SHOWN)]
    for note, applies in (
        (_TEXTS, any("expose_internal_errors" in file.after for file in migration.files)),
        (
            (
                "The command ran with the versions of this environment both times, so a test that passed only with "
                "earlier ones has failed before, too."
            ),
            migration.tried is not None and migration.tried.check,
        ),
        (
            "Refused arguments read differently, with the reason invalid_arguments."
            + " Those that a tool with a contract does not have are refused, too."
            * bool(served and migration.converted),
            covered,
        ),
        (
            (
                "Where tools have output schemas, these admit failures now, with `error` among their properties and "
                "`required` in `anyOf`; advertise_errors=False of Server, for clients that do not validate failures, "
                "leaves them as they were."
            ),
            served and migration.admits,
        ),
        (
            (
                "Failures say that the call may have taken effect, unless the annotations of the tool have "
                "read_only_hint=True: give it to tools that only read."
            ),
            migration.tools and covered,
        ),
        (
            "Clients read an empty version of the server, and read that of the SDK before: give it version=.",
            any("version=" not in file.after.replace(" ", "") for file in (*from_version_1, *migration.adapted)),
        ),
        (
            "The data of a failure of a resource have an `error`, too.",
            any(".resource(" in file.after for file in covered),
        ),
        (
            (
                "Failures are logged with their texts: by the logger mcpcore with a traceback if no contract declares "
                "them, and by mcpcore.audit at the level INFO."
            ),
            served,
        ),
        (f"Texts and comments still name the old class of the server: {', '.join(stale)}.", stale),
        (
            (
                f"Files say that they are generated: {', '.join(migration.generated)}. Change their templates, too, "
                "since the next generation takes these changes out."
            ),
            migration.generated,
        ),
        *(
            (_THREADS.format(release, ", ".join(parallel)), migration.parallel)
            for release, old in _BEFORE_THREADS.items()
            if any(old.search(file.before) and not old.search(file.after) for file in migration.files)
        ),
    ):
        if applies:
            output.line(note, err=True)
    if not migration.tools and not migration.files and not migration.left and not migration.failures:
        output.line("No tools were found. Name the files or folders of the server.", err=True)
    else:
        output.line(_next(migration, written=write), err=True)
    sys.exit(migration.exit_code)


def _lines(group: Iterable[Left]) -> Iterable[str]:
    """A part of the report. Places with the same next step are together, those of most tools first."""
    alike: dict[tuple[str, str], list[Left]] = {}
    for left in group:
        # Their texts, functions and tests differ.
        pattern = _NAMED.sub(lambda match: f"a{'n' * (match.lastgroup == 'exception')} {match.lastgroup}", left.pattern)
        alike.setdefault((pattern, _TEST.sub("it", left.decide)), []).append(left)
    for (pattern, decide), places in sorted(alike.items(), key=lambda item: -sum(len(left.tools) for left in item[1])):
        files: dict[tuple[str, str, str], list[Left]] = {}
        for left in places:
            files.setdefault((left.path, left.pattern, left.decide), []).append(left)
        times = f"{len(places)} places: " if len(places) > 1 else ""
        if len(files) > 1:
            yield f"{times}{pattern}: {decide}"
        # A call of many tools may end with each of these, so they are worth more of a reviewer's time.
        most = sorted(files.items(), key=lambda item: -max(len(left.tools) for left in item[1]))
        is_short = places[0].perhaps or not (places[0].tools or places[0].stops)
        shown, rest = (most[:_MOST], most[_MOST:]) if is_short else ([*files.items()], [])
        for (path, said, step), same in shown:
            lines = ", ".join(str(left.line) for left in same[:_SHOWN]) + ", \N{HORIZONTAL ELLIPSIS}" * (
                len(same) > _SHOWN
            )
            merged = same[0]._replace(tools=(*dict.fromkeys(tool for left in same for tool in left.tools),))
            own = f": {match[0]}" if (match := _NAMED.search(said) or _TEST.search(step)) else ""
            yield f"{times}{merged.text(path, lines)}" if len(files) == 1 else f"    {merged.place(path, lines)}{own}"
        if rest:
            others = {
                path: sorted(left.line for (at, *_), same in rest if at == path for left in same)
                for (path, *_), _ in rest
            }
            yield f"    and {len(rest)} more: " + "; ".join(
                f"{path}:{', '.join(map(str, lines))}" for path, lines in others.items()
            )


def _say_tried(tried: Tried) -> None:
    """The outcome of trying the files, with broken files first."""
    for path, why in tried.undone:
        output.line(f"{path} is unchanged, since it could not be imported any more: {why}")
    for path, why in tried.broken:
        listed = why.removeprefix("tools/list: ")
        output.line(f"{path} cannot {'be imported' if listed == why else 'list its tools'}: {listed}")
    for path, why in tried.lacking:
        output.line(f"{path} was not tried: {why}")
    for name, end in tried.started:
        output.line(f"{name} was started over stdio: {end}")
    for line in tried.check:
        output.line(f"--check {line}")
    if tried.untried:
        output.line(
            f"Nothing was tried: {tried.untried}; name one that has the new dependencies with --environment, "
            "or install them there.",
            err=True,
        )
    elif not tried.broken:
        servers = f"their servers list {counted(tried.tools, 'tool')}" if tried.tools else "no server to list was found"
        files = "The other files" if tried.lacking else "The files"
        listed = f", and {servers}" if tried.tools or not tried.started else ""
        output.line(f"{files} can be imported{listed}.", err=True)


def _groups(left: Iterable[Left]) -> tuple[list[Left], ...]:
    """What stops the server in each way, the failures that are left, the lines about no tool, and what may fail."""
    groups: tuple[list[Left], ...] = ([], [], [], [], [], [])
    for entry in left:
        groups[entry.stops - 1 if entry.stops else 4 if not entry.tools else 3 + 2 * entry.perhaps].append(entry)
    return groups


def _next(migration: Migration, *, written: bool) -> str:
    """The next step after a run."""
    if migration.files and not written:
        return "Next: read the diff, and run the command again with --write."
    if migration.files:
        todo = any(file.after.count("recovery=TODO") > file.before.count("recovery=TODO") for file in migration.files)
        steps = [
            *["fill in each recovery that `mcpcore lint` reports as a TODO"] * todo,
            *["do what the lines above say"] * bool(migration.left),
        ]
        return f"Next: {', '.join(['run your formatter', *steps])}, and run your tests."
    return (
        "Next: do what the lines above say."
        if migration.left
        else "Nothing is left to convert; `mcpcore lint` names each TODO."
    )
