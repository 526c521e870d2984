"""Tools that throw coded errors and declare none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Related, Severity
from mcpcore_lint.rules._contract_fix import context_is_misplaced, contract_fix, proposals, throws_coded
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.rules._thrown import Thrown


class ContractMissing(Rule):
    """Coded errors without a contract."""

    id = "error-contract-missing"
    severity = Severity.INFO
    family = "conformance"
    fixable = True
    summary = "a tool throws coded errors and has no contract"
    why = (
        "The failures are known to whoever wrote the `raise`, and to nobody else: not to the agent that plans with "
        "`tools/list`, not to the type checker, not to the tests. Written down once, they are known to all."
    )
    bad = '@tool\ndef fetch(pmid: str) -> str:\n    raise not_found("no such article")'
    good = (
        '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when=..., recovery=...)])\n'
        'def fetch(ctx: Context[Literal["no_match"]], pmid: str) -> str:\n    raise ctx.fail("no_match")'
    )
    how_to_fix = (
        "Declare each failure in `errors`. The fix writes an entry for each failure that it sees, those of well-known "
        "libraries included. It is unsafe, since the entries are to be filled in: lint asks for each recovery that is "
        "still marked TODO."
    )
    when_to_suppress = "For a tool that is internal, or not finished."
    valid = (
        """
        from mcpcore import ErrorCode, FailureMode, not_found, timeout, tool

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def one(a: str) -> str:
            raise not_found("it has a contract")

        @tool
        def two(a: str) -> str:
            raise timeout("a baseline code")

        @tool
        def three(a: str) -> str:
            try:
                raise not_found("caught")
            except Exception:
                return ""

        @tool(errors=load())
        def four(a: str) -> str:
            raise not_found("a contract that nobody can see")

        @tool(**options)
        def five(a: str) -> str:
            raise not_found("perhaps a contract")
        """,
        """
        from fastmcp import FastMCP
        from fastmcp.exceptions import ToolError

        mcp = FastMCP("x")

        @mcp.tool
        def fetch(a: str) -> str:
            if a:
                raise ToolError("no codes here")
            raise ValueError("nor here")
        """,
        """
        from mcpcore import Server, not_found

        server = Server("x")

        @server.resource("x://{name}")
        def read(name: str) -> str:
            raise not_found("resources take no errors")

        @server.prompt()
        def ask(name: str) -> str:
            raise not_found("nor do prompts")
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import conflict, not_found, timeout, tool


            @tool
            async def fetch(pmid: str) -> str:  # here
                if not pmid:
                    raise not_found("No PMID was given.")
                if pmid == "1":
                    raise timeout("slow", reason="too_slow")
                if pmid == "2":
                    raise not_found(f"no article {pmid}")
                return await load(pmid)


            async def load(pmid: str) -> str:
                raise conflict("x", data={"reason": "in_use"})
            """,
            "fetch throws NOT_FOUND, TIMEOUT and CONFLICT",
            """
            from mcpcore import ErrorCode, FailureMode, conflict, not_found, timeout, tool


            @tool(
                errors=[
                    FailureMode(
                        "not_found",
                        ErrorCode.NOT_FOUND,
                        when="No PMID was given; no article",
                        recovery="TODO: next step",
                    ),
                    FailureMode(
                        "too_slow",
                        ErrorCode.TIMEOUT,
                        when="slow",
                        recovery="TODO: next step",
                    ),
                    FailureMode(
                        "in_use",
                        ErrorCode.CONFLICT,
                        when="TODO: raised by load",
                        recovery="TODO: next step",
                    ),
                ]
            )
            async def fetch(pmid: str) -> str:
                if not pmid:
                    raise not_found("No PMID was given.")
                if pmid == "1":
                    raise timeout("slow", reason="too_slow")
                if pmid == "2":
                    raise not_found(f"no article {pmid}")
                return await load(pmid)


            async def load(pmid: str) -> str:
                raise conflict("x", data={"reason": "in_use"})
            """,
        ),
        Invalid(
            """
            import mcpcore

            server = mcpcore.Server("x")

            class Tools:
                @mcpcore.tool()
                def one(self, ctx: mcpcore.Context) -> str:  # here
                    raise ctx.fail("queue_full")

                @server.tool(title="Two")
                def two(self) -> str:  # here
                    raise mcpcore.forbidden()

                @server.tool(
                    title="Three",
                    errors=None,
                )
                def three(self) -> str:  # here
                    raise mcpcore.forbidden()
            """,
            "one throws 'queue_full'",
            """
            import mcpcore

            server = mcpcore.Server("x")

            class Tools:
                @mcpcore.tool(
                    errors=[
                        mcpcore.FailureMode(
                            "queue_full",
                            mcpcore.ErrorCode.RATE_LIMITED,
                            when="TODO: say when this happens",
                            recovery="TODO: next step",
                        ),
                    ]
                )
                def one(self, ctx: mcpcore.Context) -> str:
                    raise ctx.fail("queue_full")

                @server.tool(title="Two", errors=[
                    mcpcore.FailureMode(
                        "forbidden",
                        mcpcore.ErrorCode.FORBIDDEN,
                        when="TODO: say when this happens",
                        recovery="TODO: next step",
                    ),
                ])
                def two(self) -> str:
                    raise mcpcore.forbidden()

                @server.tool(
                    title="Three",
                    errors=[
                        mcpcore.FailureMode(
                            "forbidden",
                            mcpcore.ErrorCode.FORBIDDEN,
                            when="TODO: say when this happens",
                            recovery="TODO: next step",
                        ),
                    ],
                )
                def three(self) -> str:
                    raise mcpcore.forbidden()
            """,
        ),
        Invalid(
            """
            from fastmcp import FastMCP
            from mcpcore import not_found

            mcp = FastMCP("x")

            @mcp.tool
            def fetch(a: str) -> str:  # here
                raise not_found("x")
            """,
            "fetch throws NOT_FOUND",
        ),
        # What libraries raise is proposed once for each code, and what led up to a hole in a sentence goes with it.
        Invalid(
            """
            import sqlite3

            import httpx
            from mcpcore import CodedError, ErrorCode, tool

            @tool
            async def fetch(a: str) -> str:  # here
                async with httpx.AsyncClient() as client:
                    await client.get(a)
                if not a:
                    raise CodedError(ErrorCode.NOT_FOUND, f"There is no row for '{a}': {a!r}.")
                return sqlite3.connect(a)
            """,
            "fetch throws NOT_FOUND",
            """
            import sqlite3

            import httpx
            from mcpcore import CodedError, ErrorCode, FailureMode, tool

            @tool(
                errors=[
                    FailureMode(
                        "not_found",
                        ErrorCode.NOT_FOUND,
                        when="There is no row",
                        recovery="TODO: next step",
                    ),
                    FailureMode(
                        "upstream_unavailable",
                        ErrorCode.SERVICE_UNAVAILABLE,
                        when="httpx.AsyncClient.get raises ConnectError or TransportError",
                        recovery="TODO: next step",
                    ),
                    FailureMode(
                        "upstream_timeout",
                        ErrorCode.TIMEOUT,
                        when="httpx.AsyncClient.get raises TimeoutException",
                        recovery="TODO: next step",
                    ),
                    FailureMode(
                        "database_failed",
                        ErrorCode.DATABASE_ERROR,
                        when="sqlite3.connect raises OperationalError",
                        recovery="TODO: next step",
                    ),
                ]
            )
            async def fetch(a: str) -> str:
                async with httpx.AsyncClient() as client:
                    await client.get(a)
                if not a:
                    raise CodedError(ErrorCode.NOT_FOUND, f"There is no row for '{a}': {a!r}.")
                return sqlite3.connect(a)
            """,
        ),
        # A contract would be refused at import for as long as the context stands elsewhere: no fix.
        Invalid(
            """
            from mcpcore import Context, Server, not_found

            server = Server("x")

            @server.tool()
            def fetch(a: str, ctx: Context) -> str:  # here
                raise not_found("x")

            class Tools:
                @server.tool()
                def load(self, a: str, *, ctx: Context) -> str:  # here
                    raise not_found("x")
            """,
            "fetch throws NOT_FOUND",
        ),
        # What another function says is read where it says it, and a hole at the end of a sentence is left out.
        Invalid(
            """
            from mcpcore import conflict, forbidden, tool

            @tool
            def fetch(a: str) -> str:  # here
                return one(a)

            def one(a: str) -> str:
                if a == "1":
                    raise conflict(f"The article is locked: {a}")
                if a == "2":
                    raise conflict(message="The journal is closed.")
                raise forbidden(why(a))
            """,
            "fetch throws CONFLICT and FORBIDDEN",
            """
            from mcpcore import ErrorCode, FailureMode, conflict, forbidden, tool

            @tool(
                errors=[
                    FailureMode(
                        "conflict",
                        ErrorCode.CONFLICT,
                        when="The article is locked; The journal is closed",
                        recovery="TODO: next step",
                    ),
                    FailureMode(
                        "forbidden",
                        ErrorCode.FORBIDDEN,
                        when="TODO: raised by one",
                        recovery="TODO: next step",
                    ),
                ]
            )
            def fetch(a: str) -> str:
                return one(a)

            def one(a: str) -> str:
                if a == "1":
                    raise conflict(f"The article is locked: {a}")
                if a == "2":
                    raise conflict(message="The journal is closed.")
                raise forbidden(why(a))
            """,
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a tool without a contract that throws what a contract would declare."""
        # Resources and prompts take no `errors`.
        if tool.kind != "tool" or tool.contract is not None or not _knows_codes(tool):
            return
        thrown = throws_coded(tool, ctx)
        if not thrown:
            return
        handler = tool.handler
        elsewhere = handler.module is not tool.module
        if tool.flavour != "mcpcore":
            step = "make it a tool of mcpcore and declare its failures in errors=[...]"
        elif context_is_misplaced(tool):
            step = "make the context the first parameter, as a contract needs, and declare the failures in errors=[...]"
        else:
            step = "declare its failures in errors=[...]; the fix writes the entries, with the recoveries to fill in"
        ctx.report(
            tool.registration if elsewhere else handler.node,
            f"{tool.display_name} throws {_told(thrown)} and has no contract",
            help=step,
            tool=tool,
            related=[_site(each, tool, ctx) for each in thrown[:5]],
            fix=contract_fix(tool, proposals(tool, ctx), ctx),
        )


def _knows_codes(tool: ToolDef) -> bool:
    """Whether a tool's files speak of mcpcore at all: a plain server has no codes, and following its calls costs."""
    return tool.flavour == "mcpcore" or any(
        module.source.has("mcpcore") for module in (tool.module, tool.handler.module)
    )


def _told(thrown: list[Thrown]) -> str:
    """What is thrown: the codes, or the reason where only that is known."""
    found: dict[str, None] = {}
    for each in thrown:
        for name in each.codes or [repr(one) for one in each.reasons or ()]:
            found[name] = None
    names = list(found)
    if not names:
        return "coded errors"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _site(thrown: Thrown, tool: ToolDef, ctx: RuleContext) -> Related:
    if thrown.reached is not None:
        told = f"it is raised here: {thrown.way}" if thrown.way else "it is raised here"
        return Related(thrown.reached.site.path, thrown.reached.site.span, told)
    assert thrown.error is not None
    return ctx.related(thrown.error.node, "it is raised here", tool.handler.module)
