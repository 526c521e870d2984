"""Servers: `@server.tool`, `server.add_tool`, `tools=`; the SDK's own ways unchanged."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp_types import ToolAnnotations
from typing_extensions import assert_type

from mcpcore import Context, Contract, ErrorCode, FailureMode, Limits, Server, Tool, tool

ONE: Final = FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")
server = Server("a", instructions="Ask.", describe_failures=True, unknown_tool="result", limits=Limits(message=100))
sdk_server: MCPServer = server


@server.tool()
def plain(name: str) -> str:
    return name


@server.tool(title="Own", annotations=ToolAnnotations(read_only_hint=True))
async def own(name: str, ctx: SDKContext) -> str:
    await ctx.report_progress(1)
    return name


@server.tool(errors=[ONE], title="Declared")
async def declared(ctx: Context[Literal["one"]], name: str) -> str:
    if not name:
        raise ctx.fail("onne")  # E: all - misspelt reason
    raise ctx.fail("one")


@server.tool(errors=Contract([ONE]))
def declared_sync(name: str) -> str:
    return name


@server.tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])  # E: plugin - undeclared reason
def undeclared(ctx: Context[Literal["two"]], name: str) -> str:
    raise ctx.fail("two", name)


undeclared(name="x")  # E: pyright basedpyright ty - undeclared reason

@server.tool(read_only=True, idempotent=True, destructive=False)
def hinted(name: str) -> str:
    return name


@server.tool(errors=[ONE], idempotent=True)
def hinted_and_declared(ctx: Context[Literal["one"]], name: str) -> str:
    raise ctx.fail("one", name)


@tool(read_only=True)
def short(ctx: Context, name: str) -> str:
    return name


server.tool(read_only="yes")  # E: all - a hint is a bool
server.tool(errors=[ONE], readonly=True)  # E: mypy pyright basedpyright pyrefly - misspelt option
tool(idempotent=1.5)  # E: all - a hint is a bool
tool(errors=[ONE], destructiv=False)  # E: mypy pyright basedpyright pyrefly - misspelt option
server.add_tool(plain, read_only=True, idempotent=None)
server.add_tool(plain, destructive="no")  # E: all - a hint is a bool

assert_type(hinted(name="x"), str)
assert_type(hinted_and_declared(name="x"), str)
assert_type(short(name="x"), str)
print(hinted.contract, hinted_and_declared.name, short.handler)

# `@server.tool()` returns the function itself; with errors or a hint, it returns the tool.
assert_type(plain(name="x"), str)
plain.handler  # E: all - a function has no handler
assert_type(declared_sync("x"), str)
print(declared.handler, declared.name, declared.contract.reasons)


async def calls() -> None:
    assert_type(await own("x", SDKContext()), str)
    assert_type(await declared("x"), str)
    assert_type(await declared(name="x"), str)


@tool(errors=[ONE])
async def loose(ctx: Context[Literal["one"]], name: str) -> str:
    raise ctx.fail("one", name)


def handler(ctx: Context[Literal["one"]], name: str) -> str:
    raise ctx.fail("one", name)


class Store:
    @tool(errors=[ONE])
    def fetch(self, ctx: Context[Literal["one"]], key: str) -> str:
        raise ctx.fail("one", key)

    @tool
    def size(self) -> int:
        return 0


server.add_tool(loose)
server.add_tool(handler, errors=[ONE], name="other")
server.add_tool(plain, name="again", title="Again")
server.add_tool(Store().fetch)
Server("b", tools=[loose, Store().fetch, Store().size, SDKTool.from_function(plain)])
Server("b", tools=[plain])  # E: all - a function is no tool: put @tool above it
Server("b", unknown_tool="reslut")  # E: all - misspelt option
tools: list[Tool[..., str]] = []
Server("c", tools=tools)

# The options of the SDK's own server, by their names and types.
Server("c", version="1", website_url="https://c.example", log_level="DEBUG", warn_on_duplicate_tools=False, middleware=[])
Server("c", "Title", "Description.", "Instructions.")
Server("c", instruction="Ask.")  # E: mypy pyright basedpyright pyrefly - misspelt option
Server("c", log_level="LOUD")  # E: all - no such level
Server("c", warn_on_duplicate_tools="no")  # E: all - an option of another type
options: dict[str, Any] = {"version": "1"}
Server("c", **options)


class OwnServer(Server):
    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)


# A tool of any result is a tool of objects; a method's too.
async_results: Tool[..., object] = loose
sync_results: Tool[..., object] = declared_sync
bound_results: Tool[..., object] = Store().size


def takes_any(*tools: Tool[..., object]) -> None:
    Server("c", tools=tools)


takes_any(loose, declared_sync, Store().fetch, Store().size)
narrower: Tool[..., bool] = Store().size  # E: all - the result is an int


@dataclass
class Database:
    path: str


@asynccontextmanager
async def lifespan(app: MCPServer[Database]) -> AsyncGenerator[Database]:
    yield Database(app.name)


with_lifespan = Server("d", lifespan=lifespan, debug=True)
assert_type(with_lifespan, Server[Database])
assert_type(server, Server[Any])


def start(transport: Literal["stdio", "sse", "streamable-http"], over: Literal["stdio", "streamable-http"]) -> None:
    server.run()
    server.run(transport)
    server.run(transport=transport, host="127.0.0.1", port=8000)
    server.run(over, host="127.0.0.1", stateless_http=True)
    server.run("sse", message_path="/messages/")
    server.run(transport, hots="127.0.0.1")  # E: all - misspelt option
    server.run("http")  # E: all - no transport
