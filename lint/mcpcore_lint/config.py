"""`[tool.mcpcore.lint]`: read from the nearest `pyproject.toml`, checked key by key, and made into `Settings`."""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.settings import PerFile, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SECTION: Final = "tool.mcpcore.lint"
FILE: Final = "pyproject.toml"


class ConfigError(Exception):
    """A configuration that cannot be used; the text says which file, which key and what next."""


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a folder and all below it, down to the next one that has its own."""

    root: str
    """The folder that paths and globs are relative to."""
    path: str | None = None
    """The file that it was read from; None for the defaults."""
    settings: Settings = field(default_factory=Settings)
    fail_on: Severity = Severity.WARNING
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the section: how its value is read, and what the documentation says of it."""

    read: Callable[[Any, str], Any]
    kind: str
    meaning: str


def find(start: str) -> Config:
    """The configuration for a file or a folder: that of the nearest `pyproject.toml` with the section.

    Where none has it, the root is the nearest folder with a `pyproject.toml` or a `.git`, else `start` itself.

    Raises:
        ConfigError: If the file cannot be read or holds what it should not.
    """
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    root, first = None, folder
    while True:
        candidate = os.path.join(folder, FILE)
        if os.path.isfile(candidate):
            section = _section(candidate)
            if section is not None:
                return _config(candidate, section)
            root = root or folder
        elif root is None and os.path.exists(os.path.join(folder, ".git")):
            root = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config(root or first)
        folder = parent


def load(path: str) -> Config:
    """The configuration in the file at `path`: a `pyproject.toml`, or a TOML file of the section's keys alone.

    Raises:
        ConfigError: If the file cannot be read or holds what it should not.
    """
    section = _section(path)
    if section is None:
        whole = _toml(path)
        if os.path.basename(path) == FILE or "tool" in whole:
            raise ConfigError(f"{path}: there is no [{SECTION}] in it")
        section = whole
    return _config(path, section)


def nested(root: str, skip: Callable[[str], bool]) -> list[str]:
    """Folders below `root` that have a configuration of their own; `skip` tells of a folder that is not read.

    Raises:
        ConfigError: If one of the files cannot be read.
    """
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not skip(os.path.join(folder, name)))
        if folder != root and FILE in files and _section(os.path.join(folder, FILE)) is not None:
            found.append(folder)
    return found


def _toml(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _section(path: str) -> Mapping[str, Any] | None:
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    if b"mcpcore" not in raw:
        return None  # parsing is dear where many projects have no such section
    found: Any = _toml(path)
    for part in SECTION.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _config(path: str, section: Mapping[str, Any]) -> Config:
    values: dict[str, Any] = {}
    for name, value in section.items():
        key = KEYS.get(name)
        where = f"{path}{_line_of(path, name)}: [{SECTION}] {name}"
        if key is None:
            raise ConfigError(f"{where}: there is no such key{_near(name, KEYS)}")
        values[name.replace("-", "_")] = key.read(value, where)
    fail_on = values.pop("fail_on", Severity.WARNING)
    shape = values.pop("format", None)
    root = os.path.dirname(os.path.abspath(path))
    if "cache_dir" in values:
        values["cache_dir"] = os.path.join(root, values["cache_dir"])
    return Config(root, path, Settings(**values), fail_on, shape)


def _line_of(path: str, key: str) -> str:
    """`:12`, where the key stands on line 12; TOML's reader keeps no positions."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            inside = False
            for number, line in enumerate(file, 1):
                text = line.strip()
                if text.startswith("["):
                    header = text.strip("[] ")
                    inside = header.startswith(SECTION)
                    if inside and header == f"{SECTION}.{key}":
                        return f":{number}"
                elif inside and text.split("=")[0].strip().strip("\"'") == key:
                    return f":{number}"
    except OSError:
        pass
    return ""


def _near(name: str, known: Mapping[str, object] | Sequence[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(sorted(known))}"


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}: must be a string, not {value!r}")
    return value


def _boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{where}: must be true or false, not {value!r}")
    return value


def _integer(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{where}: must be a whole number from 0 up, not {value!r}")
    return value


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ConfigError(f"{where}: must be a list of strings, not {value!r}")
    return tuple(value)


def rules_named(value: Any, where: str) -> frozenset[str]:
    """Selectors of rules, each checked to select something.

    Raises:
        ConfigError: If one selects nothing.
    """
    from mcpcore_lint.rules import FAMILIES, all_rules, matches

    rules = all_rules()
    names = frozenset(_strings(value, where))
    for name in sorted(names):
        if not any(matches(rule, name) for rule in rules.values()):
            raise ConfigError(f"{where}: no rule is named {name!r}{_near(name, [*rules, *FAMILIES, 'all'])}")
    return names


def severity_named(value: Any, where: str) -> Severity:
    """A severity by its label.

    Raises:
        ConfigError: If there is none.
    """
    try:
        return Severity.parse(_string(value, where))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def _severities(value: Any, where: str) -> dict[str, Severity]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: must be a table of rule to severity, not {value!r}")
    from mcpcore_lint.rules import all_rules

    found = {}
    for name, label in value.items():
        if name not in all_rules():
            raise ConfigError(f"{where}: no rule is named {name!r}{_near(name, all_rules())}")
        found[name] = severity_named(label, f"{where}.{name}")
    return found


_PER_FILE: Final[dict[str, tuple[str, Callable[[Any, str], Any]]]] = {
    "select": ("select", rules_named),
    "ignore": ("ignore", rules_named),
    "severity": ("severities", _severities),
}


def _per_file(value: Any, where: str) -> tuple[PerFile, ...]:
    if not isinstance(value, dict):
        raise ConfigError(f'{where}: must be a table of glob to rules, such as "tests/*" = ["all"], not {value!r}')
    found = []
    for pattern, entry in value.items():
        inside = f"{where}.{pattern!r}"
        if isinstance(entry, list):
            found.append(PerFile(pattern, ignore=rules_named(entry, inside)))
            continue
        if not isinstance(entry, dict):
            raise ConfigError(f"{inside}: must be a list of rules to ignore, or a table of {', '.join(_PER_FILE)}")
        options = {}
        for name, option in entry.items():
            if name not in _PER_FILE:
                raise ConfigError(f"{inside}.{name}: there is no such key{_near(name, _PER_FILE)}")
            target, read = _PER_FILE[name]
            options[target] = read(option, f"{inside}.{name}")
        found.append(PerFile(pattern, **options))
    return tuple(found)


def _table_of_lists(value: Any, where: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: must be a table of qualified name to a list of qualified names, not {value!r}")
    return {name: _strings(each, f"{where}.{name!r}") for name, each in value.items()}


def _options(value: Any, where: str) -> dict[str, Mapping[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise ConfigError(f"{where}: must be a table of rule to a table of its options, not {value!r}")
    from mcpcore_lint.rules import all_rules

    for name in value:
        if name not in all_rules():
            raise ConfigError(f"{where}: no rule is named {name!r}{_near(name, all_rules())}")
    return dict(value)


def _format(value: Any, where: str) -> str:
    from mcpcore_lint.report import FORMATS

    name = _string(value, where)
    if name not in FORMATS:
        raise ConfigError(f"{where}: there is no format {name!r}{_near(name, FORMATS)}")
    return name


KEYS: Final[dict[str, Key]] = {
    "select": Key(rules_named, "list", "The rules to run: ids, families, prefixes or `all`."),
    "extend-select": Key(rules_named, "list", "Rules to run beside those of `select`."),
    "ignore": Key(rules_named, "list", "Rules not to run."),
    "severities": Key(_severities, "table", "Rule to `error`, `warning` or `info`."),
    "per-file": Key(_per_file, "table", "Glob to rules to ignore, or to a table of `select`, `ignore` and `severity`."),
    "fail-on": Key(severity_named, "string", "The severity from which findings fail the run; `warning`."),
    "format": Key(_format, "string", "The format of the report; `full`."),
    "exclude": Key(_strings, "list", "Globs of files and folders that are not read, beside `.gitignore`."),
    "respect-gitignore": Key(_boolean, "boolean", "Whether what git ignores is left out; `true`."),
    "source-roots": Key(_strings, "list", "Folders that imports start from; found by themselves where left out."),
    "tools": Key(lambda value, where: frozenset(_strings(value, where)), "list", "Tools that no file here defines."),
    "raises": Key(_table_of_lists, "table", "What further functions raise: qualified name to exceptions."),
    "exceptions": Key(_table_of_lists, "table", "Bases of further exceptions: qualified name to qualified names."),
    "min-recovery-words": Key(_integer, "integer", "A recovery of fewer words is too short; `5`."),
    "syntax-limit": Key(_integer, "integer", "Check all files for syntax in trees of at most so many; `500`."),
    "cache-dir": Key(_string, "string", "Where the cache lies, relative to the file."),
    "jobs": Key(_integer, "integer", "Processes; `0` is one for each core."),
    "options": Key(_options, "table", "Options of single rules."),
}
"""Every key of the section. The documentation prints this table."""
