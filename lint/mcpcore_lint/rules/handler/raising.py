"""What a handler raises, and how."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint import fixes
from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Missing, Symbol, Text, options, string
from mcpcore_lint.names import FACTORY_OF_CODE
from mcpcore_lint.resolve import CODES
from mcpcore_lint.rules._bodies import Body, body_of, codes_known, codes_of, short, where_to
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import CatchSite, ErrorSite, Handler, ThrowSite, ToolDef, Value

SUGGESTED: Final[dict[str, str]] = {
    "builtins.ValueError": "validation_error",
    "builtins.TypeError": "validation_error",
    "builtins.KeyError": "not_found",
    "builtins.IndexError": "not_found",
    "builtins.LookupError": "not_found",
    "builtins.FileNotFoundError": "not_found",
    "builtins.FileExistsError": "conflict",
    "builtins.PermissionError": "forbidden",
    "builtins.TimeoutError": "timeout",
    "builtins.ConnectionError": "service_unavailable",
}
"""The factory that says what a builtin exception usually means."""

NOT_FAILURES: Final = frozenset(
    {
        "builtins.StopIteration",
        "builtins.StopAsyncIteration",
        "builtins.GeneratorExit",
        "builtins.KeyboardInterrupt",
        "builtins.AssertionError",
    }
)
"""Builtins that steer the program, or that say "this is a bug", which an agent needs no advice about."""

NEEDED_CODES: Final = frozenset({-32042, -32021})
NEEDED_NAMES: Final = frozenset({"URL_ELICITATION_REQUIRED", "MISSING_REQUIRED_CLIENT_CAPABILITY"})
_UNKNOWN_TOOL: Final = re.compile(
    r"\b(?:unknown|no such|unsupported|invalid) tool\b|\btool\b.*\b(?:not found|unknown)\b", re.IGNORECASE
)


def _about_an_unknown_tool(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether a low-level handler, which serves every tool, says that there is no such tool, as the protocol asks."""
    if tool.flavour != "lowlevel":
        return False
    if error.type_name == "builtins.NotImplementedError":
        return True
    values: list[Value] = [error.message.value]
    if isinstance(error.node, ast.Call):
        for value in options(error.message.value):
            if isinstance(value, CallValue):
                values.extend(each for _, each in value.keywords)
    for value in values:
        for each in options(value):
            text = string(each) or (" ".join(p or "" for p in each.parts) if isinstance(each, Text) else "")
            if _UNKNOWN_TOOL.search(text):
                return True
    return False


class PreferMcpErrorInHandler(Rule):
    """A builtin exception raised on purpose."""

    id = "prefer-mcp-error-in-handler"
    severity = Severity.WARNING
    family = "handler"
    summary = "a builtin exception raised in a handler, where a coded error tells the agent more"
    why = (
        "`ValueError` and its kin carry a sentence and nothing else: no code, no retry advice, no next step. The agent "
        "cannot tell a bad argument from an outage, and the boundary hides the sentence, since nobody declared it."
    )
    bad = 'raise ValueError(f"no article {pmid}")'
    good = 'raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})'
    how_to_fix = (
        "With a contract, declare the failure and raise `ctx.fail(reason)`. Without one, raise the factory of what "
        "went wrong, or the `ToolError` of the SDK or FastMCP. In a contract tool `ToolError` is reported too: it has "
        "no code."
    )
    when_to_suppress = "Where the exception is a bug that no argument can bring about, and `assert` does not fit."
    valid = (
        """
        from mcpcore import not_found, tool

        @tool
        def fetch(pmid: str) -> str:
            if not pmid:
                raise not_found("no such article")
            assert pmid.isdigit()
            raise AssertionError("unreachable")
        """,
        """
        from mcp.server.fastmcp import FastMCP
        from mcp.server.fastmcp.exceptions import ToolError

        mcp = FastMCP("x")

        @mcp.tool()
        def fetch(pmid: str) -> str:
            raise ToolError("no such article: call search first")
        """,
        """
        from mcpcore import tool, validation_error

        @tool
        def fetch(pmid: str) -> str:
            try:
                if not pmid.isdigit():
                    raise ValueError(pmid)
                return pmid
            except ValueError as error:
                raise validation_error("a PMID is a number") from error

        def service(pmid: str) -> str:
            raise ValueError("services are not handlers")
        """,
        """
        from mcp.server.lowlevel import Server

        server = Server("x")

        @server.call_tool()
        async def call(name: str, arguments: dict):
            raise ValueError(f"Unknown tool: {name}")
        """,
        """
        from mcpcore import tool

        class Gone(Exception): ...

        @tool
        def fetch(pmid: str) -> str:
            raise Gone(pmid)
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import tool
            import builtins as b

            Bad = ValueError

            @tool
            async def fetch(pmid: str) -> str:
                if not pmid:
                    raise b.RuntimeError("no")  # here
                if pmid == "1":
                    raise Bad("no")  # here
                if pmid == "2":
                    error = Exception("no")  # here
                    raise error
                if pmid == "3":
                    raise KeyError  # here
                match pmid:
                    case "4":
                        raise (ValueError("a") if pmid else LookupError("b")).with_traceback(None)  # here
                    case _:
                        pass

                def inner():
                    raise OSError("no")  # here

                return inner()
            """,
            "raises RuntimeError",
        ),
        Invalid(
            """
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool
            def fetch(pmid: str) -> str:
                if (error := ValueError(pmid)) and pmid:  # here
                    raise error
                return pmid

            @mcp.resource("x://{name}")
            def read(name: str) -> str:
                raise FileNotFoundError(name)  # here
            """,
            "fetch raises ValueError",
        ),
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, tool
            from mcp.server.mcpserver.exceptions import ToolError

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            def fetch(ctx: Context) -> str:
                raise ToolError("gone")  # here
            """,
            "ToolError",
        ),
        Invalid(
            """
            from mcpcore import tool

            def bad(why: str) -> Exception:
                return ValueError(why)

            @tool
            def fetch(pmid: str) -> str:
                raise bad("no")  # here
            """,
            "ValueError",
        ),
        Invalid(
            """
            from functools import partial
            from mcpcore import tool

            Bad = partial(ValueError, "no")

            @tool
            def fetch(pmid: str) -> str:
                raise ExceptionGroup("both", [Bad(), TypeError("x")])  # here
            """,
            "fetch raises ValueError",
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each builtin exception that leaves its function, at the place where it is made."""
        lines: set[int] = set()
        for throw in handler.throws:
            error = throw.error
            if error is None:
                self._made_elsewhere(throw, handler, tool, ctx)
                continue
            name = short(error.type_name)
            builtin = error.form == "builtin" and error.type_name not in NOT_FAILURES
            framework = error.form == "framework" and tool.contract is not None
            if not throw.escapes or not (builtin or framework) or _about_an_unknown_tool(error, tool):
                continue
            if error.node.lineno in lines:
                continue
            lines.add(error.node.lineno)
            self._report(error.node, name, error.type_name, handler, tool, ctx)

    def _made_elsewhere(self, throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """`raise bad()`, where a function of the project makes the exception."""
        if throw.call is None or throw.reraise:
            return
        span = handler.module.source.span(throw.node)
        for reached in ctx.reach(tool).throws:
            if reached.call == span and reached.form == "builtin" and reached.source == "project" and (
                reached.type_name not in NOT_FAILURES
            ):  # fmt: skip
                self._report(throw.node, short(reached.type_name), reached.type_name, handler, tool, ctx)
                return

    @staticmethod
    def _report(at: ast.AST, name: str, full: str, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        ctx.report(
            at,
            f"{tool.display_name} raises {name}, which tells the agent neither what failed nor what to do next",
            help=where_to(tool, what=SUGGESTED.get(full, "")),
            tool=tool,
            module=handler.module,
        )


class NoProtocolErrorInTool(Rule):
    """The SDK's `MCPError` raised in a tool."""

    id = "no-protocol-error-in-tool"
    severity = Severity.ERROR
    family = "handler"
    summary = "the SDK's MCPError raised in a tool, where most hosts never show it to the model"
    why = (
        "`MCPError` ends the request with a JSON-RPC error. That is for broken requests: most hosts log it or show it "
        "to the person, and the model, which could have tried again with better arguments, never reads it."
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
            from mcp.shared.exceptions import McpError as Err
            from mcp.types import ErrorData, INVALID_PARAMS
            from mcp.server.fastmcp import FastMCP

            server = FastMCP("x")

            class Mine(Err): ...

            @server.tool()
            async def fetch(a: str) -> str:
                if a == "1":
                    raise Err(ErrorData(code=INVALID_PARAMS, message="no"))  # here
                if a == "2":
                    raise mcp.MCPError(code=-32602, message="no")  # here
                error = Mine(a)  # here
                raise error
            """,
            "fetch raises McpError",
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
            if error.sdk_exempt or self._needed(error) or _about_an_unknown_tool(error, tool):
                continue
            written = error.node.func if isinstance(error.node, ast.Call) else error.node
            name = written.attr if isinstance(written, ast.Attribute) else short(error.type_name)
            source = handler.module.source.segment(written)
            shown = "McpError" if "McpError" in source or self._imported_as_old(error, handler) else name
            ctx.report(
                error.node,
                f"{tool.display_name} raises {shown}, a protocol error that most hosts never show to the model",
                help=where_to(tool),
                tool=tool,
                module=handler.module,
            )

    @staticmethod
    def _imported_as_old(error: ErrorSite, handler: Handler) -> bool:
        if error.type_name != "mcp.MCPError":
            return False
        bindings = handler.module.scope.bindings.values()
        return any(each.target is not None and each.target[1] == "McpError" for found in bindings for each in found)

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


class PreferErrorFactory(Rule):
    """`CodedError(ErrorCode.X, ...)` where a factory says the same."""

    id = "prefer-error-factory"
    severity = Severity.WARNING
    family = "handler"
    fixable = True
    summary = "`CodedError(ErrorCode.NOT_FOUND, ...)` where `not_found(...)` exists"
    why = "The factory says the same in one word, cannot be given a wrong code, and is what a reader searches for."
    bad = 'raise CodedError(ErrorCode.NOT_FOUND, "no such article")'
    good = 'raise not_found("no such article")'
    how_to_fix = "Call the factory of the code. The fix does so, and keeps every other argument."
    when_to_suppress = "Where the code is chosen by a table and only happens to be a constant here."
    valid = (
        """
        from mcpcore import CodedError, CustomCode, ErrorCode, not_found, tool

        QUOTA = CustomCode("QUOTA", 1, http_status=429, category="upstream", retry=None, sentence="x")

        @tool
        def fetch(a: str, code: ErrorCode) -> str:
            if a == "1":
                raise not_found("x")
            if a == "2":
                raise CodedError(QUOTA, "x")
            if a == "3":
                raise CodedError(ErrorCode.UNKNOWN_ERROR, "no factory")
            if a == "4":
                raise CodedError(ErrorCode.NOT_FOUND if a else ErrorCode.CONFLICT, "x")
            raise CodedError(code, "x")
        """,
        """
        from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context) -> str:
            if ctx:
                raise CodedError(ErrorCode.NOT_FOUND, "prefer-fail says it")
            raise CodedError(ErrorCode.CONFLICT, "undeclared-reason says it", reason="other")
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import CodedError, ErrorCode, tool

            @tool
            def fetch(a: str) -> str:
                raise CodedError(ErrorCode.NOT_FOUND, f"no {a}", {"a": a}, retry=None) from None  # here
            """,
            "not_found(...)",
            """
            from mcpcore import CodedError, ErrorCode, not_found, tool

            @tool
            def fetch(a: str) -> str:
                raise not_found(f"no {a}", {"a": a}, retry=None) from None
            """,
        ),
        Invalid(
            """
            import mcpcore
            from mcpcore import ErrorCode as E

            @mcpcore.tool
            def fetch(a: str) -> str:
                if a:
                    error = mcpcore.CodedError(code=E.TIMEOUT, message="slow")  # here
                    raise error
                raise mcpcore.CodedError(E["CONFLICT"])  # here
            """,
            "timeout(...)",
            """
            import mcpcore
            from mcpcore import ErrorCode as E

            @mcpcore.tool
            def fetch(a: str) -> str:
                if a:
                    error = mcpcore.timeout(message="slow")
                    raise error
                raise mcpcore.conflict()
            """,
        ),
        Invalid(
            """
            from mcpcore import CodedError, ErrorCode, tool

            CODE = ErrorCode.NOT_FOUND
            def not_found(): ...

            @tool
            def fetch(a: str) -> str:
                raise CodedError(
                    CODE,  # the code
                    "gone",
                )
            """.replace("raise CodedError(", "raise CodedError(  # here"),
            "not_found(...)",
            None,
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each constructor whose code has a factory, unless a rule about the contract has more to say."""
        for error in tool.handler.errors:
            if error.callee != "mcpcore.CodedError" or error.form != "coded":
                continue
            code = self._code(error.code)
            factory = FACTORY_OF_CODE.get(code) if code is not None else None
            if code is None or factory is None:
                continue
            contract = tool.contract
            if contract is not None and (
                not isinstance(error.reason, Missing) or not codes_known(contract) or contract.with_code(code)
            ):
                continue
            ctx.report(
                error.node,
                f"CodedError(ErrorCode.{code}, ...) is {factory}(...)",
                help=f"call {factory}(...), which sets the code itself",
                tool=tool,
                module=tool.handler.module,
                fix=self._fix(error, factory, tool, ctx),
            )

    @staticmethod
    def _code(value: Value) -> str | None:
        if isinstance(value, CodeValue):
            return value.name if value.exists and not value.custom else None
        names = codes_of(value) if isinstance(value, Const) else None
        return names[0] if names and len(names) == 1 and names[0] in CODES.by_name else None

    @staticmethod
    def _fix(error: ErrorSite, factory: str, tool: ToolDef, ctx: RuleContext) -> Fix | None:
        call = error.node
        module = tool.handler.module
        if not isinstance(call, ast.Call):
            return None
        func = body_of(tool.handler).value(call.func)
        argument: ast.expr | ast.keyword | None = next((each for each in call.keywords if each.arg == "code"), None)
        if argument is None and call.args and not isinstance(call.args[0], ast.Starred):
            argument = call.args[0]
        if argument is None or not isinstance(func, Symbol) or func.name != "mcpcore.CodedError":
            return None
        start, end = module.source.node_range(call)
        if "#" in module.source.text[start:end] and any(
            "#" in line for line in _comments(module.source.text[start:end])
        ):
            return None
        name = fixes.import_name(module, "mcpcore", factory)
        edits = [
            *name.edits,
            fixes.replace_node(module, call.func, name.text),
            fixes.remove_argument(module, call, argument),
        ]
        return ctx.fix(f"Call {factory}(...)", edits)


def _comments(text: str) -> Iterator[str]:
    """The comments in a piece of code that may be cut anywhere."""
    import io
    import tokenize

    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        yield "#"


class PreserveCauseOnRethrow(Rule):
    """An error raised in an `except` without `from`."""

    id = "preserve-cause-on-rethrow"
    severity = Severity.WARNING
    family = "handler"
    fixable = True
    summary = "an error raised in an `except` clause without `from`"
    why = (
        "The log and the audit trail show the cause of a failure by its `__cause__`. Without `from` the first "
        "exception reads as a second accident that happened while the first was being handled."
    )
    bad = "except httpx.HTTPError:\n    raise service_unavailable()"
    good = "except httpx.HTTPError as error:\n    raise service_unavailable() from error"
    how_to_fix = "Add `from error`, naming the exception in the clause; `from None` where the cause says nothing."
    when_to_suppress = "Seldom: `from None` says that the cause is left out on purpose, and is not reported."
    valid = (
        """
        from mcpcore import not_found, tool

        @tool
        def fetch(a: str) -> str:
            try:
                return open(a).read()
            except FileNotFoundError as error:
                raise not_found("x") from error
            except PermissionError:
                raise not_found("x") from None
            except OSError as error:
                if a:
                    raise
                if not a:
                    raise error
                again = error
                raise again
            except ValueError:
                def later():
                    raise not_found("not in the clause")
                return ""
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import not_found, tool

            @tool
            def fetch(a: str) -> str:
                try:
                    return open(a).read()
                except (FileNotFoundError):
                    raise not_found("x")  # here
                except PermissionError as denied:
                    error = not_found("y")
                    raise (error if a else not_found("z"))  # here
                except:
                    raise not_found(
                        "x",  # why
                    )
            """.replace("raise not_found(\n", "raise not_found(  # here\n"),
            "without `from`",
            """
            from mcpcore import not_found, tool

            @tool
            def fetch(a: str) -> str:
                try:
                    return open(a).read()
                except (FileNotFoundError) as exc:
                    raise not_found("x") from exc
                except PermissionError as denied:
                    error = not_found("y")
                    raise (error if a else not_found("z")) from denied
                except BaseException as exc:
                    raise not_found(
                        "x",  # why
                    ) from exc
            """,
        ),
        Invalid(
            """
            from mcp.server.fastmcp import FastMCP
            from mcp.server.fastmcp.exceptions import ToolError

            mcp = FastMCP("x")

            @mcp.tool()
            async def fetch(a: str) -> str:
                try:
                    return await load(a)
                except* ValueError:
                    try:
                        return ""
                    except KeyError:
                        raise ToolError  # here
                    raise ToolError("x")  # here
            """,
            "without `from`",
            """
            from mcp.server.fastmcp import FastMCP
            from mcp.server.fastmcp.exceptions import ToolError

            mcp = FastMCP("x")

            @mcp.tool()
            async def fetch(a: str) -> str:
                try:
                    return await load(a)
                except* ValueError as error:
                    try:
                        return ""
                    except KeyError as inner_error:
                        raise ToolError from inner_error
                    raise ToolError("x") from error
            """,
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each new error that a clause raises and that names no cause."""
        seen: set[ast.AST] = set()
        body = body_of(handler)
        for throw in handler.throws:
            if throw.cause != "implicit" or throw.catch is None or throw.reraise or throw.node in seen:
                continue
            if (throw.error is None and throw.call is None) or not throw.escapes:
                continue
            if throw.error is not None and throw.error.type_name in NOT_FAILURES - {"builtins.AssertionError"}:
                continue
            seen.add(throw.node)
            made = short(throw.type_name) if throw.type_name is not None else "an error"
            caught = [short(each) for each in throw.catch.types if each is not None]
            of = f" of {' or '.join(caught)}" if caught and not throw.catch.bare else ""
            ctx.report(
                throw.node,
                f"{made} is raised in the `except`{of} without `from`, so its cause is lost",
                help="add `from` and the name of the exception, or `from None` where the cause says nothing",
                tool=tool,
                module=handler.module,
                fix=self._fix(throw, throw.catch, body, ctx),
            )

    @staticmethod
    def _fix(throw: ThrowSite, catch: CatchSite, body: Body, ctx: RuleContext) -> Fix | None:
        clause = catch.node
        if not isinstance(clause, ast.ExceptHandler):
            return None
        module = throw.module
        edits: list[Edit] = []
        name = catch.name
        if name is None:
            depth = sum(isinstance(each, ast.ExceptHandler) for each in body.above(clause))
            taken = body.names()
            prefix = "inner_" * depth
            choices = [f"{prefix}{each}" for each in ("error", "exc", "cause", "caught")]
            name = next((each for each in choices if each not in taken), None)
            at = _colon_of(
                clause, module.source.text, module.source.node_range(clause.type or clause)[1 if clause.type else 0]
            )
            if name is None or at is None:
                return None
            if clause.type is None:
                edits.append(Edit(at, at, f" BaseException as {name}"))
            elif isinstance(clause.type, ast.Tuple) and not module.source.segment(clause.type).startswith("("):
                return None
            else:
                edits.append(Edit(at, at, f" as {name}"))
        edits.append(fixes.insert_after(module, throw.node, f" from {name}"))
        return ctx.fix("Add the cause", edits)


def _colon_of(clause: ast.ExceptHandler, text: str, offset: int) -> int | None:
    """The offset at which ` as name` goes in a clause: behind its type and the parentheses round it."""
    if clause.type is None:
        match = re.compile(r"except").match(text, offset)
        return match.end() if match else None
    match = re.compile(r"(?:[ \t\f]|\\\r?\n|\))*(?=:)").match(text, offset)
    if match is None:
        return None
    return offset + len(match[0].rstrip(" \t\f"))
