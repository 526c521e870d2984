"""The options of `mcpcore lint`: one table, for click and for a faster reader of ordinary arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mcpcore_lint.output import CannotRunError

Kind: TypeAlias = Literal["flag", "rules", "text", "choice", "number", "path", "file", "output"]
"""The values of an option. rules: ids, families or prefixes, which may be repeated; path: a file or a folder; file: not
a folder; output: a file, or `-`."""


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
        """Its name in the command."""
        return self.other_key or self.name[2:].replace("-", "_")

    @property
    def default(self) -> Any:
        """Its value if it is left out."""
        return {"flag": False, "rules": ()}.get(self.kind)


_SEVERITIES: Final = ("error", "warning", "info")
FORMATS: Final = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")
"""The formats of reports."""

OPTIONS: Final = (
    Option("--select", "rules", "Run only these rules: ids, families or prefixes, separated by commas.", "RULES"),
    Option("--ignore", "rules", "Do not run these rules.", "RULES"),
    Option("--extend-select", "rules", "Also run these rules.", "RULES"),
    Option("--fail-on", "choice", "The lowest severity that fails the run.  [default: warning]", choices=_SEVERITIES),
    Option("--fix", "flag", "Make the safe fixes."),
    Option("--unsafe-fixes", "flag", "With --fix or --diff: also make fixes that need a review."),
    Option("--diff", "flag", "Show what --fix would change; write nothing."),
    Option("--format", "choice", "The format of the report.  [default: full]", choices=FORMATS, other_key="shape"),
    Option("--output-file", "output", "Write the report to this file; - is standard output."),
    Option("--statistics", "flag", "Count the findings of each rule instead of listing them."),
    Option("--baseline", "file", "Do not report the findings in this file."),
    Option("--write-baseline", "flag", "Write the findings to the --baseline file."),
    Option("--changed-since", "text", "Report only findings that concern files changed since a git revision.", "REV"),
    Option("--watch", "flag", "Run again whenever a file changes."),
    Option("--lsp", "flag", "Serve an editor on standard input and output, with the Language Server Protocol."),
    Option("--no-cache", "flag", "Neither read nor write the cache."),
    Option("--jobs", "number", "Number of processes; 0 means one for each core.", "N"),
    Option("--stdin-filename", "path", "Read the source from standard input, under this name."),
    Option("--config", "file", "Use only this configuration.", other_key="config_path"),
    Option("--show-settings", "flag", "Show the settings in force and where they come from."),
    Option("--explain", "text", "Show the page of a rule.", "RULE"),
    Option("--explain-calls", "text", "Show what a tool can raise through the functions that it calls.", "TOOL"),
    Option("--list-rules", "flag", "List all rules."),
)
"""In the order of `--help`."""


# Importing click would make an editor's run over a small file 40 % longer (0.03 s of 0.07 s).
def plain(arguments: Iterable[str]) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """The paths and options as click would read them; None if only click knows what to do, such as report an error."""
    if os.name == "nt":
        return None  # click expands wildcards there
    known = {option.name: option for option in OPTIONS}
    paths: list[str] = []
    values: dict[str, Any] = {option.key: option.default for option in OPTIONS}
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
        value = _value(option, text if equals else next(rest, ""))
        if value is None:
            return None
        values[option.key] = (*values[option.key], value) if option.kind == "rules" else value
    return tuple(paths), values


def _value(option: Option, text: str) -> Any:
    """The value of an option; None for values that click has to judge."""
    if option.kind == "number":
        return int(text) if text.isdecimal() and text.isascii() and len(text) < 9 else None
    if option.kind == "choice":
        valid = text in option.choices
    elif option.kind in {"path", "file", "output"} and text != "-":
        valid = _is_path(text) and (option.kind == "path" or not os.path.isdir(text))
    else:
        valid = option.kind == "output" or (text != "" and not text.startswith("-"))
    return text if valid else None


def _is_path(text: str) -> bool:
    return bool(text) and not text.startswith("-") and (os.access(text, os.R_OK) or not os.path.exists(text))


def checked(paths: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The options, with rules as single names. Options that contradict each other raise a CannotRunError."""
    options = dict(options)
    for option in OPTIONS:
        value = options[option.key]
        if option.kind == "rules":
            options[option.key] = tuple(part.strip() for text in value for part in text.split(",") if part.strip())
            if value and not options[option.key]:
                raise CannotRunError(f"{option.name} names no rule; leave it out, or see `mcpcore lint --list-rules`")
        elif isinstance(value, str) and option.kind in {"file", "text", "output"} and not value.strip():
            # In a script the value may be a variable that is not set.
            raise CannotRunError(f"{option.name} is empty; give it a value, or leave it out")
    if options["output_file"] == "/dev/stdout":
        # Opening it again would truncate the file that standard output is redirected to.
        options["output_file"] = "-"
    if (problem := next(_problems(paths, options), None)) is not None:
        raise CannotRunError(problem)
    return options


def _problems(paths: tuple[str, ...], options: dict[str, Any]) -> Iterator[str]:
    shown = [name for name in ("list_rules", "explain", "explain_calls", "show_settings") if options[name]]
    if len(shown) > 1:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in shown)
        yield f"{names} cannot be combined; use one of them"
    if options["statistics"] and options["shape"] not in {None, "full", "concise", "json"}:
        yield f"--statistics is a table or JSON, which {options['shape']} cannot hold; leave one of them out"
    if options["statistics"] and options["diff"]:
        yield "--diff shows a patch and counts no findings; leave --statistics out"
    written = {"--output-file": options["output_file"], "--baseline": options["write_baseline"] and options["baseline"]}
    # Probably a mistyped argument, which would overwrite a source file.
    yield from (
        f"{name} {path} would replace a file that is read; name another file"
        for name, path in written.items()
        if path and (path.endswith((".py", ".pyi", ".toml")) or path in paths) and os.path.exists(path)
    )
    if options["output_file"] and options["output_file"] == options["baseline"]:
        yield f"--output-file and --baseline are the same file, {options['baseline']}; name two files"
    if options["write_baseline"] and options["diff"]:
        yield "--diff writes nothing, so it cannot be combined with --write-baseline"
    if options["write_baseline"] and not options["baseline"]:
        yield "--write-baseline needs --baseline FILE, the file to write"
    if options["unsafe_fixes"] and not (options["fix"] or options["diff"]):
        yield "--unsafe-fixes needs --fix or --diff"
    if options["write_baseline"] and options["changed_since"]:
        yield "--write-baseline with --changed-since would drop all other findings; leave one of them out"
    if options["watch"] and (options["stdin_filename"] or options["output_file"] or "-" in paths):
        yield "--watch cannot be combined with --stdin-filename, --output-file or standard input"
    if options["lsp"]:
        fits = {"lsp", "select", "ignore", "extend_select", "config_path", "no_cache", "jobs"}
        other = next((option for option in OPTIONS if option.key not in fits and options[option.key]), None)
        if other is not None or paths != (".",):
            yield f"--lsp serves what the editor opens; leave {other.name if other is not None else paths[0]} out"
    if options["stdin_filename"] == "":
        yield "--stdin-filename needs a name"
    if options["stdin_filename"] and paths not in {(".",), ("-",)}:
        yield f"--stdin-filename reads only standard input; leave out {paths[0]}"
    if "-" in paths and len(paths) > 1:
        yield "`-` is standard input, which is checked alone; leave the other paths out"
    if options["stdin_filename"] and os.path.isdir(options["stdin_filename"]):
        yield f"--stdin-filename {options['stdin_filename']} is a folder; give the name of a file"
    if options["stdin_filename"] and options["changed_since"]:
        yield "--changed-since needs files on disk and cannot be combined with --stdin-filename"
