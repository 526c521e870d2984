"""The options of `mcpcore lint`: one table, of which click's command is made and by which plain arguments are read.

To load click takes longer than to check a file, which an editor has done for each change. So what is plain is read
here; all else is click's: help, completion, and what is to be told as wrong.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind: TypeAlias = Literal["flag", "rules", "text", "choice", "number", "path", "file", "output"]
"""What an option takes. rules: ids, families or prefixes, and it may be given several times; path: a file or a folder;
file: no folder; output: a file, or `-`."""


class Option(NamedTuple):
    """One option."""

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    other_key: str = ""

    @property
    def key(self) -> str:
        """The name that the command knows it by."""
        return self.other_key or self.name[2:].replace("-", "_")


_SEVERITIES: Final = ("error", "warning", "info")
_FORMATS: Final = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")

OPTIONS: Final = (
    Option("--select", "rules", "Run these rules alone: ids, families or prefixes, separated by commas.", "RULES"),
    Option("--ignore", "rules", "Do not run these rules.", "RULES"),
    Option("--extend-select", "rules", "Run these rules too.", "RULES"),
    Option("--fail-on", "choice", "The severity that fails the run.  [default: warning]", choices=_SEVERITIES),
    Option("--fix", "flag", "Mend what can be mended safely."),
    Option("--unsafe-fixes", "flag", "With --fix or --diff: mend also what asks for a look."),
    Option("--diff", "flag", "Show what --fix would do; write nothing."),
    Option("--format", "choice", "The format of the report.  [default: full]", choices=_FORMATS, other_key="shape"),
    Option("--output-file", "output", "Write the report there; - is the output."),
    Option("--statistics", "flag", "Count the findings of each rule instead of listing them."),
    Option("--baseline", "file", "Do not tell the findings that this file holds."),
    Option("--write-baseline", "flag", "Write the findings to the --baseline file."),
    Option("--changed-since", "text", "Tell only what concerns files changed since a git revision.", "REV"),
    Option("--watch", "flag", "Run again whenever a file changes."),
    Option("--no-cache", "flag", "Neither read nor write the cache."),
    Option("--jobs", "number", "Processes; 0 is one for each core.", "N"),
    Option("--stdin-filename", "path", "Read the source from standard input, under this name."),
    Option("--config", "file", "Use this configuration alone.", other_key="config_path"),
    Option("--show-settings", "flag", "Show the settings in force, and where they come from."),
    Option("--explain", "text", "Show the page of a rule.", "RULE"),
    Option("--explain-calls", "text", "Show what a tool can throw through the functions that it calls.", "TOOL"),
    Option("--list-rules", "flag", "List all rules."),
)
"""In the order of `--help`."""


def run_plain(arguments: Iterable[str]) -> None:
    """End the process with a run of the command where its arguments are plain; else come back.

    Args:
        arguments: The command line, without the program.
    """
    found = None if os.name == "nt" else plain(arguments)  # there click puts files in the place of stars
    if found is not None:
        from mcpcore_lint.command import run

        sys.exit(run(*found))


def plain(arguments: Iterable[str]) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """The paths and the options, by their keys, as click would read them; None where they are not plain."""
    known = {each.name: each for each in OPTIONS}
    paths: list[str] = []
    values: dict[str, Any] = {each.key: _NOT_GIVEN.get(each.kind) for each in OPTIONS}
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-") or argument == "-":
            if not _is_path(argument):
                return None
            paths.append(argument)
            continue
        name, equals, text = argument.partition("=")
        option = known.get(name)
        if option is None or (equals and option.kind == "flag"):
            return None
        if option.kind == "flag":
            values[option.key] = True
            continue
        if not equals:
            text = next(rest, "")
        value = _value(option, text)
        if value is None:
            return None
        values[option.key] = (*values[option.key], value) if option.kind == "rules" else value
    return tuple(paths), values


_NOT_GIVEN: Final[dict[str, Any]] = {"flag": False, "rules": ()}


def _value(option: Option, text: str) -> Any:
    """What a value comes to; None where it is not a plain one."""
    match option.kind:
        case "choice":
            return text if text in option.choices else None
        case "number":
            return int(text) if text.isdecimal() and text.isascii() and len(text) < 9 else None
        case "path" | "file":
            return text if _is_path(text) and not (option.kind == "file" and os.path.isdir(text)) else None
        case "output":
            return text if text == "-" or (_is_path(text) and not os.path.isdir(text)) else None
        case _:
            return text if text and not text.startswith("-") else None


def _is_path(text: str) -> bool:
    return bool(text) and not text.startswith("-") and (os.access(text, os.R_OK) or not os.path.exists(text))
