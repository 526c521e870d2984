"""Checks the projects of a command, and the text of a single file.

Nothing that parses or checks is imported before a file needs it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.diagnostics import Diagnostic, Failure, Span
from mcpcore_lint.paths import below, upwards
from mcpcore_lint.patterns import regex
from mcpcore_lint.records import ToolRecord, in_test_file
from mcpcore_lint.runner.check import FilesRun
from mcpcore_lint.runner.discover import Walk, regular
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Group, base_of
from mcpcore_lint.runner.results import Result, decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpcore_lint.config import Config
    from mcpcore_lint.rule import Rule


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
_IMPORT: Final = regex(rb"(?m)^[ \t]*(?:from|import)[ \t]+(mcpcore|fastmcp|mcp)(?![\w-])")


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
        start = f"no tools were seen: {result.place(result.shown(path))} imports {match[1].decode()}"
        if any(group.config.settings.handlers for group in groups):
            return f"{start}, and `handlers` matches nothing here"
        action = "lint the folder with the code that registers them" if len(paths) == 1 else "check how they register"
        return (
            f"{start}, but no function is registered; if it has tools, {action}, "
            "or name them under `handlers` in [tool.mcpcore.lint]"
        )
    return ""
