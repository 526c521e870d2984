"""The failures of low-level servers that no result marks, for the report of `mcpcore migrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.migrate.lowlevel import SUCCESS
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules import all_rules
from mcpcore_lint.runner.checker import FileState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.runner.checker import Checker

_MARKED: Final = "let the CallToolResult that holds it have is_error=True"


def returned_as_successes(checker: Checker, module: Module) -> Iterator[Left]:
    """The lines about failures that the tools of a low-level server return as successes, where these are built."""
    state = FileState(checker, module, [tool for tool in checker.find_tools(module) if tool.flavour == "lowlevel"])
    rule = all_rules()["no-error-as-data"]
    context = RuleContext(state, rule)
    for tool in (tool for tool, is_first in state.registered if is_first):
        rule.check_handler(tool.handler, tool, context)
    for finding in state.diagnostics:
        tools = finding.tools or tuple(filter(None, [finding.tool]))
        yield Left(finding.path, finding.span.line, tools, SUCCESS, _MARKED)
