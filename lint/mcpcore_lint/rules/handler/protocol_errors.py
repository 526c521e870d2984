"""The SDK's protocol error in a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import PROTOCOL, TEXT, framework_of
from mcpcore_lint.model import CallValue, Const, Symbol, options
from mcpcore_lint.rules._bodies import short, where_to
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._raised import about_an_unknown_tool

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.model import ErrorSite, Handler, ToolDef

NEEDED_CODES: Final = frozenset({-32042, -32021})
NEEDED_NAMES: Final = frozenset({"URL_ELICITATION_REQUIRED", "MISSING_REQUIRED_CLIENT_CAPABILITY"})


class NoProtocolErrorInTool(Rule):
    """The SDK's `MCPError` raised in a tool."""

    id = "no-protocol-error-in-tool"
    severity = Severity.ERROR
    family = "handler"
    summary = "the SDK's MCPError raised in a tool, where most hosts never show it to the model"
    why = (
        "`MCPError` ends the request with a JSON-RPC error. That is for broken requests: most hosts log it or show it "
        "to the person, and the model, which could have tried again with better arguments, never reads it. SDK 1, "
        "where it is called `McpError`, and FastMCP make a failed result of it instead, which has the text and neither "
        "the code nor the data: there the rule reports it only where it is selected by its id, as information. With "
        "`mask_error_details=True`, FastMCP hides the text too, which is a warning."
    )
    bad = 'raise MCPError(code=INVALID_PARAMS, message="no such article")'
    good = 'raise ctx.fail("no_match")'
    how_to_fix = (
        "Raise a declared reason, a coded error, or the framework's `ToolError`: each becomes a result that is marked "
        "as failed."
    )
    when_to_suppress = (
        "Where the protocol itself needs the error. URL elicitation, a missing capability and an unknown tool of the "
        "low-level server are known and not reported."
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each protocol error that leaves its function."""
        if tool.kind != "tool":
            return
        seen: set[ast.AST] = set()
        for throw in handler.throws:
            error = throw.error
            if error is None or error.form != "protocol" or not throw.escapes or error.node in seen:
                continue
            seen.add(error.node)
            if error.sdk_exempt or self._needed(error) or about_an_unknown_tool(error, tool):
                continue
            name = short(error.type_name)
            effect, weight = f"which becomes {PROTOCOL}", None
            if tool.flavour != "mcpcore":
                framework = framework_of(tool)
                shows = framework.protocol_error
                if shows == TEXT and not ctx.named:
                    continue
                if shows != PROTOCOL:
                    weight = Severity.INFO if shows == TEXT else Severity.WARNING
                    name = "McpError" if name == "MCPError" else name
                effect = framework.effect(shows, tool) + (" without its code and data" if shows == TEXT else "")
            ctx.report(
                error.node,
                f"{tool.display_name} raises {name}, {effect}",
                help=where_to(tool),
                tool=tool,
                module=handler.module,
                weight=weight,
            )

    @staticmethod
    def _needed(error: ErrorSite) -> bool:
        """Whether the code is one that only the protocol's own error can carry, in `ErrorData(code=...)` too."""
        values = list(options(error.code))
        for each in list(values):
            if isinstance(each, CallValue) and each.func.name == "mcp.ErrorData":
                values.extend(options(each.argument("code", 0)))
        for each in values:
            if isinstance(each, Const) and each.value in NEEDED_CODES:
                return True
            if isinstance(each, Symbol) and short(each.name) in NEEDED_NAMES:
                return True
        return False
