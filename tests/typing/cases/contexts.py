"""A context that names an undeclared reason is an error where the tool is used; to mypy, with the plugin."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from mcp.server.mcpserver import MCPServer
from typing_extensions import assert_type

from mcpcore import Context, Contract, ErrorCode, FailureMode, Server, tool

ONE: Final = FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")
TWO: Final = FailureMode("two", ErrorCode.NOT_FOUND, when="Two.", recovery="Do two.")
ERRORS: Final = [FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")]
CONTRACT: Final = Contract([FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
OneOrTwo: TypeAlias = Literal["one", "two"]


@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])  # E: plugin - undeclared reason
def undeclared(ctx: Context[Literal["two"]], name: str) -> str:
    raise ctx.fail("two", name)


@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])  # E: plugin - undeclared reason
async def partly_declared(ctx: Context[OneOrTwo], name: str) -> str:
    raise ctx.fail("two", name)


@tool(errors=ERRORS)  # E: plugin - undeclared reason
def undeclared_in_list(ctx: Context[OneOrTwo], name: str) -> str:
    raise ctx.fail("two", name)


@tool(errors=CONTRACT)  # E: plugin - undeclared reason
def undeclared_in_contract(ctx: Context[OneOrTwo], name: str) -> str:
    raise ctx.fail("two", name)


@tool(errors=[ONE, TWO])  # E: plugin - undeclared reason
def undeclared_in_several(ctx: Context[Literal["two", "three"]], name: str) -> str:
    raise ctx.fail(TWO, name)


@tool(errors=Contract([ONE, TWO]))  # E: plugin - undeclared reason
def undeclared_in_contract_of_several(ctx: Context[Literal["two", "three"]], name: str) -> str:
    raise ctx.fail("two", name)


class Store:
    @tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])  # E: plugin - undeclared reason
    def undeclared(self, ctx: Context[Literal["two"]], name: str) -> str:
        raise ctx.fail("two", name)

    @tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
    def declared(self, ctx: Context[Literal["one"]], name: str) -> str:
        raise ctx.fail("one", name)


store = Store()
Server("a", tools=[undeclared])  # E: pyright basedpyright ty - undeclared reason
Server("a", tools=[partly_declared])  # E: pyright basedpyright ty - undeclared reason
Server("a", tools=[undeclared_in_list])  # E: pyright basedpyright ty - undeclared reason
Server("a", tools=[undeclared_in_contract])  # E: pyright basedpyright ty - undeclared reason
Server("a", tools=[undeclared_in_contract_of_several])  # E: pyright basedpyright ty - undeclared reason
# ty cannot infer the reasons of a list of several failure modes.
Server("a", tools=[undeclared_in_several])  # E: pyright basedpyright - undeclared reason
Server("a", tools=[store.undeclared])  # E: pyright basedpyright ty - undeclared reason
Server("a", tools=[store.declared])


# The lifespan, by the second argument; left out, it is anything.
@dataclass
class Database:
    path: str


@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
async def with_lifespan(ctx: Context[Literal["one"], Database], name: str) -> str:
    assert_type(ctx.lifespan_context, Database)
    assert_type(ctx.sdk.request_context.lifespan_context, Database)
    print(ctx.lifespan_context.pat)  # E: all - Database has no such attribute
    if not name:
        raise ctx.fail("on")  # E: all - misspelt reason
    return ctx.lifespan_context.path


@tool(errors=[ONE])
async def without_lifespan(ctx: Context[Literal["one"]], name: str) -> str:
    path: str = ctx.lifespan_context.path
    await ctx.info({"path": path})
    return path + name


Server("a", tools=[with_lifespan, without_lifespan])


# A lifespan may name the server of mcpcore or that of the SDK.
@asynccontextmanager
async def of_server(server: Server[Database]) -> AsyncGenerator[Database, None]:
    yield Database(server.name)


@asynccontextmanager
async def of_sdk_server(server: MCPServer[Database]) -> AsyncGenerator[Database, None]:
    yield Database(server.name)


Server("a", lifespan=of_server)
Server("a", lifespan=of_sdk_server)
