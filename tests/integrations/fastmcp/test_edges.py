"""Rare cases on FastMCP: cancellation, unfindable tools, hostile names, and programs without FastMCP."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any, Literal

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.server.middleware import Middleware
from fastmcp.server.sessions import UserSession
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform
from mcp_types import CallToolResult, TextContent

from mcpcore import Context, ErrorCode, FailureMode, tool
from mcpcore.integrations.fastmcp import ContractMiddleware, errors
from mcpcore.integrations.fastmcp.components import find_contract_tool
from tests.answers import ask
from tests.integrations.fastmcp.contract_server import calling, error_of, extended, server_of

NO_ORDER = FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is no such order.", recovery="List the orders.")
SECRET = "password=hunter2hunter2"


@pytest.mark.anyio
@pytest.mark.parametrize("alone", [True, False])
async def test_a_cancelled_call_is_not_a_failure(alone: bool, caplog: pytest.LogCaptureFixture) -> None:
    """This holds for tools and resources, with and without the middleware."""

    @tool(errors=[NO_ORDER])
    async def slow() -> str:
        await anyio.sleep(30)
        return ""

    mcp = server_of(slow)
    if alone:
        mcp = extended(FastMCP("alone"), slow)

    @mcp.resource("data://slow")
    async def data() -> str:
        await anyio.sleep(30)
        return ""

    for call, argument in ((mcp.call_tool, "slow"), (mcp.read_resource, "data://slow")):
        with anyio.move_on_after(0.05) as scope:
            await call(argument)  # type: ignore[operator]
        assert scope.cancelled_caught
    assert [] == [record for record in caplog.records if record.name.startswith("mcpcore")]


def test_a_tool_without_a_server_has_no_session() -> None:
    """With `tool.run(...)`, progress is dropped and methods that need a client raise a clear error."""

    @tool(errors=[NO_ORDER])
    async def f(ctx: Context[Literal["no_order"]]) -> str:
        await ctx.report_progress(1)
        assert (None, None) == (ctx.input_responses, ctx.request_state)
        with pytest.raises(ValueError, match="outside of a request"):
            await ctx.read_resource("data://x")
        raise ctx.fail("no_order")

    assert anyio.run(Tool.from_function(f).run, {}).is_error


def test_fastmcp_errors_raised_by_authors_are_read() -> None:
    """A `ValidationError` of an author is sent; one about another tool's arguments is masked."""
    mcp = server_of()

    @mcp.tool
    def inner(x: int) -> int:
        return x

    @tool(errors=[NO_ORDER])
    async def own() -> str:
        raise ValidationError("Pick another day.")

    @tool(errors=[NO_ORDER])
    async def nested() -> Any:
        inner_tool: Any = await mcp.get_tool("inner")
        return await inner_tool.run({"x": SECRET})

    extended(mcp, own, nested)
    error = error_of(calling(mcp, "own"))
    assert ("VALIDATION_ERROR", "Pick another day.") == (error["name"], error["message"])
    error = error_of(calling(mcp, "nested"))
    assert ("VALIDATION_ERROR", ErrorCode.VALIDATION_ERROR.sentence) == (error["name"], error["message"])


def test_endlessly_wrapped_errors_are_still_read() -> None:
    """They are followed to a realistic depth."""
    exc: BaseException = KeyError("x")
    for _ in range(30):
        outer = ToolError("Error calling tool 'x'")
        outer.__cause__ = exc
        exc = outer
    assert isinstance(errors.raised_within(exc), ToolError)


def test_arguments_of_transformed_tools_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """Unknown and missing arguments of plain and contract tools are named; a TypeError in the tool is a crash."""

    def plain(x: int) -> int:
        raise TypeError("Got unexpected keyword argument(s): of my own")

    @tool(errors=[NO_ORDER])
    def contract(x: int) -> int:
        return x

    renamed = {"x": ArgTransform(name="number")}
    mcp = server_of(
        Tool.from_tool(Tool.from_function(plain), name="plain", transform_args=renamed),
        Tool.from_tool(contract, name="contract", transform_args=renamed),
    )
    for name in ("plain", "contract"):
        for arguments, path in (({}, "number"), ({"number": 1, "numbr": SECRET}, "numbr")):
            error = error_of(calling(mcp, name, arguments))
            assert ("invalid_arguments", [path]) == (
                error["data"]["reason"],
                [issue["path"] for issue in error["data"]["issues"]],
            )
    assert "INTERNAL_ERROR" == error_of(calling(mcp, "plain", {"number": 1}))["name"]
    assert "hunter2" not in caplog.text


def test_a_failure_is_answered_if_the_tool_cannot_be_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken provider does not hide the failure, and a broken list gives no suggestions."""

    class Breaking(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            finally:
                monkeypatch.setattr(mcp, "get_tool", None)

        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            raise RuntimeError("no list")

    mcp = server_of()

    @mcp.tool
    def plain() -> str:
        raise ToolError("Said.")

    mcp.add_middleware(Breaking())
    with pytest.raises(ToolError, match=r"^Said\.$"):
        anyio.run(mcp.call_tool, "plain")
    monkeypatch.undo()
    with pytest.raises(NotFoundError) as raised:
        anyio.run(mcp.call_tool, "plani")
    assert [] == raised.value.envelope.data["near"]  # type: ignore[attr-defined]
    assert anyio.run(find_contract_tool, server_of(), "nothing") is None


@pytest.mark.usefixtures("only_warnings")
@pytest.mark.parametrize("answer", [None, "text", {"a": 1}], ids=repr)
def test_middleware_that_returns_no_result_is_a_crash(answer: object, caplog: pytest.LogCaptureFixture) -> None:
    """FastMCP could not send it, so the client would get a protocol error without an id."""

    class Breaking(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            return answer

    mcp = server_of()
    mcp.tool(lambda: "", name="f")
    mcp.add_middleware(Breaking())
    error = error_of(calling(mcp, "f"))
    assert ("INTERNAL_ERROR", "The tool failed unexpectedly.") == (error["name"], error["message"])
    assert f"middleware returned {type(answer).__name__}, not a ToolResult" in caplog.text
    answer = CallToolResult(content=[TextContent(type="text", text="An extension answers in the form of the wire.")])
    assert answer.content == calling(mcp, "f").content


def test_middleware_that_reports_an_existing_tool_as_missing_is_believed() -> None:
    """The tool then does not count as unknown."""

    class Hiding(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            raise NotFoundError("Not for you.")

    @tool(errors=[NO_ORDER])
    def f() -> str:
        return ""

    error = error_of(calling(extended(server_of(f), Hiding()), "f"))
    assert ("NOT_FOUND", "Not for you.") == (error["name"], error["message"])


def test_a_fastmcp_session_is_injected() -> None:
    """A caller without a name has no `UserSession`."""

    @tool(errors=[NO_ORDER])
    async def maybe(session: UserSession | None = None) -> bool:
        return session is None

    @tool(errors=[NO_ORDER])
    async def needed(session: UserSession) -> bool:
        return session is None

    mcp = server_of(maybe, needed)
    assert {"result": True} == calling(mcp, "maybe").structured_content
    assert error_of(calling(mcp, "needed"))["name"]


def test_programs_without_fastmcp_see_a_plain_function() -> None:
    """The signature is the handler's without its context, and FastMCP is not loaded."""
    code = (
        "import inspect, sys\n"
        "from mcpcore import Context, tool\n"
        "@tool\n"
        "def f(ctx: Context, x: int = 1) -> int: return x\n"
        "class C:\n"
        "    f = f\n"
        "assert C().f is f and not hasattr(f, '__fastmcp__')\n"
        "assert 'declaration' in inspect.signature(type(f)).parameters\n"
        "print(inspect.signature(f), 'fastmcp' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "(x: int = 1) -> int False" == done.stdout.strip()


def test_an_authors_error_worded_like_a_failed_response_is_a_crash() -> None:
    """Only FastMCP's OpenAPI tools use the status in such text; an exception that was never raised has no location."""
    mcp = extended(FastMCP("s"), ContractMiddleware())

    @mcp.tool
    def raised() -> str:
        raise ValueError("HTTP error 404: hunter2")

    @mcp.tool
    def returned() -> Any:
        return ValueError("HTTP error 404: hunter2")

    for name in ("raised", "returned"):
        result = ask(Client(mcp), lambda client, name=name: client.call_tool_mcp(name, {}))
        assert "NOT_FOUND" != error_of(result)["name"]
        assert "hunter2" not in result.model_dump_json()


def test_the_error_seen_by_other_middleware_can_be_copied() -> None:
    """The copy keeps its failure."""
    failure = KeyError("order_id")
    error: Any = errors.masked(failure, "Tool 'get_order' failed", kind=ToolError)
    copied: Any = copy.copy(error)
    assert isinstance(copied, errors.ContractFailure)
    assert isinstance(copied, ToolError)
    assert (failure, "Tool 'get_order' failed") == (copied.failure, str(copied))
    assert error.log_level == copied.log_level
