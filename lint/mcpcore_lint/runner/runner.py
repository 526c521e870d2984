"""One run of the command: which files under which configuration, what they come to, and what is mended.

Nothing that parses or judges is imported before a file has to be judged.
"""

from __future__ import annotations

import os
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint import config
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Diagnostic, Failure, Span
from mcpcore_lint.runner.discover import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mcpcore_lint.config import Config
    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.runner.engine import Report
    from mcpcore_lint.settings import Settings

DOCUMENTS: Final = (".md", ".markdown")
"""How the names of files end whose Python blocks are checked."""


def is_document(path: str) -> bool:
    """Whether the name of a file says that it is Markdown."""
    return path.lower().endswith(DOCUMENTS)


class Group(NamedTuple):
    """Paths that share a configuration."""

    config: Config
    paths: tuple[str, ...]
    walk: Walk | None = None
    """The Python files that the paths hold."""
    documents: tuple[str, ...] = ()
    """Absolute paths of Markdown files."""

    def inputs(self) -> Iterator[str]:
        """Files and folders that decided which files these are, and the files."""
        if self.config.path is not None:
            yield os.path.abspath(self.config.path)
        if self.walk is not None:
            yield from self.walk.inputs
            yield from self.walk.files
            for each in self.walk.configured:
                yield os.path.join(each, config.FILE)


class Result:
    """What the groups of a run came to, put together; all paths are relative to one folder."""

    def __init__(self, base: str) -> None:
        """Make an empty one for a folder: the top of the repository, else the outermost project."""
        self.base = base
        self.diagnostics: list[Diagnostic] = []
        self.failures: list[Failure] = []
        self.files = 0
        self.tools = 0
        """How many tools there are, without those that tests register."""
        self.registered = 0
        """The same, with resources and prompts."""
        self.suppressed = 0
        self.inputs: list[str] | None = []
        """Files and folders that the outcome rests on, of which all counts; None where they are not all known."""
        self.texts: dict[str, str | None] = {}
        """Texts by path in the report, as they were when judged or, where that is not known, first asked for."""
        self.places: dict[str, str] = {}
        """Paths of the report as a reader opens them, as far as asked."""

    def absolute(self, path: str) -> str:
        """The file behind a path of the report."""
        return os.path.normpath(os.path.join(self.base, path))

    def source(self, path: str) -> str | None:
        """The text of a file by its path in the report."""
        if path not in self.texts:
            self.texts[path] = _text_of(self.absolute(path))
        return self.texts[path]

    def place(self, path: str) -> str:
        """A path of the report as a reader opens it: from the current folder, where that is not longer."""
        found = self.places.get(path)
        if found is None:
            absolute = self.absolute(path) if path else self.base
            try:
                near = os.path.relpath(absolute)
            except ValueError:  # another drive
                near = absolute
            found = self.places[path] = min(near, absolute, key=len).replace(os.sep, "/")
        return found

    def shown(self, absolute: str) -> str:
        """A file as the report names it."""
        return _below(absolute, self.base)

    def take(self, report: Report, root: str) -> None:
        """Add what a group came to."""
        move = _mover(root, self.base)
        for each in report.diagnostics:
            self.diagnostics.append(_moved(each, move))
        self.failures += (each._replace(path=move(each.path)) for each in report.failures)
        self.files += report.files
        registered = [each for each in report.tools if not each.in_test]
        self.registered += len(registered)
        self.tools += sum(each.kind == "tool" for each in registered)
        self.suppressed += report.suppressed
        if report.inputs is None:
            self.inputs = None
        elif self.inputs is not None:
            self.inputs += report.inputs


def _text_of(absolute: str) -> str | None:
    try:
        with open(absolute, "rb") as file:
            return _decoded(absolute, file.read())
    except OSError:
        return None


def _decoded(absolute: str, raw: bytes) -> str:
    from mcpcore_lint.syntax.source import Source, SourceError

    try:
        return Source.from_bytes(absolute, raw).text
    except SourceError:
        return raw.decode("utf-8", "replace")


def _mover(root: str, base: str) -> Callable[[str], str]:
    """Makes a path that is relative to `root` relative to `base`."""
    if root == base:
        return lambda path: path

    def move(path: str) -> str:
        return _below(os.path.normpath(os.path.join(root, path)), base)

    return move


def _below(absolute: str, base: str) -> str:
    lead = base.rstrip(os.sep) + os.sep
    return (absolute.removeprefix(lead)).replace(os.sep, "/")


def _moved(each: Diagnostic, move: Callable[[str], str]) -> Diagnostic:
    path = move(each.path)
    if path == each.path:
        return each
    related = tuple(one._replace(path=move(one.path)) for one in each.related)
    return each._replace(path=path, related=related)


# ---------------------------------------------------------------------------------------------------------------------
# Which files, under which configuration.
# ---------------------------------------------------------------------------------------------------------------------


def groups(
    paths: Sequence[str], change: Callable[[Settings], Settings], *, given: str | None = None, read: bool = True
) -> list[Group]:
    """The paths by the configuration that is nearest to each, which `change` completes with the options.

    Args:
        paths: Files and folders.
        change: Puts the options of the command over the settings.
        given: A configuration that is used alone.
        read: Whether folders are read, for the files in them and for configurations further down.

    Raises:
        ConfigError: If a configuration cannot be used.
    """
    finder = config.Finder()
    waiting: dict[str, tuple[Config, list[str]]] = {}
    for path in paths:
        nearest = finder.find(path) if given is None else config.load(given, paths[0])
        waiting.setdefault(nearest.root, (nearest, []))[1].append(path)
    made: list[Group] = []
    while waiting:
        # The outermost first, since what lies below it may come to a configuration of its own.
        root = min(waiting, key=len)
        found, mine = waiting.pop(root)
        found = found._replace(settings=change(found.settings))
        if not read:
            made.append(Group(found, tuple(mine)))
            continue
        code = [path for path in mine if os.path.isdir(path) or not is_document(path)]
        walk = Walk(found.settings, root).run(code)
        if given is None:
            for folder, inner in _inner(walk, root, finder, mine):
                waiting.setdefault(inner.root, (inner, []))[1].append(folder)
        documents = tuple(dict.fromkeys(_documents(found, mine)))
        if walk.files or walk.failures or not documents:
            made.append(Group(found, tuple(code), walk, documents))
        else:
            made.append(Group(found, (), None, documents))
    return made


def _inner(walk: Walk, root: str, finder: config.Finder, paths: Sequence[str]) -> Iterator[tuple[str, Config]]:
    """The folders below that have a configuration of their own; their files are taken out of the walk."""
    named = {os.path.abspath(path) for path in paths}
    taken: list[str] = []
    for folder in sorted(walk.configured, key=len):
        if folder == root or any(folder.startswith(each) for each in taken):
            continue
        found = finder.own(folder)
        if found is None or found.root == root:
            continue
        lead = folder + os.sep
        taken.append(lead)
        walk.files = {path: each for path, each in walk.files.items() if not path.startswith(lead) or path in named}
        yield folder, found


def _documents(found: Config, paths: Sequence[str]) -> Iterator[str]:
    """The Markdown files that were named, and those of the configuration that lie in a folder that was."""
    for path in paths:
        absolute = os.path.abspath(path)
        if not os.path.isdir(path):
            if is_document(path):
                yield absolute
            continue
        lead = absolute.rstrip(os.sep) + os.sep
        for pattern in found.markdown:
            for each in _matching(found.root, pattern):
                if each.startswith(lead):
                    yield each


def _matching(root: str, pattern: str) -> list[str]:
    import glob

    whole = os.path.join(glob.escape(root), pattern)
    matching = glob.glob(whole, recursive=True)
    files: list[str] = []
    for each in sorted(matching):
        if os.path.isdir(each):
            files += sorted(glob.glob(os.path.join(glob.escape(each), "**", "*.md"), recursive=True))
        elif is_document(each):
            files.append(each)
    return [os.path.normpath(each) for each in files]


def base_of(made: Sequence[Group]) -> str:
    """The folder to which the paths of a run are relative."""
    roots = [each.config.root for each in made]
    try:
        top = os.path.commonpath(roots)
    except ValueError:  # several drives
        return roots[0]
    folder = top
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return top
        folder = parent
    return folder


# ---------------------------------------------------------------------------------------------------------------------
# What they come to.
# ---------------------------------------------------------------------------------------------------------------------


def lint_groups(
    made: Sequence[Group],
    *,
    cache: bool = True,
    progress: Callable[[int, int], None] | None = None,
    given: Mapping[str, bytes] | None = None,
) -> Result:
    """Lint each group, and put what they come to together; `given` holds contents that go before those on disk."""
    from mcpcore_lint.runner.engine import lint_paths

    result = Result(base_of(made))
    for path, raw in (given or {}).items():
        result.texts[_below(path, result.base)] = _decoded(path, raw)
    for group in made:
        if group.walk is not None:
            report = lint_paths(
                group.paths,
                settings=group.config.settings,
                root=group.config.root,
                cache=cache,
                progress=progress,
                found=group.walk,
                given=given,
            )
            result.take(report, group.config.root)
            _unknown_handlers(group, report.tools, result)
            if result.inputs is not None:
                result.inputs += group.inputs()
        if group.config.markdown:
            result.inputs = None
        for document in group.documents:
            _lint_document(document, group, result)
    _unknown_rules(made, result)
    result.diagnostics.sort(key=lambda each: each.sort_key)
    return result


def lint_text(raw: bytes, name: str, group: Group) -> Result:
    """Lint one file that is not on disk as it is."""
    from mcpcore_lint.runner.engine import lint_source

    result = Result(base_of([group]))
    root = group.config.root
    absolute = os.path.abspath(name)
    if is_document(name):
        _lint_document(absolute, group, result, raw)
        return result
    result.take(lint_source(raw, path=_below(absolute, root), settings=group.config.settings, root=root), root)
    shown = _below(absolute, result.base)
    result.texts[shown] = _decoded(shown, raw)
    _unknown_rules([group], result)
    return result


def _lint_document(absolute: str, group: Group, result: Result, raw: bytes | None = None) -> None:
    from mcpcore_lint.runner.engine import lint_source
    from mcpcore_lint.runner.markdown import blocks

    root = group.config.root
    shown = _below(absolute, root)
    result.files += 1
    if raw is None:
        try:
            if not S_ISREG(os.stat(absolute).st_mode):
                # Reading a pipe or a device may never end.
                raise OSError(None, "not a regular file; `-` reads standard input")  # noqa: TRY301 - told below
            with open(absolute, "rb") as file:
                raw = file.read()
        except OSError as error:
            shown = _below(absolute, result.base)
            result.failures.append(Failure(shown, f"cannot be read: {error.strerror or error}"))
            return
    text = raw.decode("utf-8-sig", "replace")
    for block in blocks(text):
        report = lint_source(block.padded, path=shown, settings=group.config.settings, root=root)
        part = report._replace(diagnostics=tuple(block.told(each, shown) for each in report.diagnostics), files=0)
        result.take(part, root)
    result.texts[_below(absolute, result.base)] = text


def _unknown_handlers(group: Group, tools: Iterable[ToolRecord], result: Result) -> None:
    """The finding for each entry of `handlers` that names no function."""
    settings = group.config.settings
    if not settings.handlers or group.config.path is None:
        return
    from mcpcore_lint.rules import rule_named, selected
    from mcpcore_lint.runner.unmatched import unmatched_handlers

    rule = rule_named("unknown-handler")
    if rule is None or not selected(rule, settings):
        return
    path = _below(os.path.abspath(group.config.path), result.base)
    for entry in unmatched_handlers(settings, group.config.root, tools):
        result.diagnostics.append(
            Diagnostic(
                rule.id,
                settings.severities.get(rule.id, rule.severity),
                path,
                group.config.handlers.get(entry, Span(1, 1, 1, 1)),
                f"handlers names no function of this project by {entry!r}",
                "correct the module or the function; modules are written as imports write them",
            )
        )


def _unknown_rules(made: Iterable[Group], result: Result) -> None:
    """The finding for each name in a configuration that no rule has."""
    told: set[str] = set()
    for group in made:
        found, settings = group.config, group.config.settings
        if not found.unknown or found.path is None or found.path in told:
            continue
        told.add(found.path)
        from mcpcore_lint.rules import rule_named, selected

        rule = rule_named("unknown-rule")
        # A selection of rules that are not there selects nothing, which must not keep it from being told.
        if rule is None or not selected(rule, settings._replace(select=None)):
            continue
        path = _below(os.path.abspath(found.path), result.base)
        for each in found.unknown:
            near = f": did you mean {each.near!r}?" if each.near else ""
            said = f"{each.key} names a rule that there is not, {each.name!r}{near}"
            if each.wide:
                said = f"{each.key} takes rules one by one, and {each.name!r} names several"
            result.diagnostics.append(
                Diagnostic(
                    rule.id,
                    settings.severities.get(rule.id, rule.severity),
                    path,
                    each.span,
                    said,
                    "correct the name, or install the package that brings the rule; "
                    "`mcpcore lint --list-rules` shows them all",
                )
            )


# ---------------------------------------------------------------------------------------------------------------------
# Mending.
# ---------------------------------------------------------------------------------------------------------------------


@light
class Mended:
    """A file and what the fixes make of it."""

    path: str
    before: str
    after: str
    count: int

    def diff(self, shown: str) -> str:
        """The change as a unified diff, of a file that is shown under a name."""
        from mcpcore_lint.runner.patch import quoted, unified

        names = (shown, shown) if os.path.isabs(shown) else (f"a/{shown}", f"b/{shown}")
        return unified(self.before, self.after, *map(quoted, names))


def mend(
    made: Sequence[Group],
    told: Callable[[Result], Sequence[Diagnostic]],
    *,
    unsafe: bool,
    cache: bool,
    progress: Callable[[int, int], None] | None = None,
    write: bool = True,
) -> tuple[list[Mended], Result]:
    """Make the fixes of the findings that are told, pass after pass until none is left; the result is what remains.

    Where not `write`, the same is done to the contents alone, and no file changes.
    """
    from mcpcore_lint.runner.engine import Report
    from mcpcore_lint.runner.fixer import Mending

    result = lint_groups(made, cache=cache, progress=progress)
    mending = Mending(result.base, unsafe=unsafe, write=write)
    failures: dict[Failure, None] = {}
    for _ in range(mending.passes):
        seen = {path: found for each in made if each.walk is not None for path, found in each.walk.files.items()}
        failures.update(dict.fromkeys(mending.make(Report(tuple(told(result))), seen)))
        if not mending.again:
            break
        if write or mending.late:
            made = [each._replace(walk=_again(each)) for each in made]
        result = lint_groups(made, cache=cache, given=mending.given)
    result.failures[:0] = failures
    return [Mended(each.path, each.before, each.after, each.count) for each in mending.result()], result


def _again(group: Group) -> Walk | None:
    """The same files, as they are now."""
    if group.walk is None:
        return None
    return Walk(group.config.settings, group.config.root).run(list(group.walk.files))


def mend_text(
    raw: bytes,
    name: str,
    group: Group,
    *,
    told: Callable[[Result], Sequence[Diagnostic]],
    unsafe: bool,
) -> Mended | None:
    """What the fixes make of one file, taken by itself; None where they leave it as it is."""
    from mcpcore_lint.runner.fixer import MAX_PASSES, make_pass
    from mcpcore_lint.syntax.source import Source, SourceError

    try:
        source = Source.from_bytes(name, raw)
    except SourceError:
        return None
    text, count = source.text, 0
    for _ in range(MAX_PASSES):
        result = lint_text(source.to_bytes(text), name, group)
        shown = _below(os.path.abspath(name), result.base)
        mine = [each for each in told(result) if each.path == shown]
        after, done = make_pass(shown, text, mine, unsafe=unsafe)
        if not done:
            break
        try:
            source.to_bytes(after)
        except UnicodeEncodeError:
            break  # the fix needs a character that the file's own encoding lacks
        text, count = after, count + done
    if not count or text == source.text:
        return None
    return Mended(name, source.text, text, count)


# ---------------------------------------------------------------------------------------------------------------------
# What a tool can throw.
# ---------------------------------------------------------------------------------------------------------------------


def explain_calls(made: Sequence[Group], tool: str) -> tuple[list[str], list[str]]:
    """What the linter believes the tools of a name can throw, and the names of all tools that were looked at.

    A tool goes by its own name, or by that of its handler.
    """
    from mcpcore_lint.runner.checker import Judge
    from mcpcore_lint.runner.explaining import explained, told_of
    from mcpcore_lint.syntax.source import SourceError

    texts: list[str] = []
    names: dict[str, None] = {}
    for group in made:
        if group.walk is None:
            continue
        judge = Judge(group.config.root, group.config.settings)
        judge.graph.thorough = True
        waiting: list[tuple[str, bytes]] = []
        # Files in which the name stands come first; only where none defines the tool are the others read.
        for path in group.walk.files:
            try:
                with open(path, "rb") as file:
                    raw = file.read()
            except OSError:
                continue
            if judge.speaks(path, raw):
                waiting.append((path, raw))
        spelled = tool.rpartition(".")[2].encode("utf-8", "surrogatepass")
        for first in (True, False):
            for path, raw in waiting:
                if (spelled in raw) is not first:
                    continue
                try:
                    tools = judge.find_tools(judge.project.module_of_bytes(path, raw))
                except SourceError:
                    continue
                for each in tools:
                    names.update(dict.fromkeys(told_of(each)))
                    texts.extend(explained(judge, each, tool))
                judge.trim()
            if texts:
                break
    return texts, list(names)
