"""The SDK's protocol error in a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import PROTOCOL, TEXT, framework_of
from mcpcore_lint.model import CallValue, Const, Symbol, options
from mcpcore_lint.rules._bodies import short, where_to
from mcpcore_lint.rules.base import DEFAULTS, Invalid, Rule, RuleContext, Valid
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
    valid = (
        """
        from mcp import MCPError
        from mcpcore import resource, tool

        @resource("x://{name}")
        def read(name: str) -> str:
            raise MCPError(code=-32602, message="no")

        @tool
        def fetch() -> str:
            try:
                raise MCPError(code=-32602, message="no")
            except MCPError:
                return "caught"
        """,
        """
        from mcp.shared.exceptions import McpError, UrlElicitationRequiredError
        from mcp.types import ErrorData, URL_ELICITATION_REQUIRED
        from mcp.server.fastmcp import FastMCP

        mcp = FastMCP("x")

        @mcp.tool()
        def fetch(a: str) -> str:
            if a:
                raise UrlElicitationRequiredError([])
            if a == "1":
                raise McpError(ErrorData(code=URL_ELICITATION_REQUIRED, message="open"))
            raise McpError(ErrorData(code=-32042, message="open"))
        """,
        *(
            Valid(
                f"""
                {server}
                from mcp import McpError
                from mcp.types import ErrorData, INVALID_PARAMS

                mcp = FastMCP("x")

                @mcp.tool()
                def fetch(a: str) -> str:
                    raise McpError(ErrorData(code=INVALID_PARAMS, message="no such article"))
                """,
                settings=DEFAULTS,
            )
            for server in ("from mcp.server.fastmcp import FastMCP", "from fastmcp import FastMCP")
        ),
        """
        from mcp.server.lowlevel import Server
        from mcp import McpError
        from mcp.types import ErrorData, INVALID_PARAMS

        server = Server("x")

        @server.call_tool()
        async def call(name, arguments):
            raise McpError(ErrorData(code=INVALID_PARAMS, message=f"Unknown tool: {name}"))
        """,
    )
    invalid = (
        Invalid(
            """
            import mcp
            from mcp.shared.exceptions import MCPError as Err
            from mcp.types import INVALID_PARAMS
            from mcp.server.mcpserver import MCPServer

            server = MCPServer("x")

            class Mine(Err): ...

            @server.tool()
            async def fetch(a: str) -> str:
                if a == "1":
                    raise Err(code=INVALID_PARAMS, message="no")  # here
                if a == "2":
                    raise mcp.MCPError(code=-32602, message="no")  # here
                error = Mine(code=1, message=a)  # here
                raise error
            """,
            "fetch raises MCPError",
        ),
        # SDK 1 and FastMCP make a result of it, and the rule is silent unless it is selected by its id.
        Invalid(
            """
            from mcp.server.fastmcp import FastMCP
            from mcp.shared.exceptions import McpError as Err
            from mcp.types import ErrorData, INVALID_PARAMS

            server = FastMCP("x")

            @server.tool()
            async def fetch(a: str) -> str:
                raise Err(ErrorData(code=INVALID_PARAMS, message="no"))  # here
            """,
            "fetch raises McpError, whose text SDK 1 sends without its code and data",
        ),
        Invalid(
            """
            from fastmcp import FastMCP
            from mcp import McpError
            from mcp.types import ErrorData, INVALID_PARAMS

            mcp = FastMCP("x", mask_error_details=True)

            @mcp.tool
            async def fetch(a: str) -> str:
                raise McpError(ErrorData(code=INVALID_PARAMS, message="no"))  # here
            """,
            "whose text FastMCP with mask_error_details=True hides",
            settings=DEFAULTS,
        ),
        # By a class method, and with the old name imported beside it.
        Invalid(
            """
            from mcp import MCPError
            from mcp.server.mcpserver import MCPServer
            from mcp.types import ErrorData

            try:
                from mcp.shared.exceptions import McpError
            except ImportError:
                McpError = MCPError
            app = MCPServer("x")

            @app.tool()
            def fetch(a: str) -> str:
                if a == "1":
                    raise MCPError.from_error_data(ErrorData(code=1, message="x"))  # here
                if a == "2":
                    raise MCPError.from_error_data(ErrorData(code=-32042, message="x"))
                raise MCPError(code=1, message="x")  # here
            """,
            "fetch raises MCPError, which becomes a JSON-RPC error",
        ),
        Invalid(
            """
            from mcp import MCPError
            from mcpcore import tool

            @tool
            def fetch(a: str) -> str:
                def inner() -> None:
                    raise MCPError(code=-32603, message="no")  # here

                inner()
                return a
            """,
            "MCPError",
        ),
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
