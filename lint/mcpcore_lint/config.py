"""Reads `[tool.mcpcore.lint]` from the nearest `pyproject.toml` and checks every key."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.diagnostics import Severity, Span
from mcpcore_lint.options import FORMATS
from mcpcore_lint.output import CannotRunError
from mcpcore_lint.patterns import regex
from mcpcore_lint.settings import NOTHING, PerFile, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

SECTION: Final = "tool.mcpcore.lint"
FILE: Final = "pyproject.toml"


class ConfigError(CannotRunError):
    """A configuration is invalid. The text names the file, the key and the next step."""


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
    unknown: tuple[UnknownRule, ...] = ()
    handlers: Mapping[str, Span] = NOTHING
    """The entries of `handlers` with their places."""


class UnknownRule(NamedTuple):
    """A name in the configuration that is not the name of a rule."""

    name: str
    key: str
    span: Span
    near: str | None
    wide: bool = False
    """Whether it means several rules where only one is allowed."""


class Key(NamedTuple):
    """One key of the section: how its value is read, and its documentation."""

    read: Callable[[Any, str], Any]
    kind: str
    meaning: str


class Finder:
    """Finds the configuration of files and folders. Each file is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Config | None] = {}

    def find(self, start: str) -> Config:
        """The configuration for a file or a folder, from the nearest `pyproject.toml` with the section.

        Without one, the root is the nearest folder with a `pyproject.toml` or a `.git`, or else the folder itself.

        Raises:
            ConfigError: If the configuration is invalid.
        """
        first = folder = _folder_of(start)
        root: str | None = None
        while True:
            config = self.own(folder)
            if config is not None:
                return config
            if root is None and (
                os.path.isfile(os.path.join(folder, FILE)) or os.path.exists(os.path.join(folder, ".git"))
            ):
                root = folder
            parent = os.path.dirname(folder)
            if parent == folder:
                return Config(root or first)
            folder = parent

    def own(self, folder: str) -> Config | None:
        """The configuration in a folder's own `pyproject.toml`.

        Raises:
            ConfigError: If the configuration is invalid.
        """
        if folder not in self._known:
            path = os.path.join(folder, FILE)
            section = _section(path) if os.path.isfile(path) else None
            self._known[folder] = None if section is None else _config(path, section, folder)
        return self._known[folder]


def load(path: str, start: str | None = None) -> Config:
    """The configuration in a file: a `pyproject.toml`, or a TOML file with only the keys of the section.

    Globs are relative to the file's folder if `start` is below it. Otherwise several projects share the file, and globs
    are relative to the project of `start`.

    Raises:
        ConfigError: If the configuration is invalid.
    """
    section = _section(path)
    if section is None:
        whole = _toml(path)
        if os.path.basename(path) == FILE or "tool" in whole:
            raise ConfigError(f"{path}: the section [{SECTION}] is missing; add it, or use a file with only its keys")
        section = whole
    root = os.path.dirname(os.path.abspath(path))
    if start is not None:
        place = _folder_of(start)
        if place != root and not place.startswith(root.rstrip(os.sep) + os.sep):
            root = _project_of(place)
    return _config(path, section, root)


def _folder_of(start: str) -> str:
    place = os.path.abspath(start)
    return place if os.path.isdir(place) else os.path.dirname(place)


def _project_of(folder: str) -> str:
    current = folder
    while True:
        if any(os.path.exists(os.path.join(current, name)) for name in (FILE, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return folder
        current = parent


def _toml(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except tomllib.TOMLDecodeError as error:
        mark = " (it begins with a byte order mark, which TOML forbids)" if _marked(path) else ""
        raise ConfigError(f"{path}: not valid TOML: {error}{mark}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not valid TOML: it is not UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: not valid TOML: it is nested too deeply") from error


def _marked(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(3) == b"\xef\xbb\xbf"


def _section(path: str) -> Mapping[str, Any] | None:
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    if b"mcpcore" not in raw:
        return None  # parsing is slow, and many files have no such section
    tool = _toml(path).get("tool")
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
        if name != "lint" and _closest(name, ("lint",)):
            raise ConfigError(f"{path}: unknown section [tool.mcpcore.{name}]; did you mean [{SECTION}]?")
    return section


def _config(path: str, section: Mapping[str, Any], root: str) -> Config:
    values: dict[str, Any] = {}
    text = _text(path)
    lines: dict[str, int] = {}
    for name, value in section.items():
        key = KEYS.get(name)
        line = _line_of(text, name)
        where = f"{path}{f':{line}' if line else ''}: [{SECTION}] {name}"
        if key is None:
            raise ConfigError(f"{where}: unknown key{_near(name, KEYS)}")
        lines[name] = line
        values[name.replace("-", "_")] = key.read(value, where)
    unknown = tuple(_unknown(values, text, lines))
    fail_on = values.pop("fail_on", Severity.WARNING)
    shape = values.pop("format", None)
    markdown = values.pop("markdown", ())
    if "cache_dir" in values:
        values["cache_dir"] = os.path.join(os.path.dirname(os.path.abspath(path)), values["cache_dir"])
    handlers = {entry: _span_of(text, entry, lines.get("handlers", 1)) for entry in values.get("handlers", ())}
    return Config(root, path, Settings(**values), fail_on, shape, markdown, lines, unknown, handlers)


def _unknown(values: Mapping[str, Any], text: str, lines: Mapping[str, int]) -> Iterator[UnknownRule]:
    """The names of unknown rules. A rule of another package is known if the package is installed."""
    named: list[tuple[str, str, bool]] = []
    for field_name in ("select", "extend_select", "ignore", "severities", "options"):
        exact = field_name in {"severities", "options"}
        named += [(name, field_name, exact) for name in sorted(values.get(field_name, ()))]
    for per_file in values.get("per_file", ()):
        named += [(name, "per_file", False) for name in sorted({*(per_file.select or ()), *per_file.ignore})]
        named += [(name, "per_file", True) for name in sorted(per_file.severities)]
    from mcpcore_lint import ids

    # Rules are loaded only for a name that is not built in, so that a cached run stays fast.
    foreign = [entry for entry in dict.fromkeys(named) if not (ids.is_id if entry[2] else ids.known)(entry[0])]
    if not foreign:
        return
    from mcpcore_lint.rules.selectors import names_a_rule, near_rule

    for name, field_name, exact in foreign:
        if not names_a_rule(name, exact=exact):
            key = field_name.replace("_", "-")
            wide = exact and names_a_rule(name)
            near = None if wide else near_rule(name)
            yield UnknownRule(name, key, _span_of(text, name, lines.get(key, 1)), near, wide)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _line_of(text: str, key: str) -> int:
    """The line of a key in the section; 0 if unknown. The TOML parser keeps no positions."""
    inside = False
    headers = any(line.strip().startswith("[tool.") for line in text.splitlines())
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("[") and "=" not in stripped.split("]")[0]:
            header = stripped.split("#")[0].strip().strip("[]").replace('"', "").replace(" ", "")
            inside = header == SECTION or header.startswith(f"{SECTION}.")
            if inside and (header == f"{SECTION}.{key}" or header.startswith(f"{SECTION}.{key}.")):
                return number
        elif (inside or not headers) and stripped.split("=")[0].split(".")[0].strip().strip("\"'") == key:
            return number
    return 0


def _span_of(text: str, name: str, start: int) -> Span:
    """The first place of a name from the line of its key on."""
    lines = text.splitlines()
    for number, line in enumerate(lines[max(start, 1) - 1 :], max(start, 1)):
        before = 0
        while (column := line.find(name, before)) >= 0:
            after = line[column + len(name) : column + len(name) + 1]
            if (not column or not _in_a_name(line[column - 1])) and not _in_a_name(after):
                return Span(number, column + 1, number, column + len(name) + 1)
            before = column + 1
    return Span(max(start, 1), 1, max(start, 1), 1)


def _in_a_name(character: str) -> bool:
    return character.isalnum() or character in {"-", "_"}


def _closest(name: str, known: Iterable[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def _near(name: str, known: Iterable[str]) -> str:
    close = _closest(name, known)
    return f"; did you mean {close!r}?" if close else f"; use one of {', '.join(sorted(known))}"


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}: must be a string, not {value!r}")
    if not value.strip():
        raise ConfigError(f"{where}: must not be empty; leave the key out for the default")
    return value


def _boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{where}: must be true or false, not {value!r}")
    return value


def _integer(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{where}: must be an integer that is not negative, got {value!r}")
    return value


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{where}: must be a list of strings, not {value!r}")
    return tuple(value)


def _patterns(value: Any, where: str) -> tuple[str, ...]:
    # git does not know `./x`, which means the same as `/x`.
    return tuple(re.sub(r"^(!?)\./", r"\1/", pattern) for pattern in _strings(value, where))


def _selectors(value: Any, where: str) -> frozenset[str]:
    return frozenset(_strings(value, where))


def severity_named(value: Any, where: str) -> Severity:
    """A severity by its label.

    Raises:
        ConfigError: If the label is unknown.
    """
    try:
        return Severity.parse(_string(value, where))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def _severities(value: Any, where: str) -> dict[str, Severity]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: must be a table of rule to severity, not {value!r}")
    return {name: severity_named(label, f"{where}.{name}") for name, label in value.items()}


_PER_FILE: Final[dict[str, tuple[str, Callable[[Any, str], Any]]]] = {
    "select": ("select", _selectors),
    "ignore": ("ignore", _selectors),
    "severity": ("severities", _severities),
}


def _per_file(value: Any, where: str) -> tuple[PerFile, ...]:
    if not isinstance(value, dict):
        raise ConfigError(f'{where}: must be a table of glob to rules, such as "tests/*" = ["all"], not {value!r}')
    settings = []
    for pattern, entry in value.items():
        inside = f"{where}.{pattern!r}"
        glob = pattern.replace("\\", "/")
        if isinstance(entry, list):
            settings.append(PerFile(glob, ignore=_selectors(entry, inside)))
            continue
        if not isinstance(entry, dict):
            raise ConfigError(f"{inside}: must be a list of rules to ignore, or a table of {', '.join(_PER_FILE)}")
        options = {}
        for name, option in entry.items():
            if name not in _PER_FILE:
                raise ConfigError(f"{inside}.{name}: unknown key{_near(name, _PER_FILE)}")
            target, read = _PER_FILE[name]
            options[target] = read(option, f"{inside}.{name}")
        settings.append(PerFile(glob, **options))
    return tuple(settings)


def _table_of_lists(value: Any, where: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: must be a table of qualified name to a list of qualified names, not {value!r}")
    return {name: _strings(names, f"{where}.{name!r}") for name, names in value.items()}


_HANDLER: Final = regex(r"[\w.*?\[\]!-]+:[\w*?\[\]!-]+(?:\.[\w*?\[\]!-]+)?")


def _handlers(value: Any, where: str) -> tuple[str, ...]:
    entries = _strings(value, where)
    for entry in entries:
        if not _HANDLER.fullmatch(entry):
            raise ConfigError(
                f'{where}: must be "module:function" or "module:Class.method", such as "acme.tools.*:handle_*", '
                f"not {entry!r}"
            )
    return entries


def _options(value: Any, where: str) -> dict[str, Mapping[str, Any]]:
    from mcpcore_lint import ids

    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ConfigError(f"{where}: must be a table of rule to a table of its options, not {value!r}")
    for name, table in value.items():
        if table and ids.is_id(name):
            raise ConfigError(f"{where}.{name}: this rule has no options, so {next(iter(table))!r} does nothing")
    return dict(value)


def _format(value: Any, where: str) -> str:
    name = _string(value, where)
    if name not in FORMATS:
        raise ConfigError(f"{where}: unknown format {name!r}{_near(name, FORMATS)}")
    return name


KEYS: Final[dict[str, Key]] = {
    "select": Key(_selectors, "list", "The rules to run: ids, families, prefixes or `all`."),
    "extend-select": Key(_selectors, "list", "Rules to run in addition to `select`."),
    "ignore": Key(_selectors, "list", "Rules not to run."),
    "severities": Key(_severities, "table", "Rule to `error`, `warning` or `info`."),
    "per-file": Key(_per_file, "table", "Glob to rules to ignore, or to a table of `select`, `ignore` and `severity`."),
    "fail-on": Key(severity_named, "string", "The severity from which findings fail the run; `warning`."),
    "format": Key(_format, "string", "The format of the report; `full`."),
    "exclude": Key(_patterns, "list", "Globs of files and folders to exclude, in addition to `.gitignore`."),
    "markdown": Key(
        _strings, "list", "Globs of Markdown files, or of folders with them, whose Python blocks are checked."
    ),
    "respect-gitignore": Key(_boolean, "boolean", "Whether to exclude what git ignores; `true`."),
    "source-roots": Key(_strings, "list", "Folders that imports start from; detected if left out."),
    "tools": Key(lambda value, where: frozenset(_strings(value, where)), "list", "Tools that other servers define."),
    "handlers": Key(
        _handlers,
        "list",
        'Functions that are tools although the linter sees no registration: `"acme.tools.*:handle_*"`.',
    ),
    "raises": Key(_table_of_lists, "table", "What more functions raise: qualified name to exceptions."),
    "exceptions": Key(_table_of_lists, "table", "Base classes of more exceptions: qualified name to qualified names."),
    "min-recovery-words": Key(_integer, "integer", "The least number of words in a recovery; `5`."),
    "syntax-limit": Key(_integer, "integer", "Check the syntax of all files if there are at most this many; `500`."),
    "cache-dir": Key(_string, "string", "The folder of the cache, relative to the file."),
    "jobs": Key(_integer, "integer", "Number of processes; `0` means one for each core."),
    "options": Key(_options, "table", "Options of single rules."),
}
"""Every key of the section. The documentation contains this table."""
