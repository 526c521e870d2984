"""Which files of some folders are read: every Python file that neither `.gitignore` nor the settings leave out."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.settings import Settings

SKIPPED: Final = frozenset(
    {"__pycache__", "node_modules", "site-packages", "venv", "_build", "build", "dist", "buck-out", "__pypackages__"}
)
"""Folders that hold nothing that people wrote; names that start with a dot are left out too."""

TEMPLATE: Final = "{{"
"""What the names of folders and files of a template have in them; what stands in those is no Python yet."""

_VIRTUAL_ENVIRONMENT: Final = "pyvenv.cfg"


class Found(NamedTuple):
    """A file, and by what it is seen whether it has changed."""

    path: str
    mtime_ns: int
    size: int
    inode: int


class _Pattern(NamedTuple):
    """One line. Most are plain: a name, the end of a name, or a path, each compared as it is."""

    line: str
    negated: bool
    folders_only: bool
    name: str | None = None
    ending: str | None = None
    whole: str | None = None

    @property
    def plain(self) -> bool:
        return self.name is not None or self.ending is not None or self.whole is not None

    def matches(self, path: str, name: str, raw: str) -> bool:
        """Whether a path, which ends in `name`, is one of those meant; `raw` has a character for each of its bytes."""
        if self.name is not None:
            return name == self.name
        if self.ending is not None:
            return name.endswith(self.ending)
        if self.whole is not None:
            return path == self.whole
        expression = _expression(self.line)
        return expression is not None and expression.match(raw) is not None


class _Screen(NamedTuple):
    """What tells that a path matches none of the patterns of a file, as most do."""

    names: frozenset[str]
    endings: tuple[str, ...]
    wholes: frozenset[str]
    others: re.Pattern[str] | None

    @classmethod
    def of(cls, rows: Iterable[_Pattern]) -> _Screen:
        """That of some patterns."""
        rows = tuple(rows)
        sources = dict.fromkeys(source for row in rows if not row.plain and (source := _translate(row.line)))
        return cls(
            frozenset(row.name for row in rows if row.name is not None),
            tuple({row.ending for row in rows if row.ending is not None}),
            frozenset(row.whole for row in rows if row.whole is not None),
            re.compile("|".join(rf"(?:{each})\Z" for each in sources)) if sources else None,
        )

    def passes(self, path: str, name: str, raw: str) -> bool:
        """Whether some pattern matches."""
        return (
            name in self.names
            or name.endswith(self.endings)
            or path in self.wholes
            or (self.others is not None and self.others.match(raw) is not None)
        )


class _Patterns:
    """The patterns of one file."""

    def __init__(self, rows: tuple[_Pattern, ...]) -> None:
        self.rows = rows
        self._screens: dict[bool, _Screen] = {}

    def __bool__(self) -> bool:
        return bool(self.rows)

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Whether the last pattern that matches leaves the path out; None where none matches."""
        screen = self._screens.get(folder)
        if screen is None:
            screen = _Screen.of(row for row in self.rows if folder or not row.folders_only)
            self._screens[folder] = screen
        name = path[path.rfind("/") + 1 :]
        raw = path if path.isascii() else _bytewise(path)
        if not screen.passes(path, name, raw):
            return None
        for row in reversed(self.rows):
            if (folder or not row.folders_only) and row.matches(path, name, raw):
                return not row.negated
        return None


@lru_cache(maxsize=1024)
def _expression(line: str) -> re.Pattern[str] | None:
    source = _translate(line)
    return None if source is None else re.compile(rf"{source}\Z")


def _bytewise(text: str) -> str:
    """A text with a character for each byte: what `?` and brackets stand for in git."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _translate(pattern: str) -> str | None:
    """A `.gitignore` pattern as a regular expression over the path below the folder of the file; None matches nothing.

    Source of the form: gitignore(5), and what git's own matcher makes of brackets. Whatever stands before a further
    star is matched once and for all, where it first can: that is enough, and a pattern of many stars takes no longer.
    """
    body = _bytewise(pattern).removesuffix("/")
    anchored = "/" in body
    out = "(?s:.*/)?"
    if anchored:
        body = body.removeprefix("/")
        # Git compares what stands before the first wildcard by itself, so that `a**/b` goes on as `**/b`.
        plain = re.match(r"[^*?\[\\]*", body)
        length = plain.end() if plain else 0
        out, body = re.escape(body[:length]), body[length:]
    components = _components(body)
    if components is None:
        return None
    while components:
        if components[0] == _FOLDERS:
            while components and components[0] == _FOLDERS:
                components = components[1:]
            if not components:
                return f"{out}(?s:.*)"
            following = next((place for place, each in enumerate(components) if each == _FOLDERS), None)
            if following is None or following == len(components) - 1:
                out += "(?s:.*/)?"
                continue
            fixed = "/".join(map(_component, components[:following]))
            out += f"(?>(?s:.*?/)??{fixed}/)"
            components = components[following:]
            continue
        out += _component(components[0])
        components = components[1:]
        if components:
            out += "/"
    return out


_STAR: Final = "*"
_FOLDERS: Final = ("**",)
_CLASSES: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9", "graph": "!-~",
    "lower": "a-z", "print": " -~", "punct": r"!-\/:-@\[-`{-~", "space": r"\t-\r ", "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
"""What the named classes of a bracket hold."""


def _component(items: tuple[str, ...]) -> str:
    """A name between two slashes as an expression."""
    out = ""
    stars = items.count(_STAR)
    index = 0
    while index < len(items):
        if items[index] != _STAR:
            out += items[index]
            index += 1
            continue
        end = index + 1
        while end < len(items) and items[end] != _STAR:
            end += 1
        fixed = "".join(items[index + 1 : end])
        stars -= 1
        out += f"(?>[^/]*?{fixed})" if stars else f"[^/]*{fixed}"
        index = end
    return out


def _components(body: str) -> list[tuple[str, ...]] | None:
    """The names between the slashes of a pattern, each a row of stars and of expressions for one character."""
    found: list[tuple[str, ...]] = []
    items: list[str] = []
    index = 0
    while index <= len(body):
        char = body[index : index + 1]
        if char in {"/", ""}:
            found.append(tuple(items))
            items = []
            index += 1
        elif char == "*":
            end = index
            while body[end : end + 1] == "*":
                end += 1
            alone = not items and body[end : end + 1] in {"", "/"}
            items.append(_FOLDERS[0] if alone and end - index > 1 else _STAR)
            index = end
        elif char == "?":
            items.append("[^/]")
            index += 1
        elif char == "[":
            bracket = _bracket(body, index + 1)
            if bracket is None:
                return None
            items.append(bracket[0])
            index = bracket[1]
        elif char == "\\":
            if index + 1 == len(body):
                return None
            items.append(re.escape(body[index + 1]))
            index += 2
        else:
            items.append(re.escape(char))
            index += 1
    return found


def _bracket(body: str, index: int) -> tuple[str, int] | None:
    """What stands in a bracket as an expression, and where it ends; None where git would match nothing by it."""
    negated = body[index : index + 1] in {"!", "^"}
    first = index = index + negated
    ranges: list[str] = []
    previous = ""
    while True:
        char = body[index : index + 1]
        if not char:
            return None
        if char == "]" and index > first:
            break
        if char == "\\":
            index += 1
            char = body[index : index + 1]
            if not char:
                return None
            ranges.append(re.escape(char))
            previous = char
        elif char == "-" and previous and body[index + 1 : index + 2] not in {"", "]"}:
            index += 1
            if body[index] == "\\":
                index += 1
            char = body[index : index + 1]
            if not char:
                return None
            if previous <= char:
                ranges.append(f"{re.escape(previous)}-{re.escape(char)}")
            previous = ""
        elif char == "[" and body[index + 1 : index + 2] == ":":
            end = body.find("]", index + 2)
            if end < 0:
                return None
            if end - index < 3 or body[end - 1] != ":":
                ranges.append(r"\[")
                previous = char
            else:
                named = _CLASSES.get(body[index + 2 : end - 1])
                if named is None:
                    return None
                ranges.append(named)
                previous = ""
                index = end
        else:
            ranges.append(re.escape(char))
            previous = char
        index += 1
    inside = "".join(ranges)
    if negated:
        return f"[^/{inside}]", index + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), index + 1


def _compile(lines: Iterable[str]) -> _Patterns:
    return _compiled(tuple(lines))


@lru_cache(maxsize=256)
def _compiled(lines: tuple[str, ...]) -> _Patterns:
    """The patterns of some lines; the folders of a large repository often have the same file."""
    found: list[_Pattern] = []
    for raw in lines:
        line = _BLANKS.sub(r"\1", raw)
        if not line or line.startswith("#"):
            continue
        negated = line.startswith("!")
        if negated:
            line = line[1:]
        if not line.strip("/"):
            continue
        found.append(_pattern(line, negated=negated))
    return _Patterns(tuple(found))


def _pattern(line: str, *, negated: bool) -> _Pattern:
    folders_only = line.endswith("/")
    body = line.removesuffix("/")
    starred = body.startswith("*")
    rest = body.removeprefix("*")
    if _WILD.search(rest) is None:
        if "/" not in body:
            if starred:
                return _Pattern(line, negated, folders_only, ending=rest)
            return _Pattern(line, negated, folders_only, name=body)
        if not starred:
            return _Pattern(line, negated, folders_only, whole=body.removeprefix("/"))
    return _Pattern(line, negated, folders_only)


_WILD: Final = regex(r"[*?\[\\]")

_BLANKS: Final = regex(r"^((?:[^\\ ]|\\.| +(?! *$))*\\?) *$", re.DOTALL)
"""A line, and the blanks at its end that no backslash keeps."""


def _read_patterns(path: str) -> _Patterns:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            text = file.read()
    except OSError:
        return _Patterns(())
    return _compile(line.removesuffix("\r") for line in text.split("\n"))


class _Level(NamedTuple):
    base: str
    patterns: _Patterns


def _ignored(path: str, levels: Sequence[_Level], *, folder: bool) -> bool:
    """Whether the patterns leave a path out; the nearest file's last match decides."""
    for level in reversed(levels):
        below = path[len(level.base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        verdict = level.patterns.verdict(below, folder=folder)
        if verdict is not None:
            return verdict
    return False


def _levels_above(folder: str, inputs: list[str]) -> list[_Level]:
    """The `.gitignore` files of the repository that hold above a folder."""
    chain: list[str] = []
    current = folder
    top: str | None = None
    while True:
        chain.append(current)
        if os.path.exists(os.path.join(current, ".git")):
            top = current
            break
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    if top is None:
        return []
    found = _levels_of(top, inputs)
    for each in reversed(chain[1:]):
        file = os.path.join(each, ".gitignore")
        inputs.append(file)
        patterns = _read_patterns(file)
        if patterns:
            found.append(_Level(each, patterns))
    return found


def _levels_of(top: str, inputs: list[str]) -> list[_Level]:
    """What holds for a whole repository: its user's own excludes, then its `info/exclude`."""
    git = _common_folder(os.path.join(top, ".git"), inputs)
    files = [_users_excludes(git, inputs), os.path.join(git, "info", "exclude")]
    inputs += files
    return [_Level(top, patterns) for path in files if (patterns := _read_patterns(path))]


def _common_folder(git: str, inputs: list[str]) -> str:
    """Where a repository keeps what its working trees share; in a further tree or a submodule, `.git` is a file."""
    if os.path.isdir(git):
        return git
    named = _text(git, inputs).strip()
    if not named.startswith("gitdir:"):
        return git
    own = os.path.join(os.path.dirname(git), named.removeprefix("gitdir:").strip())
    common = _text(os.path.join(own, "commondir"), inputs).strip()
    return os.path.normpath(os.path.join(own, common))


_EXCLUDES: Final = regex(r'^[ \t]*excludes?file[ \t]*=[ \t]*"?([^"\r\n;#]+)', re.IGNORECASE | re.MULTILINE)


def _users_excludes(git: str, inputs: list[str]) -> str:
    """The file that `core.excludesFile` names, read without git: starting that takes longer than most runs."""
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
    own = os.path.join(settings, "git")
    configured = [os.path.join(git, "config")]
    if "GIT_CONFIG_GLOBAL" in os.environ:
        configured.append(os.environ["GIT_CONFIG_GLOBAL"])
    else:
        configured += [os.path.join("~", ".gitconfig"), os.path.join(own, "config")]
    for path in configured:
        text = _text(os.path.expanduser(path), inputs)
        named: list[str] = _EXCLUDES.findall(text)
        if named:
            return os.path.expanduser(named[-1].strip().replace("\\\\", "\\"))
    return os.path.expanduser(os.path.join(own, "ignore"))


def _text(path: str, inputs: list[str]) -> str:
    inputs.append(path)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


class Walk:
    """Finds the files; what could not be read is in `failures`."""

    def __init__(self, settings: Settings, root: str) -> None:
        self.settings = settings
        self.root = root
        self.exclude = _compile(settings.exclude)
        self.files: dict[str, Found] = {}
        self.failures: list[Failure] = []
        self.configured: list[str] = []
        """Folders with a `pyproject.toml`, which may say otherwise for what lies below them."""
        self.inputs: list[str] = []
        """Absolute paths of all else that decided which files are found: folders, and files of patterns."""

    def run(self, paths: Sequence[str | os.PathLike[str]]) -> Walk:
        """Find the files that some paths name: a file named outright is read whatever the settings leave out."""
        for each in paths:
            path = os.path.abspath(os.fspath(each))
            if os.path.isdir(path):
                levels = _levels_above(path, self.inputs) if self.settings.respect_gitignore else []
                self._folder(path, levels)
            else:
                try:
                    stat = os.stat(path)
                except OSError as error:
                    self._fail(path, error)
                    continue
                if not S_ISREG(stat.st_mode):
                    # Reading a pipe or a device may never end.
                    self._fail(path, OSError(None, "not a regular file; `-` reads standard input"))
                    continue
                self.files[path] = Found(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return self

    def _fail(self, path: str, error: OSError) -> None:
        shown = path.removeprefix(self.root.rstrip(os.sep) + os.sep)
        self.failures.append(Failure(shown.replace(os.sep, "/"), f"cannot be read: {error.strerror or error}"))

    def _folder(self, top: str, levels: list[_Level]) -> None:
        exclude = [_Level(self.root, self.exclude)] if self.exclude else []
        stack: list[tuple[str, list[_Level]]] = [(top, levels)]
        files = self.files
        while stack:
            folder, above = stack.pop()
            self.inputs.append(folder)
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda each: each.name)
            except OSError as error:
                self._fail(folder, error)
                continue
            names = {each.name for each in entries}
            if _VIRTUAL_ENVIRONMENT in names:
                continue
            if "pyproject.toml" in names:
                self.configured.append(folder)
            here = above
            if folder != top and ".git" in names and self.settings.respect_gitignore:
                # A repository of its own goes by its own patterns.
                here = _levels_of(folder, self.inputs)
            if ".gitignore" in names and self.settings.respect_gitignore:
                self.inputs.append(os.path.join(folder, ".gitignore"))
                patterns = _read_patterns(self.inputs[-1])
                if patterns:
                    here = [*here, _Level(folder, patterns)]
            folders: list[tuple[str, list[_Level]]] = []
            for entry in entries:
                name = entry.name
                try:
                    # A link to a folder is not followed: what it leads to is found where it really is, or lies outside.
                    if entry.is_dir(follow_symlinks=False):
                        if name[0] == "." or name in SKIPPED or TEMPLATE in name:
                            continue
                        if (here and _ignored(entry.path, here, folder=True)) or (
                            exclude and _inside(entry.path, self.root) and _ignored(entry.path, exclude, folder=True)
                        ):
                            continue
                        folders.append((entry.path, here))
                    elif name.endswith(".py") and TEMPLATE not in name:
                        if (here and _ignored(entry.path, here, folder=False)) or (
                            exclude and _inside(entry.path, self.root) and _ignored(entry.path, exclude, folder=False)
                        ):
                            continue
                        if not entry.is_file():
                            continue
                        stat = entry.stat()
                        files[entry.path] = Found(entry.path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
                except OSError as error:
                    self._fail(entry.path, error)
            folders.reverse()
            stack.extend(folders)


def _inside(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)
