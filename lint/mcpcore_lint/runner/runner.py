"""Checks the projects of a command, and the text of a single file.

Nothing that parses or checks is imported before a file needs it.
"""

from __future__ import annotations

import os
from stat import S_ISREG
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Diagnostic, Failure, Span
from mcpcore_lint.paths import below
from mcpcore_lint.runner.groups import base_of
from mcpcore_lint.runner.results import Result, decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.rules import Rule
    from mcpcore_lint.runner.groups import Group
    from mcpcore_lint.settings import Settings


def lint_groups(
    groups: Sequence[Group],
    *,
    cache: bool = True,
    progress: Callable[[int, int], None] | None = None,
    contents: Mapping[str, bytes] | None = None,
    editor: bool = False,
) -> Result:
    """Check all groups.

    Args:
        groups: The files.
        cache: Whether to use the cache.
        progress: Called with the number of checked files and of all files.
        contents: Contents by absolute path that replace those on disk.
        editor: Whether only findings in the files of the groups are reported, as for the text of an editor.
    """
    from mcpcore_lint.runner.engine import lint_paths

    result = Result(base_of(groups))
    contents = contents or {}
    for path, raw in contents.items():
        result.texts[result.shown(path)] = decoded(path, raw)
    for group in groups:
        if group.walk is not None:
            report = lint_paths(
                group.paths,
                settings=group.config.settings,
                root=group.config.root,
                cache=cache,
                progress=progress,
                walk=group.walk,
                contents=contents,
                editor=editor,
            )
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


def _lint_document(absolute: str, group: Group, result: Result, raw: bytes | None) -> None:
    """Check the Python blocks of a Markdown file."""
    from mcpcore_lint.runner.engine import lint_source
    from mcpcore_lint.runner.markdown import blocks

    root = group.config.root
    result.files += 1
    if raw is None:
        try:
            if not S_ISREG(os.stat(absolute).st_mode):
                # Reading a pipe or a device may never end.
                raise OSError(None, "not a regular file; `-` reads standard input")  # noqa: TRY301 - see below
            with open(absolute, "rb") as file:
                raw = file.read()
        except OSError as error:
            result.failures.append(Failure(result.shown(absolute), f"cannot be read: {error.strerror or error}"))
            return
    text = raw.decode("utf-8-sig", "replace")
    shown = below(absolute, root)
    for block in blocks(text):
        report = lint_source(block.padded, path=shown, settings=group.config.settings, root=root)
        diagnostics = tuple(block.moved(diagnostic, shown) for diagnostic in report.diagnostics)
        result.add(report._replace(diagnostics=diagnostics, files=0), root)
    result.texts[result.shown(absolute)] = text


# ---------------------------------------------------------------------------------------------------------------------
# Configurations that name something unknown.
# ---------------------------------------------------------------------------------------------------------------------


def _unknown_handlers(group: Group, tools: Iterable[ToolRecord], result: Result) -> Iterable[Diagnostic]:
    """A finding for each entry of `handlers` that matches no function."""
    settings = group.config.settings
    if not settings.handlers or group.config.path is None:
        return
    from mcpcore_lint.rules import rule_named, selected

    rule = rule_named("unknown-handler")
    if rule is None or not selected(rule, settings):
        return
    path = result.shown(os.path.abspath(group.config.path))
    for entry in _unmatched_handlers(settings, group.config.root, tools):
        span = group.config.handlers.get(entry, Span(1, 1, 1, 1))
        message = f"handlers: no function of this project matches {entry!r}"
        help_ = "correct the module or the function; modules are written as imports write them"
        yield _of_settings(rule, settings, path, span, message, help_)


def _unmatched_handlers(settings: Settings, root: str, tools: Iterable[ToolRecord]) -> list[str]:
    """The entries that match no function. The project's files are read only for entries that match no tool."""
    from mcpcore_lint.registrations.named import named_functions, names_function, names_module
    from mcpcore_lint.runner.discover import Walk
    from mcpcore_lint.syntax.project import Project
    from mcpcore_lint.syntax.source import SourceError

    project = Project(root, source_roots=settings.source_roots)
    handlers = [(project.module_name(project.absolute(tool.path))[0], tool.handler) for tool in tools]
    unmatched = [
        entry
        for entry in settings.handlers
        if not any(names_function(entry, module, qualname) for module, qualname in handlers)
    ]
    for path in Walk(settings, root).run([root]).files if unmatched else ():
        entries = [entry for entry in unmatched if names_module([entry], project.module_name(path)[0])]
        if not entries:
            continue
        try:
            module = project.read(path)
        except (OSError, SourceError):
            continue
        unmatched = [entry for entry in unmatched if entry not in entries or not any(named_functions(module, [entry]))]
    return unmatched


def _unknown_rules(groups: Iterable[Group], result: Result) -> Iterable[Diagnostic]:
    """A finding for each name in a configuration that is not the name of a rule."""
    configs = {group.config.path: group.config for group in groups if group.config.unknown}
    for config_path, config in configs.items():
        from mcpcore_lint.rules import rule_named, selected

        rule = rule_named("unknown-rule")
        # A selection of unknown rules selects nothing, not even the rule that reports them.
        if rule is None or config_path is None or not selected(rule, config.settings._replace(select=None)):
            continue
        path = result.shown(os.path.abspath(config_path))
        for message, span in config.unknown:
            help_ = "correct the name, or install the package that provides the rule; run `mcpcore lint --list-rules`"
            yield _of_settings(rule, config.settings, path, span, message, help_)


def _of_settings(rule: Rule, settings: Settings, path: str, span: Span, message: str, help_: str) -> Diagnostic:
    severity = settings.severities.get(rule.id, rule.severity)
    return Diagnostic(rule.id, severity, path, span, message, help_)
