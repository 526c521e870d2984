"""A plain FastMCP tool, resource or prompt that returns an exception instead of raising it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult
from fastmcp.tools.tool_transform import ArgTransform, forward
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from mcpcore import not_found
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import outcome_of
from tests.integrations.fastmcp.contract_server import extended, logged, records
from tests.runtime.test_returned import SECRET, LedgerError, Model, anything, no_arguments, untyped

Shape = Callable[[BaseException], Any]


class EndOfProgram(BaseException):
    """An exception that frameworks do not catch."""


class UnreadableError(Exception):
    """An exception whose own methods end the program."""

    def __str__(self) -> str:
        raise EndOfProgram

    __repr__ = __str__


def covered(mcp: FastMCP[Any]) -> FastMCP[Any]:
    mcp.add_middleware(ContractMiddleware())
    return mcp


def mounted(child: FastMCP[Any]) -> FastMCP[Any]:
    """Mount `child` two levels deep; only the outermost server has the middleware."""
    between: FastMCP[Any] = FastMCP("between")
    between.mount(child)
    outer = covered(FastMCP("outer"))
    outer.mount(between)
    return outer


PLACES: dict[str, Callable[[FastMCP[Any]], FastMCP[Any]]] = {"served": covered, "mounted": mounted}


def ask(mcp: FastMCP[Any], method: str, *args: Any) -> Any:
    return outcome_of(Client(mcp), lambda client: getattr(client, method)(*args))


def call(mcp: FastMCP[Any], name: str = "f") -> Any:
    return ask(mcp, "call_tool_mcp", name, {})


def error_of(answer: Any) -> dict[str, Any]:
    if isinstance(answer, MCPError):
        return dict(answer.error.data["error"])
    assert answer.is_error, answer
    return dict(answer.structured_content["error"])


SHAPES: dict[str, Shape] = {
    "alone": lambda exc: exc,
    "list": lambda exc: ["a", exc],
    "tuple": lambda exc: (exc, 1),
    "dict": lambda exc: {"a": {"b": [exc]}},
    "model": lambda exc: Model(free=exc),
    "beside a content block": lambda exc: [TextContent(type="text", text="a"), exc],
    "structured content": lambda exc: CallToolResult(content=[], structured_content={"a": [exc]}),
    "meta": lambda exc: CallToolResult(content=[], _meta={"a": exc}),
    "meta of FastMCP's result": lambda exc: ToolResult(content="a", meta={"a": exc}),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("annotated", [anything, untyped], ids=["Any", "none"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_that_returns_an_exception_fails(
    shape: str, annotated: Any, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """On mounted servers, too, a coded failure has its message and a crash is masked; each leaves one record."""
    for is_async in (False, True):
        for exc, name in ((not_found("No such row."), "NOT_FOUND"), (KeyError(SECRET), "INTERNAL_ERROR")):
            caplog.clear()
            mcp: FastMCP[Any] = FastMCP("s")

            def f(exc: BaseException = exc) -> Any:
                return annotated(SHAPES[shape](exc))

            async def g(exc: BaseException = exc) -> Any:
                return annotated(SHAPES[shape](exc))

            mcp.tool(_without_parameters(g if is_async else f, annotated, is_async=is_async), name="f")
            answer = call(PLACES[place](mcp))
            assert name == error_of(answer)["name"]
            assert ["No such row."] == [error_of(answer)["message"]] or name == "INTERNAL_ERROR"
            assert "hunter2" not in answer.model_dump_json()
            assert 1 == len(records(caplog))
            assert "hunter2" not in logged(caplog)


def _without_parameters(handler: Any, annotated: Any, *, is_async: bool) -> Any:
    made = no_arguments(handler, is_async=is_async)
    if "return" not in annotated.__annotations__:
        del made.__annotations__["return"]
    return made


@pytest.mark.parametrize("exc", [LedgerError, UnreadableError])
@pytest.mark.parametrize("shape", ["alone", "list", "dict"])
def test_no_exception_is_serialized_whatever_its_methods_do(shape: str, exc: Any) -> None:
    """This covers dataclass exceptions and exceptions whose text cannot be read."""
    mcp = covered(FastMCP("s"))
    mcp.tool(lambda: SHAPES[shape](exc()), name="f")
    mcp.resource("data://f")(_named(lambda: SHAPES[shape](exc())))
    mcp.prompt(_named(lambda: SHAPES[shape](exc())))
    for answer in (call(mcp), ask(mcp, "read_resource", "data://f"), ask(mcp, "get_prompt", "f")):
        assert "INTERNAL_ERROR" == error_of(answer)["name"]
        assert "hunter2" not in str(error_of(answer))


def _named(made: Callable[[], Any]) -> Any:
    def f() -> Any:
        return made()

    return f


@pytest.mark.parametrize("place", PLACES)
class TestTransformedTools:
    """The function may belong to the original tool or to the transform."""

    @pytest.mark.parametrize("renamed", [False, True])
    def test_the_original_function_is_watched(self, place: str, renamed: bool) -> None:
        """Arguments or only the tool may be renamed, even over two levels."""
        mcp: FastMCP[Any] = FastMCP("s")

        def f(x: int = 1) -> Any:
            return [not_found("No such row.")]

        arguments = {"x": ArgTransform(name="y")} if renamed else None
        once = Tool.from_tool(Tool.from_function(f), name="once", transform_args=arguments)
        mcp.add_tool(Tool.from_tool(once, name="twice"))
        assert "No such row." == error_of(call(PLACES[place](mcp), "twice"))["message"]

    def test_a_function_of_the_transform_is_watched(self, place: str) -> None:
        """It may or may not call the original tool."""
        mcp: FastMCP[Any] = FastMCP("s")

        async def g() -> Any:
            await forward()
            return {"failed": not_found("No such row.")}

        mcp.add_tool(Tool.from_tool(Tool.from_function(lambda: 1, name="one"), name="g", transform_fn=g))
        assert "No such row." == error_of(call(PLACES[place](mcp), "g"))["message"]


def test_the_registered_tool_is_unchanged() -> None:
    """It keeps its class and repr, and works as usual without the middleware."""
    mcp = covered(FastMCP("s"))

    @mcp.tool
    def f() -> Any:
        return [not_found("No such row.")]

    registered = anyio.run(mcp.get_tool, "f")
    before = type(registered), repr(registered)
    assert error_of(call(mcp))
    assert registered is anyio.run(mcp.get_tool, "f")
    assert isinstance(registered, before[0])
    assert before[1] == repr(registered)
    assert registered.model_copy(update={"name": "g"}).name == "g"
    assert not call(extended(FastMCP("alone"), registered)).is_error


def test_a_tool_class_that_cannot_be_subclassed_is_left_alone() -> None:
    """Its tools work as without the middleware."""

    class Final(Tool):
        def __init_subclass__(cls, **options: Any) -> None:
            raise TypeError("no subclasses")

        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            return self.convert_result("fine")

    mcp = extended(covered(FastMCP("s")), Final(name="f", parameters={"type": "object"}))
    assert "fine" == call(mcp).content[0].text


def test_a_server_mounted_later_is_watched() -> None:
    """This includes one below a server that is already mounted."""
    outer, between, child = covered(FastMCP("outer")), FastMCP[Any]("between"), FastMCP[Any]("child")
    outer.mount(between)
    assert error_of(ask(outer, "read_resource", "data://nothing"))
    child.tool(lambda: [not_found("No such row.")], name="f")
    between.mount(child)
    assert "No such row." == error_of(call(outer))["message"]
