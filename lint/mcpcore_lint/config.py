"""Reads `[tool.mcpcore.lint]` from the nearest `pyproject.toml` and checks every key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.diagnostics import Severity, Span
from mcpcore_lint.options import FORMATS
from mcpcore_lint.output import CannotRunError
from mcpcore_lint.paths import is_below, is_repository, upwards
from mcpcore_lint.patterns import closest, hint, regex
from mcpcore_lint.settings import NOTHING, PerFile, Settings

SECTION: Final = "tool.mcpcore.lint"
FILE: Final = "pyproject.toml"


class ConfigError(CannotRunError):
    """A configuration is invalid. The text names the file, the key and the next step. All functions here raise it."""


class Config(NamedTuple):
    """The configuration of a folder and of everything below that has no configuration itself."""

    root: str
    """The folder that paths and globs are relative to."""
    path: str | None = None
    """The file; None for the defaults."""
    settings: Settings = Settings()
    fail_on: Severity = Severity.WARNING
    format: str | None = None
    markdown: tuple[str, ...] = ()
    """Globs of Markdown files whose Python blocks are checked."""
    lines: Mapping[str, int] = NOTHING
    """The keys in the file with their lines."""
    unknown: tuple[tuple[str, Span], ...] = ()
    """Names in the file that are not names of rules: a message and the place of each."""
    handlers: Mapping[str, Span] = NOTHING
    """The entries of `handlers` with their places."""


class Key(NamedTuple):
    """One key of the section: the kind of its value, its documentation, and how the value is read."""

    kind: str
    meaning: str
    convert: Callable[[Any, str], Any] = lambda value, _: tuple(value) if isinstance(value, list) else value


class Finder:
    """Finds the configuration of files and folders. Each file is read once."""

    def find(self, start: str) -> Config:
        """The configuration for a file or a folder, from the nearest `pyproject.toml` with the section.

        Without one, the root is the nearest folder with a `pyproject.toml` or a `.git`, or else the folder itself.
        """
        folder = _folder_of(start)
        configs = (config for place in upwards(folder) if (config := self.own(place)) is not None)
        return next(configs, None) or Config(_project_of(folder))

    @cached_method
    def own(self, folder: str) -> Config | None:
        """The configuration in a folder's own `pyproject.toml`."""
        path = os.path.join(folder, FILE)
        raw = _read(path) if os.path.isfile(path) else b""
        section = _section(path, raw)
        return None if section is None else _config(path, raw, section, folder)


def load(path: str, start: str) -> Config:
    """The configuration in a file: a `pyproject.toml`, or a TOML file with only the keys of the section.

    Globs are relative to the file's folder if `start` is below it. Otherwise several projects share the file, and globs
    are relative to the project of `start`.
    """
    raw = _read(path)
    section = _section(path, raw)
    if section is None:
        whole = _toml(path, raw)
        if os.path.basename(path) == FILE or "tool" in whole:
            raise ConfigError(f"{path}: the section [{SECTION}] is missing; add it, or use a file with only its keys")
        section = whole
    root = os.path.dirname(os.path.abspath(path))
    place = _folder_of(start)
    return _config(path, raw, section, root if place == root or is_below(place, root) else _project_of(place))


def _folder_of(start: str) -> str:
    place = os.path.abspath(start)
    return place if os.path.isdir(place) else os.path.dirname(place)


def _project_of(folder: str) -> str:
    projects = (place for place in upwards(folder) if is_repository(place) or os.path.isfile(os.path.join(place, FILE)))
    return next(projects, folder)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error


def _toml(path: str, raw: bytes) -> dict[str, Any]:
    # Loaded here, since a run without a configuration needs no parser.
    import tomllib

    try:
        return tomllib.loads(raw.decode())
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not valid TOML: it is not UTF-8: {error.reason}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        mark = " (it begins with a byte order mark, which TOML forbids)" if raw.startswith(b"\xef\xbb\xbf") else ""
        raise ConfigError(f"{path}: not valid TOML: {problem}{mark}") from error


def _section(path: str, raw: bytes) -> Mapping[str, Any] | None:
    if b"mcpcore" not in raw:
        return None  # parsing is slow, and many files have no such section
    tool = _toml(path, raw).get("tool")
    ours: Any = tool.get("mcpcore") if isinstance(tool, dict) else None
    if ours is None:
        return None
    if not isinstance(ours, dict):
        raise ConfigError(f"{path}: [tool.mcpcore] must be a table, not {ours!r}")
    section = ours.get("lint")
    if section is not None and not isinstance(section, dict):
        raise ConfigError(f"{path}: [{SECTION}] must be a table, not {section!r}")
    for name in ours:
        if name in KEYS:
            raise ConfigError(f"{path}: [tool.mcpcore] {name}: this key belongs under [{SECTION}]")
        if name != "lint" and closest(name, ("lint",)):
            raise ConfigError(f"{path}: unknown section [tool.mcpcore.{name}]; did you mean [{SECTION}]?")
    return section


def _config(path: str, raw: bytes, section: Mapping[str, Any], root: str) -> Config:
    values: dict[str, Any] = {}
    text = raw.decode(errors="replace")
    lines: dict[str, int] = {}
    for name, value in section.items():
        key = KEYS.get(name)
        line = _line_of(text, name)
        where = f"{path}{f':{line}' if line else ''}: [{SECTION}] {name}"
        if key is None:
            raise ConfigError(f"{where}: unknown key{_near(name, KEYS)}")
        lines[name] = line
        values[name.replace("-", "_")] = key.convert(_checked(value, where, key.kind), where)
    unknown = tuple(_unknown(values, text, lines))
    own = {name: values.pop(name) for name in ("fail_on", "format", "markdown") if name in values}
    if "cache_dir" in values:
        values["cache_dir"] = os.path.join(os.path.dirname(os.path.abspath(path)), values["cache_dir"])
    handlers = {entry: _span_of(text, entry, lines.get("handlers", 1)) for entry in values.get("handlers", ())}
    return Config(root, path, Settings(**values), lines=lines, unknown=unknown, handlers=handlers, **own)


def _unknown(values: Mapping[str, Any], text: str, lines: Mapping[str, int]) -> Iterator[tuple[str, Span]]:
    """Messages about names of unknown rules, with their places. Rules of installed packages are known."""
    from mcpcore_lint import ids

    named = [(field, name, False) for field in ("select", "extend_select", "ignore") for name in values.get(field, ())]
    named += [(field, name, True) for field in ("severities", "options") for name in values.get(field, ())]
    for per_file in values.get("per_file", ()):
        named += [("per_file", name, False) for name in (*(per_file.select or ()), *per_file.ignore)]
        named += [("per_file", name, True) for name in per_file.severities]
    # Rules are loaded only for a name that is not built in, so that a cached run stays fast.
    foreign = [entry for entry in sorted(set(named)) if not (ids.is_id if entry[2] else ids.known)(entry[1])]
    if not foreign:
        return
    from mcpcore_lint.rules import names_a_rule, near_rule

    for field, name, exact in foreign:
        if not names_a_rule(name, exact=exact):
            key = field.replace("_", "-")
            near = near_rule(name)
            message = f"unknown rule {name!r}: did you mean {near!r}?" if near else f"unknown rule {name!r}"
            if exact and names_a_rule(name):
                message = f"name single rules here; {name!r} means several"
            yield f"{key}: {message}", _span_of(text, name, lines.get(key, 1))


def _line_of(text: str, key: str) -> int:
    """The line of a key in the section; 0 if unknown. The TOML parser keeps no positions."""
    # The section of another tool above may have the same key.
    section = re.search(rf"(?m)^[ \t]*\[[ \t]*{re.escape(SECTION)}\b", text)
    name = rf"[\"']?{re.escape(key)}[\"']?"
    line = re.compile(rf"(?m)^[ \t]*(?:\[[ \t]*{re.escape(SECTION)}\.{name}[.\]]|{name}[ \t]*[.=])")
    match = line.search(text, section.start() if section else 0)
    return text.count("\n", 0, match.start()) + 1 if match else 0


def _span_of(text: str, name: str, line: int) -> Span:
    """The first place of a name from the line of its key on."""
    for number, content in enumerate(text.splitlines()[max(line - 1, 0) :], max(line, 1)):
        if match := re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", content):
            return Span(number, match.start() + 1, number, match.end() + 1)
    return Span(max(line, 1), 1, max(line, 1), 1)


def _near(name: str, known: Iterable[str]) -> str:
    return hint(name, known, f"; use one of {', '.join(sorted(known))}")


_KINDS: Final[dict[str, tuple[type, str]]] = {
    "string": (str, "a string"),
    "boolean": (bool, "true or false"),
    "integer": (int, "an integer that is not negative"),
    "list": (list, "a list of strings"),
    "table": (dict, "a table"),
}
"""The type of the values of each kind, and its name in messages."""


def _checked(value: Any, where: str, kind: str, name: str = "") -> Any:
    """A value of a kind. Anything else, or an empty string, is an error."""
    kind_type, noun = _KINDS[kind]
    has_others = isinstance(value, list) and not all(isinstance(item, str) for item in value)
    # `isinstance` would take `true` for an integer.
    if type(value) is not kind_type or has_others or (isinstance(value, int) and value < 0):
        raise ConfigError(f"{where}: must be {noun}{name}, got {value!r}")
    if isinstance(value, str) and not value.strip():
        raise ConfigError(f"{where}: must not be empty; leave the key out for the default")
    return value


def _patterns(value: Any, _: str) -> tuple[str, ...]:
    # git does not know `./x`, which means the same as `/x`.
    return tuple(re.sub(r"^(!?)\./", r"\1/", pattern) for pattern in value)


def _selectors(value: Any, where: str) -> frozenset[str]:
    return frozenset(_checked(value, where, "list"))


def _severity(value: Any, where: str) -> Severity:
    try:
        return Severity.parse(_checked(value, where, "string"))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def _severities(value: Any, where: str) -> dict[str, Severity]:
    table = _checked(value, where, "table", " of rule to severity")
    return {name: _severity(label, f"{where}.{name}") for name, label in table.items()}


def _per_file(value: Any, where: str) -> tuple[PerFile, ...]:
    settings = []
    for pattern, rules in value.items():
        inside = f"{where}.{pattern!r}"
        entry = {"ignore": rules} if isinstance(rules, list) else rules
        if not isinstance(entry, dict):
            raise ConfigError(f"{inside}: must be a list of rules to ignore, or a table of {', '.join(_PER_FILE)}")
        for name in entry:
            if name not in _PER_FILE:
                raise ConfigError(f"{inside}.{name}: unknown key{_near(name, _PER_FILE)}")
        options = {name: _PER_FILE[name](option, f"{inside}.{name}") for name, option in entry.items()}
        if "severity" in options:
            options["severities"] = options.pop("severity")
        # Paths are matched with forward slashes on Windows too.
        settings.append(PerFile(pattern.replace("\\", "/"), **options))
    return tuple(settings)


_PER_FILE: Final[dict[str, Callable[[Any, str], Any]]] = {
    "select": _selectors,
    "ignore": _selectors,
    "severity": _severities,
}


def _table_of_lists(value: Any, where: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(_checked(names, f"{where}.{name!r}", "list")) for name, names in value.items()}


_HANDLER: Final = regex(r"[\w.*?\[\]!-]+:[\w*?\[\]!-]+(?:\.[\w*?\[\]!-]+)?")


def _handlers(value: Any, where: str) -> tuple[str, ...]:
    for entry in value:
        if not _HANDLER.fullmatch(entry):
            raise ConfigError(
                f'{where}: must be "module:function" or "module:Class.method", such as "acme.tools.*:handle_*", '
                f"not {entry!r}"
            )
    return tuple(value)


def _options(value: Any, where: str) -> dict[str, Mapping[str, Any]]:
    from mcpcore_lint import ids

    for name, table in value.items():
        if _checked(table, f"{where}.{name}", "table", " of the rule's options") and ids.is_id(name):
            raise ConfigError(f"{where}.{name}: this rule has no options, so {next(iter(table))!r} does nothing")
    return dict(value)


def _format(value: Any, where: str) -> str:
    if value not in FORMATS:
        raise ConfigError(f"{where}: unknown format {value!r}{_near(value, FORMATS)}")
    return str(value)


KEYS: Final[dict[str, Key]] = {
    "select": Key("list", "The rules to run: ids, families, prefixes or `all`.", _selectors),
    "extend-select": Key("list", "Rules to run in addition to `select`.", _selectors),
    "ignore": Key("list", "Rules not to run.", _selectors),
    "severities": Key("table", "Rule to `error`, `warning` or `info`.", _severities),
    "per-file": Key("table", "Glob to rules to ignore, or to a table of `select`, `ignore` and `severity`.", _per_file),
    "fail-on": Key("string", "The severity from which findings fail the run; `warning`.", _severity),
    "format": Key("string", "The format of the report; `full`.", _format),
    "exclude": Key("list", "Globs of files and folders to exclude, in addition to `.gitignore`.", _patterns),
    "markdown": Key("list", "Globs of Markdown files, or of folders with them, whose Python blocks are checked."),
    "include-tests": Key("boolean", "Whether to check files of tests too; `false`: read only where they are imported."),
    "respect-gitignore": Key("boolean", "Whether to exclude what `.gitignore` and `.git/info/exclude` name; `true`."),
    "source-roots": Key("list", "Folders that imports start from; detected if left out."),
    "tools": Key("list", "Tools that other servers define.", _selectors),
    "handlers": Key(
        "list",
        'Functions that are tools although the linter sees no registration: `"acme.tools.*:handle_*"`.',
        _handlers,
    ),
    "raises": Key("table", "What more functions raise: qualified name to exceptions.", _table_of_lists),
    "exceptions": Key("table", "Base classes of more exceptions: qualified name to qualified names.", _table_of_lists),
    "min-recovery-words": Key("integer", "The least number of words in a recovery; `5`."),
    "syntax-limit": Key("integer", "Check the syntax of all files if there are at most this many; `500`."),
    "cache-dir": Key("string", "The folder of the cache, relative to the file."),
    "jobs": Key("integer", "Number of processes; `0` means one for each core."),
    "options": Key("table", "Options of single rules.", _options),
}
"""Every key of the section. The documentation contains this table."""
