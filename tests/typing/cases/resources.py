"""Resources and prompts: `@resource`, `@prompt`, `@server.resource`, `@server.prompt`, and the lists of a server."""

from __future__ import annotations

from typing import Final, Literal

from mcp.server.mcpserver.resources import TextResource

from mcpcore import Context, ErrorCode, FailureMode, Server, prompt, resource

ONE: Final = FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")
server = Server("a")


@resource("a://{name}", errors=[ONE], mime_type="text/plain")
async def template(ctx: Context[Literal["one"]], name: str) -> str:
    if not name:
        raise ctx.fail("onne")  # E: all - misspelt reason
    raise ctx.fail("one", name)


@resource("a://static")
def static() -> bytes:
    return b""


@resource("a://odd", errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])  # E: plugin - undeclared reason
def undeclared(ctx: Context[Literal["two"]]) -> str:
    raise ctx.fail("two")



@prompt(errors=[ONE], title="A")
def question(ctx: Context[Literal["one"]], name: str) -> str:
    raise ctx.fail("onne")  # E: all - misspelt reason


@prompt
async def plain(name: str) -> list[str]:
    return [name]


@prompt(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])  # E: plugin - undeclared reason
def undeclared_prompt(ctx: Context[Literal["two"]]) -> str:
    raise ctx.fail("two")


@server.resource("b://{name}", errors=[ONE])
def registered(ctx: Context[Literal["one"]], name: str) -> str:
    raise ctx.fail("onne")  # E: all - misspelt reason


@server.resource("c://c")
def own() -> str:
    return ""


@server.prompt(errors=[ONE])
def registered_prompt(ctx: Context[Literal["one"]]) -> str:
    raise ctx.fail("onne")  # E: all - misspelt reason


@server.prompt()
def own_prompt(name: str) -> str:
    return name


class Store:
    @resource("d://d", errors=[ONE])
    def method(self, ctx: Context[Literal["one"]]) -> str:
        raise ctx.fail("one")


Server("a", resources=[template, static, Store().method, TextResource(uri="t://t", text="")], prompts=[question, plain])
Server("a", resources=[undeclared])  # E: pyright basedpyright ty - undeclared reason
Server("a", prompts=[undeclared_prompt])  # E: pyright basedpyright ty - undeclared reason
own()
own_prompt(name="a")
own_prompt(nme="a")  # E: all - misspelt argument
