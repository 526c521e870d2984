"""no-protocol-error-in-tool: the SDK's protocol error raised in a tool."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import PROTOCOL, TEXT, framework_of
from mcpcore_lint.model import Handler, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import short, where_to
from mcpcore_lint.rules.handler._raises import about_an_unknown_tool

_NEEDED: Final = regex(r"-32042|-32021|URL_ELICITATION_REQUIRED|MISSING_REQUIRED_CLIENT_CAPABILITY")
"""Codes that the protocol itself needs."""


class NoProtocolErrorInTool(Rule):
    """The SDK's `MCPError` raised in a tool.

    Summary: the model never sees the failure: most hosts do not show it the SDK's MCPError
    Why: `MCPError` ends the request with a JSON-RPC error. Such an error is meant for broken requests. Most hosts log
        it or show it to the user, so the model never reads it, although it could try again with better arguments. SDK
        1, where the class is called `McpError`, and FastMCP turn it into a failed result that has the text but neither
        the code nor the data. There it is reported, as information, only if you select the rule by its id. With
        `mask_error_details=True`, FastMCP hides the text as well, and the finding is a warning.
    How to fix: Raise a declared reason, a coded error, or the framework's `ToolError`. Each becomes a result that is
        marked as failed.
    When to suppress: Where the protocol itself needs the error. URL elicitation, a missing capability and an unknown
        tool on a low-level server are not reported.

    Bad:
        raise MCPError(code=INVALID_PARAMS, message="no such article")
    Good:
        raise ctx.fail("no_match")
    """

    severity = Severity.ERROR

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
            if error.sdk_exempt or _NEEDED.search(ast.unparse(error.node)) or about_an_unknown_tool(error, tool):
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
