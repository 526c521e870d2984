"""Checks the projects of a command, and the text of a single file.

Nothing that parses or checks is imported before a file needs it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.diagnostics import Diagnostic, Failure, Related, Span
from mcpcore_lint.paths import below, upwards
from mcpcore_lint.patterns import regex
from mcpcore_lint.records import ToolRecord, in_test_file
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Group, Walk, base_of, regular
from mcpcore_lint.runner.results import FileResult, Report, Result, decoded, name_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mcpcore_lint.config import Config
    from mcpcore_lint.rule import Rule
    from mcpcore_lint.runner.cache import Cache
    from mcpcore_lint.runner.checker import Checker


def lint_groups(
    groups: Sequence[Group], *, contents: Mapping[str, bytes] | None = None, editor: bool = False, **options: Any
) -> Result:
    """Check all groups.

    Args:
        groups: The files.
        contents: Contents by absolute path that replace those on disk.
        editor: Whether only findings in the files of the groups are reported, as for the text of an editor.
        options: `cache` and `progress`, as for `FilesRun`.
    """
    result = Result(base_of(groups))
    contents = contents or {}
    for path, raw in contents.items():
        result.texts[result.shown(path)] = decoded(path, raw)
    for group in groups:
        if group.walk.files or group.walk.failures or not group.documents:
            report = FilesRun(group.walk, contents=contents, editor=editor, **options).report()
            result.add(report, group.config.root)
            if not editor:
                result.diagnostics += _unknown_handlers(group, report.tools, result)
            if result.inputs is not None:
                result.inputs += group.inputs()
        # Which documents there are is not among the inputs, so this output cannot be kept.
        if group.config.markdown:
            result.inputs = None
        for document in group.documents:
            _lint_document(document, group, result, contents.get(document))
    result.diagnostics += _unknown_rules(groups, result)
    result.diagnostics.sort(key=lambda diagnostic: diagnostic.sort_key)
    return result


# -- the Python blocks of Markdown files -------------------------------------------------------------------------------

_FENCED: Final = regex(
    r"^(?P<lead>[ \t]*(?:>[ \t]?)*[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*[{.]*(?P<language>[^\s,{}`]*)[^`\n]*\n"
    r"(?P<body>.*?)(?:^[ \t>]*(?P=fence)[`~]*[ \t>]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_LANGUAGES: Final = frozenset({"python", "py", "python3", "py3"})


class _Block(NamedTuple):
    """One block of Python."""

    padded: str
    """The code, after as many empty lines as there are lines before it in the document."""
    indent: int
    """The width of its indentation in the document."""

    def moved(self, diagnostic: Diagnostic, path: str) -> Diagnostic:
        """A finding with its place in the document. It has no fix, since documents are not rewritten."""
        related = tuple(
            place._replace(span=self._moved(place.span)) if place.path == path else place
            for place in diagnostic.related
        )
        span = self._moved(diagnostic.span) if diagnostic.path == path else diagnostic.span
        return diagnostic._replace(span=span, related=related, fix=None)

    def _moved(self, span: Span) -> Span:
        return Span(span.line, span.column + self.indent, span.end_line, span.end_column + self.indent)


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks that are marked as Python, without sessions of the interactive interpreter.

    Source of the form: CommonMark 0.31.2, section 4.5, "Fenced code blocks".
    """
    text = re.sub(r"\r\n?", "\n", text)
    for match in _FENCED.finditer(text):
        lead = match["lead"]
        # Without the indentation of the block.
        body = [line[min(len(line) - len(line.lstrip(" \t>")), len(lead)) :] for line in match["body"].split("\n")]
        if match["language"].lower() in _LANGUAGES and not body[0].lstrip().startswith(">>>"):
            before = text.count("\n", 0, match.start("body"))
            yield _Block("\n" * before + "\n".join(body).rstrip("\n") + "\n", len(lead))


def _lint_document(absolute: str, group: Group, result: Result, raw: bytes | None) -> None:
    """Check the Python blocks of a Markdown file."""
    root = group.config.root
    result.files += 1
    if raw is None:
        try:
            regular(absolute)
            with open(absolute, "rb") as file:
                raw = file.read()
        except OSError as error:
            result.failures.append(Failure(result.shown(absolute), f"cannot be read: {error.strerror or error}"))
            return
    text = raw.decode("utf-8-sig", "replace")
    shown = below(absolute, root)
    for block in _blocks(text):
        walk = Walk(group.config.settings, root)
        walk.hold(absolute)
        report = FilesRun(walk, contents={absolute: block.padded}, editor=True).report()
        diagnostics = tuple(block.moved(diagnostic, shown) for diagnostic in report.diagnostics)
        result.add(report._replace(diagnostics=diagnostics, files=0), root)
    result.texts[result.shown(absolute)] = text


# -- configurations that name something unknown ------------------------------------------------------------------------


def _unknown_handlers(group: Group, tools: Iterable[ToolRecord], result: Result) -> Iterable[Diagnostic]:
    """A finding for each entry of `handlers` that matches no function, in a run over the whole project."""
    settings, root = group.config.settings, group.config.root
    tops = map(os.path.abspath, group.paths)
    if not settings.handlers or group.config.path is None or not any(top in {root, *upwards(root)} for top in tops):
        return
    from mcpcore_lint.engine.registrations.named import names_function
    from mcpcore_lint.engine.syntax.project import Project
    from mcpcore_lint.rules import rule_named, selected

    rule = rule_named("unknown-handler")
    if rule is None or not selected(rule, settings):
        return
    project = Project(root, source_roots=settings.source_roots)
    handlers = [(project.module_name(project.absolute(tool.path))[0], tool.handler) for tool in tools]
    for entry in settings.handlers:
        if not any(names_function(entry, module, qualname) for module, qualname in handlers):
            span = group.config.handlers.get(entry, Span(1, 1, 1, 1))
            message = f"handlers: no function of this project matches {entry!r}"
            help_ = "correct the module or the function; modules are written as imports write them"
            yield _of_settings(rule, group.config, span, message, help_, result)


def _unknown_rules(groups: Iterable[Group], result: Result) -> Iterable[Diagnostic]:
    """A finding for each name in a configuration that is not the name of a rule."""
    for config in {group.config.path: group.config for group in groups if group.config.unknown}.values():
        from mcpcore_lint.rules import rule_named, selected

        rule = rule_named("unknown-rule")
        # A selection of unknown rules selects nothing, not even the rule that reports them.
        if rule is not None and selected(rule, config.settings._replace(select=None)):
            help_ = "correct the name, or install the package that provides the rule; run `mcpcore lint --list-rules`"
            yield from (_of_settings(rule, config, span, text, help_, result) for text, span in config.unknown)


def _of_settings(rule: Rule, config: Config, span: Span, message: str, help_: str, result: Result) -> Diagnostic:
    severity = config.settings.severities.get(rule.id, rule.severity)
    return Diagnostic(rule.id, severity, result.shown(os.path.abspath(config.path or "")), span, message, help_)


# -- runs that see no tools although their files import an MCP library -------------------------------------------------

_MOST_FILES: Final = 300
"""How many files are searched for an import."""
_IMPORT: Final = regex(rb"(?m)^[ \t]*(?:from|import)[ \t]+(mcpcore|fastmcp|mcp)(?![\w-])|[\"'](tools/call)[\"']")
"""An import of a library, or the method of the protocol in a program that answers it without one."""


def why_no_tools(result: Result, groups: Sequence[Group]) -> str:
    """The reason and the next step; empty if there are tools, or if none are expected."""
    if result.registered or not result.files:
        return ""
    if any(diagnostic.rule == "tool-registration-unresolved" for diagnostic in result.diagnostics):
        return "no tools were seen, since the registrations cannot be resolved; name the functions under `handlers`"
    paths = [
        path
        for group in groups
        for path in group.walk.files
        if not in_test_file(os.path.relpath(path, group.config.root).replace(os.sep, "/"))
    ]
    for path in paths[:_MOST_FILES]:
        match = _IMPORT.search(content_of(path) or b"")
        if match is None:
            continue
        place, has = result.place(result.shown(path)), "imports" if match[1] else "mentions"
        start = f"no tools were seen: {place} {has} {(match[1] or match[2]).decode()}"
        if any(group.config.settings.handlers for group in groups):
            return f"{start}, and `handlers` matches nothing here"
        action = "lint the folder with the code that registers them" if len(paths) == 1 else "check how they register"
        return (
            f"{start}, but no function is registered; if it has tools, {action}, "
            "or name them under `handlers` in [tool.mcpcore.lint]"
        )
    return ""


# -- the files of one project, of which the cache may hold some results already ----------------------------------------

FEW: Final = 8
"""Up to this many files that are named directly, the linter searches other files for their registrations."""


class FilesRun:
    """One run over the files of a project.

    What parses and checks is imported when a file needs it. A run whose results are all cached imports none of it.
    """

    def __init__(
        self,
        walk: Walk,
        *,
        cache: bool = False,
        contents: Mapping[str, bytes | str] | None = None,
        editor: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            walk: The files, with the settings and the project's folder.
            cache: Whether to use the results of earlier runs, and to save those of this one.
            contents: Contents by absolute path that replace those on disk. Results that use them are not cached.
            editor: Whether only findings in these files are reported, at the places there that lead to them.
            progress: Called with the number of checked files and of all files.
        """
        self.walk = walk
        self.root, self.settings, self.files = walk.root, walk.settings, walk.files
        self.contents = contents or {}
        self.editor = editor
        self.progress = progress
        self.alone = not walk.inputs and len(self.files) <= FEW and all(map(os.path.isfile, self.files))
        """Whether these are a few files without the rest of the project, which may register their functions."""
        self.every = editor or len(self.files) <= self.settings.syntax_limit
        """Whether files that have nothing to do with MCP are checked too, for their syntax."""
        self.cache: Cache | None = None
        if cache:
            from mcpcore_lint.runner.cache import Cache

            self.cache = Cache(walk, every=self.every)
        self._checker: Checker | None = None

    def checker(self) -> Checker:
        """The checker of this process."""
        if self._checker is None:
            from mcpcore_lint.runner.checker import Checker

            self._checker = Checker(self.root, self.settings, files=self.files, every=self.every, alone=self.alone)
            self._checker.is_cached = self.cache is not None
            for path, raw in self.contents.items():
                self._checker.give(path, raw)
        return self._checker

    def report(self) -> Report:
        """Check the files whose cached results no longer hold, and put all results together."""
        cache, inputs = self.cache, None
        valid = cache.valid(self.contents) if cache is not None else {}
        if self.alone:
            # A run over the whole project does not look for files that register the tools of a file.
            valid = {path: result for path, result in valid.items() if result.tools}
        stale = [path for path in self.files if path not in valid]
        report = cache.report() if cache is not None and not stale else None
        if report is None:
            results: dict[str, FileResult] = {}
            if stale:
                from mcpcore_lint.runner.pool import check_all

                results = check_all(self.checker, stale, jobs=self.settings.jobs, progress=self.progress)
            if valid:
                from mcpcore_lint.runner.cache import thawed

                results |= {path: thawed(result) for path, result in valid.items()}
            report = self._together(results)
            if cache is not None and not self.contents:
                cache.save(results, report)
        if cache is not None and not self.contents and not self.walk.failures:
            inputs = cache.inputs()
        return report._replace(failures=(*self.walk.failures, *report.failures), judged=len(stale), inputs=inputs)

    def _together(self, results: Mapping[str, FileResult]) -> Report:
        """The results with the findings that all files together decide, without those that comments suppress."""
        checker = self.checker()
        tools = [tool for result in results.values() for tool in result.tools]
        if self.settings.handlers:
            # It may name functions that are also registered.
            registered = {(tool.path, tool.span) for tool in tools if tool.server is not None}
            named = {tool for tool in tools if tool.kind == "tool" and tool.server is None}
            tools = [tool for tool in tools if tool not in named or (tool.path, tool.span) not in registered]
        tools.sort(key=lambda tool: (tool.path, tool.span))
        common, failures = checker.project_rules(tools)
        failures += (failure for result in results.values() for failure in result.failures)
        shown = {result.path for result in results.values()}
        by_path: dict[str, dict[Diagnostic, None]] = {}
        for diagnostic in (*self._with_known_tools(results.values()), *common):
            place = self._in_sight(diagnostic, shown) if self.editor else diagnostic
            if place.path in shown or not self.editor:
                by_path.setdefault(place.path, {})[place] = None
        kept, hidden = self._suppress(by_path, results, failures)
        mentioned = self._mentioned({finding.missing_tool for finding in kept if finding.missing_tool is not None})
        kept = [diagnostic for diagnostic in kept if diagnostic.missing_tool not in mentioned]
        diagnostics = sorted(name_tools(kept), key=lambda diagnostic: diagnostic.sort_key)
        return Report(tuple(diagnostics), tuple(failures), len(self.files), tuple(tools), hidden)

    def _with_known_tools(self, results: Collection[FileResult]) -> Iterator[Diagnostic]:
        """The findings of all files, without those about a missing tool that exists after all."""
        diagnostics = [diagnostic for result in results for diagnostic in result.diagnostics]
        tools = {name for result in results for name in result.external}
        tools |= {tool.name for result in results for tool in result.tools if tool.kind == "tool"}
        names = self.settings.tools.union(name for name in tools if name is not None)
        for diagnostic in diagnostics:
            missing = diagnostic.missing_tool
            if missing is None:
                yield diagnostic
            # If the name of some tool is unknown, any name may exist. A package of contracts has no tools itself.
            elif names and None not in tools and missing not in names:
                from mcpcore_lint.rules._wording import near

                close = near(missing, names)
                yield diagnostic._replace(help=f"did you mean {close!r}?") if close else diagnostic

    def _mentioned(self, names: set[str]) -> set[str]:
        """The names that other files define or have as a string, which may be these tools."""
        from mcpcore_lint.engine.registrations.named import OPTION

        mentioned: set[str] = set()
        for path in Walk(self.settings, self.root).run([self.root]).files if names else ():
            if path not in self.files:
                raw = content_of(path) or b""
                # A list of other servers' tools may take names from a third file, so any name may be in it.
                lists = OPTION.encode() in raw
                mentioned |= {name for name in names if lists or _may_define(name, raw)}
        return mentioned

    @staticmethod
    def _in_sight(diagnostic: Diagnostic, shown: set[str]) -> Diagnostic:
        """Move a finding that tools share to the place in these files that leads to it, unless it is in one of them."""
        places = [place for place in diagnostic.related if place.path in shown]
        if diagnostic.path in shown or not diagnostic.tools or not places:
            return diagnostic
        related = (Related(diagnostic.path, diagnostic.span, "it is built here"), *diagnostic.related)
        return diagnostic._replace(path=places[0].path, span=places[0].span, related=related)

    def _suppress(
        self, by_path: Mapping[str, Iterable[Diagnostic]], results: Mapping[str, FileResult], failures: list[Failure]
    ) -> tuple[list[Diagnostic], int]:
        """The findings that no comment suppresses, and the number of the others."""
        from mcpcore_lint.engine.syntax.prefilter import SUPPRESSION

        kept: list[Diagnostic] = []
        hidden = 0
        marked = {result.path: path for path, result in results.items() if result.has_suppressions}
        plain = {result.path for result in results.values()} - marked.keys()
        for shown in dict.fromkeys((*marked, *by_path)):
            diagnostics = list(by_path.get(shown, ()))
            path = marked.get(shown) or os.path.normpath(os.path.join(self.root, shown))
            # Findings in files outside of the run obey the comments there, too.
            if shown in plain or (shown not in marked and SUPPRESSION not in (content_of(path) or b"")):
                kept += diagnostics
                continue
            left, problems, own = self.checker().suppress(path, diagnostics)
            # The comments themselves are only checked in the files of the run.
            kept += (*left, *own) if shown in marked else left
            hidden += len(diagnostics) - len(left)
            failures += problems
            self.checker().trim()
        return kept, hidden


def _may_define(name: str, raw: bytes) -> bool:
    """Whether the text of a file may define a tool of some name."""
    encoded = name.encode("utf-8", "surrogatepass")
    if encoded not in raw:
        return False
    word = re.escape(encoded)
    return re.search(rb"\bdef\s+%b\b|[\"']%b[\"']|\b%b\s*=" % (word, word, word), raw) is not None
