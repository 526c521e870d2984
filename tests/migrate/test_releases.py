"""Names and options that releases of FastMCP and of the SDK changed: they follow where that is clear, else they are listed."""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path

import pytest
from mcp import types
from mcpcore_lint.migrate.model import FAILS, STOPS
from mcpcore_lint.migrate.renames import CONTEXT, DECORATED, FIELDS, GONE, METHODS, MOVED, REMOVED, WHERE_RUN
from pydantic import BaseModel

from tests.migrate.migrating import migrated, report, run

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "migrate.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("package", "name"), MOVED)
def test_a_moved_name_is_where_the_table_says(package: str, name: str) -> None:
    """The installed releases have the new name, and the old one no longer."""
    moved = MOVED[package, name]
    assert hasattr(importlib.import_module(moved.package), moved.name or name)
    with suppress(ModuleNotFoundError):
        assert not hasattr(importlib.import_module(package), name)


@pytest.mark.parametrize(("package", "name"), REMOVED)
def test_a_removed_name_is_gone(package: str, name: str) -> None:
    """The installed releases do not have it."""
    with suppress(ModuleNotFoundError):
        assert not hasattr(importlib.import_module(package), name)


def test_the_page_has_the_tables() -> None:
    """Each name that a release changed is on the page, with the release."""
    for (package, name), moved in MOVED.items():
        assert f"| `{package}.{name}` | `{moved.package}.{moved.name or name}` | {moved.release} |" in PAGE
    for table in (*GONE.values(), DECORATED, METHODS, CONTEXT, WHERE_RUN):
        for name, (release, _) in table.items():
            assert any(f"`{name}`" in line and release in line for line in PAGE.splitlines()), name


FASTMCP = """import os

from fastmcp import Context, FastMCP
from fastmcp.server.proxy import FastMCPProxy
from fastmcp.tools.tool import FunctionTool, Tool

mcp = FastMCP(
    "a",  # the name
    host=os.getenv("HOST", "0.0.0.0"),
    # Where it listens.
    port=8000,
    streamable_http_path="/x",
    include_tags={"a"},
)
sub = FastMCP("b", debug=True)
mcp.mount(sub, prefix="b")
mcp.mount(sub, as_proxy=True)


@mcp.tool(exclude_args=["y"])
async def f(x: str, ctx: Context, y: str = "") -> str:
    ctx.set_state("a", 1)
    await ctx.set_state("b", 1)
    await digest(x, sampler=ctx.sample)
    try:
        await ctx.list_roots()
    except AttributeError:
        x = "none"
    return str(await mcp.get_tools())


def main() -> None:
    mcp.run(transport="http")
"""


def test_a_server_of_fastmcp_2(tmp_path: Path) -> None:
    """Names move, options go to the call that runs the server, and the rest has a line with the release."""
    outcome, files = run(tmp_path, {"server.py": FASTMCP})
    server = files["server.py"]
    for part in (
        "from fastmcp.server.providers.proxy import FastMCPProxy\n",
        "from fastmcp.tools import Tool\nfrom fastmcp.tools.function_tool import FunctionTool\n",
        'mcp = FastMCP(\n    "a",  # the name\n    middleware=[ContractMiddleware(expose_internal_errors="message")],\n)\n',
        'sub = FastMCP("b", middleware=[ContractMiddleware(expose_internal_errors="message")])\nmcp.mount(sub, namespace="b")\n',
        'mcp.run(transport="http", host=os.getenv("HOST", "0.0.0.0"), port=8000, path="/x")\n',
        '    await ctx.set_state("a", 1, serializable=False)\n    await ctx.set_state("b", 1)\n',
        "    return str({tool.name: tool for tool in await mcp.list_tools()})\n",
    ):
        assert part in server
    assert [
        (
            "server.py:13: include_tags={'a'} of the server, which FastMCP 3.0 does not have, is removed: call "
            "enable(tags=..., only=True) of the server"
        ),
        "server.py:15: debug=True of the server, which FastMCP 3.0 does not have, is removed: set FASTMCP_DEBUG",
    ] == [removed.text(Path(removed.path).name, removed.line) for removed in outcome.removed]
    assert [
        "as_proxy= of mount(), which FastMCP 4.0 does not have: mount create_proxy(...) of fastmcp.server",
        (
            "exclude_args= of @tool, which FastMCP 4.0 does not have: give the parameter a Depends(...) from "
            "fastmcp.dependencies as its default"
        ),
        "sample() of the context, which FastMCP 4.0 changed: call a model from the server itself",
        (
            "list_roots() of the context, which FastMCP 4.0 changed: write (await ctx.session.list_roots()).roots for "
            "clients before protocol 2026-07-28, and take others' paths"
        ),
    ] == [line.partition(": ")[2] for line in report(outcome)]
    again, _ = run(tmp_path, {})
    assert ((), (), [STOPS, STOPS, FAILS, 0]) == (
        again.files,
        again.removed,
        [line.stops for line in outcome.left],
    )


STATE = """from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import Middleware

mcp = FastMCP("a")


class Login(Middleware):
    async def on_call_tool(self, context, call_next):
        if context.fastmcp_context:
            context.fastmcp_context.set_state(
                "user",
                object(),
            )
        return await call_next(context)


@mcp.tool
async def whoami(ctx: Context) -> str:
    user = ctx.get_state("user")
    names = [get_context().get_state(key).name for key in ("a", "b")]
    first = ctx.get_state("x")[0] or ctx.get_state("y")(1)
    later = lambda: ctx.get_state("later")
    return f"{user}, {ctx.get_state('text')}{names}{first}{later}"


@mcp.tool
def plain(ctx: Context) -> str:
    async def nested(default=ctx.get_state("default")):
        keys = [part for part in ctx.get_state("keys") if any(part for part in ctx.get_state(part))]
        return any(
            ctx.get_state(key) for key in keys
        )

    return str(ctx.get_state("plain"))
"""


def test_the_state_of_a_context_is_awaited(tmp_path: Path) -> None:
    """It is kept for one request, as before; where no `await` can stand, there is a line."""
    outcome, files = run(tmp_path, {"server.py": STATE})
    for part in (
        (
            '            await context.fastmcp_context.set_state(\n                "user",\n                object(),\n'
            "                serializable=False,\n            )\n"
        ),
        '    user = await ctx.get_state("user")\n',
        '[(await get_context().get_state(key)).name for key in ("a", "b")]',
        'first = (await ctx.get_state("x"))[0] or (await ctx.get_state("y"))(1)\n',
        'lambda: ctx.get_state("later")\n    return f"{user}, {await ctx.get_state(\'text\')}',
        'return str(ctx.get_state("plain"))',
        '[part for part in await ctx.get_state("keys") if any(part for part in await ctx.get_state(part))]',
    ):
        assert part in files["server.py"]
    changed = "get_state() of the context, which FastMCP 3.0 changed: await it, and store values that are JSON"
    assert [f"server.py:{line}: {changed}" for line in (25, 31, 34, 37)] == report(outcome)


LISTED = """import asyncio

from fastmcp import FastMCP

mcp = FastMCP("a")
size = f"{len(asyncio.run(mcp.get_tools()))}"; found = asyncio.run(mcp.get_resources())["memo://a"]


async def test_all():
    assert "sum" in await mcp.get_tools() and (await mcp.get_prompts()).keys() == {"ask"}
    assert "x" not in await asyncio.wait_for(mcp.get_resource_templates(), 3)
    assert f"{await mcp.get_tools()}" != str(mcp.get_tools)
"""


def test_what_a_server_has_is_listed(tmp_path: Path) -> None:
    """A list becomes the dict of FastMCP 2 where the call is awaited or run; elsewhere there is a line."""
    outcome, files = run(tmp_path, {"test_all.py": LISTED})
    for part in (
        'size = f"{len({tool.name: tool for tool in asyncio.run(mcp.list_tools())})}"; ',
        'found = {str(resource.uri): resource for resource in asyncio.run(mcp.list_resources())}["memo://a"]\n',
        'assert "sum" in {tool.name: tool for tool in await mcp.list_tools()} and ',
        ' and ({prompt.name: prompt for prompt in await mcp.list_prompts()}).keys() == {"ask"}\n',
        LISTED.partition("ask")[2],
    ):
        assert part in files["test_all.py"]
    assert [11, 12] == [place.line for place in outcome.left]


MANAGED = """async def test_sell(server):
    assert 1 == await server.mcp._tool_manager.call_tool("sell", {"x": 1})
    assert 1 == await server.mcp._tool_manager.call_tool("sell", {"x": 1}, None)
    assert 1 == await server.mcp._tool_manager.call_tool("sell", arguments={}, context=None)
    assert 1 == await server.mcp.call_tool("sell", {"x": 1})
"""


def test_a_call_of_the_manager_of_tools_without_a_context_has_a_line(tmp_path: Path) -> None:
    """Version 1 of the SDK asked for none."""
    server = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    outcome, _ = run(tmp_path, {"server.py": server, "test_server.py": MANAGED})
    pattern = "_tool_manager.call_tool() without a context, which SDK 2.0 asks for"
    assert [f"test_server.py:2: {pattern}: pass Context() of mcp.server.mcpserver behind the arguments"] == [
        line for line in report(outcome) if "_tool_manager" in line
    ]


WRAPPED = """from mcp import types
from mcp.server.fastmcp import FastMCP
from mcp.types import ServerResult

mcp = FastMCP("x")


def wrap(tools):
    if tools is None:
        return ServerResult(types.EmptyResult())
    return types.ServerResult(
        types.ListToolsResult(tools=tools),
    )


def unwrap(message: types.JSONRPCMessage):
    return types.JSONRPCMessage.__name__, message
"""


def test_types_around_other_types_go(tmp_path: Path) -> None:
    """Version 2 of the SDK has them as unions, which nothing can call."""
    _, files = run(tmp_path, {"server.py": WRAPPED})
    assert "        return types.EmptyResult()\n    return types.ListToolsResult(tools=tools)\n" in files["server.py"]
    assert "import ServerResult" not in files["server.py"]
    assert "return types.JSONRPCMessage.__name__, message" in files["server.py"]


def test_an_import_from_a_module_that_is_gone_has_a_line(tmp_path: Path) -> None:
    """The table knows no new place of such a name, and it may be all names of the module."""
    text = "from fastmcp.tools.tool import *\nfrom fastmcp.server.proxy import ProxyTool, _own\nfrom .fastmcp.server.proxy import _own\n"
    outcome, _ = run(tmp_path, {"server.py": f"from fastmcp import FastMCP\n{text}\nmcp = FastMCP('a')\n"})
    assert [
        "server.py:2: the import of *: FastMCP 4.0 has no module fastmcp.tools.tool",
        "server.py:4: the import of _own: FastMCP 4.0 has no module fastmcp.server.proxy",
    ] == report(outcome)


AROUND = """from mcp.types import ServerResult


def wrap(tools, other):
    one = ServerResult(  # the answer
        tools
    )
    return one, ServerResult(tools)


def wrap_either(tools, other):
    return ServerResult(tools or other), ServerResult(root=tools)


def own(ServerResult, tools):
    return ServerResult(tools)
"""


def test_types_around_more_than_a_name_or_a_call_stay(tmp_path: Path) -> None:
    """A line says so: without the call, a comment would be lost, or an expression of several lines would end."""
    server = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    outcome, files = run(tmp_path, {"server.py": server, "wrapping.py": AROUND})
    assert AROUND.replace("one, ServerResult(tools)", "one, tools") == files["wrapping.py"]
    line = "ServerResult(...), which is a union in SDK 2.0: write the value alone, in parentheses"
    assert [f"wrapping.py:5: {line}", f"wrapping.py:12: {line}"] == report(outcome)


STARTS = {
    "stdio, and an application": ("asyncio.run(main())\nmcp.run()\napp = mcp.streamable_http_app()", False),
    "a call that has the option": ('mcp.run(transport="sse", port=9000)', False),
    "a server that is handed on": (
        'def serve(server):\n    server.run(transport="sse")\n\nserve(mcp)\nmcp.run()',
        True,
    ),
    "no call": ("", True),
}


@pytest.mark.parametrize("name", STARTS)
def test_an_option_that_no_call_needs_has_no_advice(name: str, tmp_path: Path) -> None:
    """It went without effect before, too; the line says to give it where the server is run only if that may be."""
    runs, needed = STARTS[name]
    text = f"import asyncio\n\nfrom mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x', port=8000)\n{runs}\n"
    outcome, _ = run(tmp_path, {"server.py": text})
    decide = "give it where the server is run" if needed else "no call that runs the server needs it"
    assert [decide] == [line.decide for line in outcome.removed]


PROMPTS = """from fastmcp import FastMCP
from fastmcp.prompts.prompt import Message, PromptMessage, PromptResult, TextContent

mcp = FastMCP("a")


@mcp.prompt
def ask(x: str) -> PromptMessage:
    return PromptMessage(role="user", content=TextContent(type="text", text=x))


@mcp.prompt()
async def plan(x: str) -> list:
    return await planned(x)


async def planned(x: str) -> list:
    try:
        return [{"role": "user", "content": x}]
    except Exception:
        return [{"role": "assistant", "content": x}]


@mcp.prompt
def good(x: str) -> PromptResult:
    note(role="user")
    return PromptResult([Message(x, role="user"), x])


@mcp.prompt
def answer(x: str) -> str:
    reply = client.chat(messages=[{"role": "user", "content": x}])
    line = {"role": "user", "content": x}
    return reply.text + line["content"]


@mcp.prompt
def grow(x: str) -> list:
    messages = []
    messages.append({"role": "user", "content": x})
    return messages


@mcp.tool
def turn(x: str) -> dict:
    return {"role": "user", "content": x}
"""


def test_a_prompt_that_returns_messages_of_fastmcp_2_has_a_line(tmp_path: Path) -> None:
    """The line says what to return instead, also for a function whose value the prompt returns."""
    outcome, files = run(tmp_path, {"server.py": PROMPTS})
    assert (
        "from fastmcp.prompts import Message, PromptResult\nfrom mcp.types import PromptMessage" in files["server.py"]
    )
    refuses = "as a message of a prompt, which FastMCP 3.0 refuses: return Message(text, role=...) of fastmcp.prompts"
    assert [
        f"PromptMessage(...) {refuses} instead, or a text",
        *[f"a dict {refuses} instead, or a text"] * 2,
    ] == [line.partition(": ")[2] for line in report(outcome)]
    assert [FAILS, FAILS, FAILS] == [line.stops for line in outcome.left]


SEVERAL = """from fastmcp.server.auth import AuthContext
from fastmcp.server.dependencies import get_access_token


def check(ctx: AuthContext, settings) -> bool:
    token = ctx.token
    return ctx.token.client_id == token.client_id != settings.client_id


def who() -> str:
    current = get_access_token()
    return current.client_id if current else get_access_token().client_id
"""


def test_the_client_of_a_token_from_several_sources_has_a_line(tmp_path: Path) -> None:
    """FastMCP 4 adds the source to it. Other clients, other projects and files that know the new name have none."""
    auth = "from fastmcp.server.auth import MultiAuth\n\nauth = MultiAuth(verifiers=[])\n"
    outcome, _ = run(tmp_path / "a", {"check.py": SEVERAL, "auth.py": auth})
    assert [(7, "ctx"), (7, "token"), (12, "current"), (12, "get_access_token()")] == [
        (place.line, place.pattern.partition(".")[0]) for place in sorted(outcome.left)
    ]
    known = SEVERAL.replace("return current.client_id", "return current.original_client_id or current.client_id")
    own = auth.replace("from fastmcp.server.auth import MultiAuth", "class MultiAuth: ...")
    for name, text, code in (("b", SEVERAL, ""), ("c", known, auth), ("d", SEVERAL, own)):
        assert () == run(tmp_path / name, {"check.py": text, "auth.py": code})[0].left


def test_tools_that_run_as_tasks_need_an_extension(tmp_path: Path) -> None:
    """A server of FastMCP 4 does not start without it, so the first of them in a file has a line."""
    off = "from fastmcp import FastMCP\n\nmcp = FastMCP('x', tasks=False)\n\n\n@mcp.tool(task=None)\ndef f() -> None: ...\n"
    on = off.replace("None)", "True)")
    line = (
        "task= of mcp.tool(), which FastMCP 4.0 runs with an extension: call add_extension(TasksExtension()) "
        "of the server, from fastmcp_tasks, which fastmcp[tasks] brings"
    )
    other = "from fastmcp_tasks import TasksExtension\n"
    every = "tasks= of FastMCP(), which" + line.partition("which")[2]
    for number, (files, lines) in enumerate(
        [
            ({"server.py": off}, []),
            ({"server.py": on + on[on.index("@") :]}, [line]),
            ({"server.py": off.replace("False", "True")}, [every]),
            ({"server.py": on, "tasks.py": other}, []),
        ]
    ):
        texts = [text.partition(": ")[2] for text in report(run(tmp_path / str(number), {**files})[0])]
        assert lines == [text for text in texts if "task" in text]


def test_options_of_a_server_that_runs_over_stdio_go_with_a_line(tmp_path: Path) -> None:
    """The command cannot know where they are needed. Calls of other functions keep theirs."""
    source = """from mcp.server.fastmcp import FastMCP
from mcp.shared.context import RequestContext
from mcp.types import Content

mcp = FastMCP("b", host="h", port=1, instructions="Be kind.")
other = dict(host="h")
context: RequestContext[str, dict, None]
print(mcp.settings.host, f"{mcp.settings.port}")
mcp.run()
"""
    outcome, files = run(tmp_path, {"server.py": source})
    for part in (
        "from mcp.server.context import ServerRequestContext\n",
        "context: ServerRequestContext[dict, None]\n",
        'mcp = Server("b", instructions="Be kind.", expose_internal_errors="message")\nother = dict(host="h")\n',
        "from mcp.types import ContentBlock\n",
        'print("h", f"{mcp.settings.port}")\n',
    ):
        assert part in files["server.py"]
    assert [5, 5] == [removed.line for removed in outcome.removed]
    _, files = run(tmp_path, {"server.py": source.replace("mcp.run()", 'mcp.settings.host="i"')})
    assert 'print(mcp.settings.host, f"{mcp.settings.port}")\nmcp.settings.host="i"\n' in files["server.py"]


def test_only_the_options_go(tmp_path: Path) -> None:
    """A server with nothing else keeps its parentheses, and a call that has the option keeps it."""
    head = "from mcpcore import Server\n\n"
    assert f"{head}mcp = Server()\n" == migrated(tmp_path / "a", f"{head}mcp = Server(port=1)\n")
    twice = f'{head}mcp = Server("x")\nmcp.run("sse", port=2)\nmcp.run("sse")\n'
    assert twice.replace('"sse")', '"sse", port=1)') == migrated(tmp_path / "b", twice.replace('"x"', '"x", port=1'))
    several_lines = f'{head}mcp = Server("x")\nmcp.run(\n    "sse",\n    port=2, host="h"\n)\n'
    last = f'{head}mcp = Server("x")\nmcp.run(\n    "sse",\n    mount_path="/x"  # here\n)\n'
    moved = migrated(tmp_path / "last", last.replace('"x")', '"x", port=1)'))
    assert last.replace('"/x"  # here', '"/x",  # here\n    port=1,') == moved
    for number, comma in enumerate((",", ",  # here", "")):
        before = several_lines.replace('"x"', '"x", port=1, host="h"').replace(', host="h"\n', f"{comma}\n")
        after = several_lines.replace(', host="h"\n', f'{comma or ","}\n    host="h",\n')
        assert after == migrated(tmp_path / f"c{number}", before)
    changed = f'{head}port = 1\nmcp = Server("x", port=port)\nport = 2\nmcp.run("sse")\n'
    outcome, files = run(tmp_path / "d", {"server.py": changed})
    assert changed.replace(", port=port", "") == files["server.py"]
    assert ["port=port of the server, which SDK 2.0 does not have, is removed"] == [
        line.pattern for line in outcome.left
    ]


@pytest.mark.parametrize("head", ["", "port = 1\n"])
def test_options_that_name_what_the_run_does_not_know_go_with_a_line(head: str, tmp_path: Path) -> None:
    """The name is one of the function that makes the server, and what is passed for it may change from call to call."""
    made = f"{head}def make(port: int):\n    mcp = FastMCP('x', port=port, host='h')\n    return mcp\n"
    source = (
        f"from mcp.server.fastmcp import FastMCP\n{made}def main():\n    mcp = make(len('x'))\n    mcp.run('sse')\n"
    )
    outcome, files = run(tmp_path, {"server.py": source})
    assert "mcp.run('sse', host='h')\n" in files["server.py"]
    assert () == outcome.removed
    assert [
        "server.py:3: port=port of the server, which SDK 2.0 does not have, is removed: give it to mcp.run() at server.py:7"
    ] == [line.replace(":4:", ":3:").replace("py:8", "py:7") for line in report(outcome)]
    assert outcome.left[0].stops
    tool = "\n\nserver = FastMCP('y')\n\n\n@server.tool()\ndef f(path: str) -> str:\n    raise ValueError('The path is too long')\n"
    long = source.replace("\ndef make", "\nimport os\n\n\ndef make").replace("FastMCP\n", f"FastMCP\n{tool}", 1)
    outcome, files = run(tmp_path / "long", {"server.py": long})
    at = 1 + files["server.py"].splitlines().index("    mcp = Server('x', expose_internal_errors=\"message\")")
    assert {at} == {line.line for line in outcome.left if line.stops}


MADE = """from mcp.server.fastmcp import FastMCP


def make() -> FastMCP:
    server = FastMCP("x", host="0.0.0.0", port=9, stateless_http=True, sse_path="/s")
    return server
"""
RUNS = """from made import make

mcp = make()
app = mcp.streamable_http_app()


def main(kind: str) -> None:
    if kind == "stdio":
        mcp.run()
    elif kind == "sse":
        make().run(transport="sse")
    else:
        mcp.run(transport="streamable-http", port=1)
"""


def test_options_go_to_each_call_that_runs_the_server(tmp_path: Path) -> None:
    """Also in another file, and to an application. A transport that is known later takes what all of them take."""
    outcome, files = run(tmp_path, {"made.py": MADE, "main.py": RUNS})
    assert 'FastMCP("x", expose_internal_errors="message")'.replace("FastMCP", "Server") in files["made.py"]
    for part in (
        'app = mcp.streamable_http_app(host="0.0.0.0", stateless_http=True)\n',
        "        mcp.run()\n",
        '        make().run(transport="sse", host="0.0.0.0", port=9, sse_path="/s")\n',
        '        mcp.run(transport="streamable-http", port=1, host="0.0.0.0", stateless_http=True)\n',
    ):
        assert part in files["main.py"]
    assert ((), []) == (outcome.removed, report(outcome))
    _, files = run(tmp_path / "shop", {"made.py": MADE, "main.py": RUNS.replace("mcp", "shop")})
    assert 'shop.run(transport="streamable-http", port=1, host="0.0.0.0", stateless_http=True)' in files["main.py"]
    later = RUNS.replace('transport="sse"', "transport=kind")
    outcome, files = run(tmp_path / "later", {"made.py": MADE, "main.py": later})
    assert 'make().run(transport=kind, host="0.0.0.0", port=9)' in files["main.py"]
    made = MADE.replace("def make", "from settings import port\n\n\ndef make").replace("port=9", "port=port")
    shared = f"from settings import port\n{RUNS}"
    _, files = run(tmp_path / "shared", {"made.py": made, "main.py": shared, "settings.py": "port = 9\n"})
    assert 'make().run(transport="sse", host="0.0.0.0", port=port, sse_path="/s")' in files["main.py"]
    lost = [line for line in report(outcome) if "give it to make().run() at main.py:11" in line]
    assert ["stateless_http=True", "sse_path='/s'"] == [line.split()[1] for line in lost]


PASSED = """from mcp.server.fastmcp import FastMCP


def make(settings, *, port: int, path="/s", level=None, **more):
    path = more.get("path", path)
    if settings.stdio:
        mcp = FastMCP("x")
    else:
        mcp = FastMCP("x", host=settings.server.host, port=int(port), sse_path=path, json_response=level)
    return mcp
"""
TAKES = """from made import make


def main(args):
    config = args.config
    mcp = make(config, port=args.port)
    mcp.run(transport="sse")
    app = make(config, port=args.port).streamable_http_app()
"""


def test_options_that_a_function_takes_go_to_the_call_as_it_passes_them(tmp_path: Path) -> None:
    """A name with another value there, a parameter that gets one, and what is not a plain value have a line."""
    outcome, files = run(tmp_path, {"made.py": PASSED, "main.py": TAKES})
    assert '    mcp.run(transport="sse", host=config.server.host, port=int(args.port))\n' in files["main.py"]
    assert ".streamable_http_app(host=config.server.host, json_response=None)\n" in files["main.py"]
    (line,) = report(outcome)
    assert (
        "made.py:9: sse_path=path of the server, which SDK 2.0 does not have, is removed: give it to mcp.run()" in line
    )
    # Which of two branches ran is not known.
    takes = TAKES.replace("    mcp = make", "    mcp = make(config, port=1)\n    if args.dev:\n        mcp = make")
    outcome, files = run(tmp_path / "branches", {"made.py": PASSED, "main.py": takes})
    assert '    mcp.run(transport="sse", host=config.server.host)\n' in files["main.py"]
    assert "made.py:9: port=int(port) of the server" in " ".join(report(outcome))
    for changed in ("config = None\n    mcp.run(", "mcp.run("):
        call = "config, **args" if changed == "mcp.run(" else "config, port=1"
        takes = TAKES.replace("mcp.run(", changed).replace("config, port=args.port", call)
        outcome, files = run(tmp_path / call, {"made.py": PASSED, "main.py": takes})
        assert 'mcp.run(transport="sse")' in files["main.py"].replace(", port=int(1)", "")
        assert any("host=settings.server.host of the server" in line for line in report(outcome))


SETTINGS = """import argparse

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
mcp._mcp_server.version = "3"


class App:
    def __init__(self) -> None:
        self.server = FastMCP("y")

    async def run(self, host: str) -> None:
        self.server.settings.host = host
        await self.server.run_sse_async()


def main(args: argparse.Namespace) -> None:
    if args.transport == "sse":
        mcp.settings.host = args.host
        mcp.settings.log_level = "INFO"
        mcp.settings.port = int(args.port)
        print(mcp.settings.sse_path)
        mcp.run("sse")
    if args.port:
        mcp.settings.port = args.port
    mcp.settings.host = args.host or mcp.settings.host
    path = mcp.settings.mount_path
    mcp.settings.json_response = True; print(path)
    mcp.run()
"""


@pytest.mark.parametrize(
    "lines",
    [
        "mcp.settings.port = 1\nmcp.settings.port = 2\nmcp.run('sse')\n",
        "mcp.settings.log_level = 'INFO'\nport = 1\nmcp.settings.port = port\nport += 1\nmcp.run('sse')\n",
        "mcp.settings.port = 1\nawait mcp.run_stdio_async()\n",
    ],
)
def test_settings_that_may_mean_something_else_stay(lines: str, tmp_path: Path) -> None:
    """The last of two counts, a name has another value later, and stdio has no address."""
    indented = "".join(f"    {line}\n" for line in lines.splitlines())
    before = f"from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\nasync def main():\n{indented}"
    outcome, files = run(tmp_path, {"server.py": before})
    assert indented in files["server.py"]
    assert any("settings.port" in str(left) for left in outcome.left)
    test = "from server import mcp\n\n\ndef test_x():\n    assert mcp.settings.port == 1\n"
    outcome, _ = run(tmp_path, {"test_server.py": test})
    assert report(outcome)[-1].endswith(": look at the port= that the call which runs the server gets")


def test_settings_go_to_the_call_that_runs_the_server(tmp_path: Path) -> None:
    """Version 2 has no field for them: it would refuse the assignment. Conditional ones and reads have a line."""
    outcome, files = run(tmp_path, {"server.py": SETTINGS})
    text = files["server.py"]
    for part in (
        'mcp._lowlevel_server.version = "3"',
        "    async def run(self, host: str) -> None:\n        await self.server.run_sse_async(host=host)\n",
        """        mcp.settings.log_level = "INFO"
        print(mcp.settings.sse_path)
        mcp.run("sse", host=args.host, port=int(args.port))
""",
    ):
        assert part in text
    checked = "settings.host is set, but version 1 went on to refuse a Host header that is not local"
    lines = report(outcome)
    assert [14, 19, 24] == [place.line for place in outcome.left if checked == place.pattern]
    local = SETTINGS.replace("args.host or mcp.settings.host", "args.host").replace("args.host", "'::1'")
    for name, other in (("local", local), ("open", SETTINGS.replace('("x")', '("x", host="0.0.0.0")'))):
        left = run(tmp_path / name, {"server.py": other})[0].left
        assert [14] == [place.line for place in left if checked == place.pattern]
    assert [
        (
            "server.py:20: settings.sse_path of the server, which SDK 2.0 does not have: "
            "give it where the server is run, as in run(transport=..., sse_path=...)"
        ),
        (
            "server.py:23: settings.port of the server, which SDK 2.0 does not have: "
            "give it where the server is run, as in run(transport=..., port=...)"
        ),
        (
            "server.py:24: settings.host of the server, which SDK 2.0 does not have: "
            "give it where the server is run, as in run(transport=..., host=...)"
        ),
        (
            "server.py:25: settings.mount_path of the server, which SDK 2.0 does not have: "
            "give it where the server is run, as in run(transport=..., mount_path=...)"
        ),
        (
            "server.py:26: settings.json_response of the server, which SDK 2.0 does not have: "
            "give it where the server is run, as in run(transport=..., json_response=...)"
        ),
    ] == [line for line in lines if checked not in line]
    exec(compile(text, "server.py", "exec"), {"__name__": "server"})


def test_settings_of_an_application_go_to_the_call_that_makes_it(tmp_path: Path) -> None:
    """The line names the methods by which the project serves, and `run` where it has none."""
    server = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    use = "from server import mcp\n\n\ndef serve():\n    mcp.settings.transport_security.allowed_hosts = []\n"
    for number, (end, ways) in enumerate({
        "    return mcp.streamable_http_app()\n": "streamable_http_app(transport_security=...)",
        "    return mcp.sse_app() or mcp.run()\n": "sse_app(transport_security=...)",
        "    mcp.run()\n": "run(transport=..., transport_security=...)",
        "    return mcp.sse_app() or mcp.run('sse')\n": (
            "run(transport=..., transport_security=...) and sse_app(transport_security=...)"
        ),
        "    mcp.settings.port = 1\n    return mcp.sse_app()\n": "sse_app(transport_security=...)",
    }.items()):  # fmt: skip
        outcome, _ = run(tmp_path / str(number), {"server.py": server, "use.py": use + end})
        assert report(outcome)[0].endswith(f", as in {ways}")
    sets = "def build():\n    mcp.settings.stateless_http = True\n    return Mount('/', mcp.streamable_http_app())\n"
    text = migrated(tmp_path / "app", server + sets)
    assert "def build():\n    return Mount('/', mcp.streamable_http_app(stateless_http=True))\n" in text
    # Another call would lose it, an application has no port, and other options may hold it.
    for more, other in (
        ("mcp.run('streamable-http')\n", sets),
        ("", sets.replace("stateless_http = True", "port = 1")),
        ("", sets.replace("http_app()", "http_app(**OPTIONS)")),
    ):
        assert other in migrated(tmp_path / other[20:40], server + other + more)
    made = "from mcp.server.fastmcp import FastMCP\n\n\ndef create():\n    return FastMCP('x', port=1)\n\n\n"
    last = "mcp.settings.port = 2\nmcp.run('sse', port=1)\n"
    assert last in migrated(tmp_path / "made", f"{made}mcp = create()\n{last.replace(', port=1', '')}")


ON_TYPES = """import mcp
from mcp import types
from mcp.server import MCPServer
from mcp.types import TextContent, Tool

server = MCPServer("x")


def make(text: TextContent, run: object, other) -> Tool:
    tool = Tool(name="x", inputSchema={})
    setattr(tool, "handler", run)
    text.extra = 1
    prompt = types.Prompt(name="x")
    prompt.run = mcp.Tool(name="y", inputSchema={})
    tool.description = tool._run = setattr(tool, "inputSchema", {})
    Tool.kind = other.handler = setattr(tool, text.text, 1)
    several = Tool(name="x", inputSchema={})
    several = other(several)
    several.handler = server.handler = 1
    return tool
"""


def test_attributes_that_types_of_the_protocol_refuse_have_a_line(tmp_path: Path) -> None:
    """Version 1 took any. Fields, private attributes, and those of classes and of other objects are right."""
    outcome, files = run(tmp_path, {"server.py": ON_TYPES})
    typed = run(tmp_path / "typed", {"server.py": f"{ON_TYPES}\nimport mcp.server.fastmcp", "setup.cfg": "[mypy]"})[1]
    assert [3, 0] == [text["server.py"].count("inputSchema=") for text in (files, typed)]
    end = ", which is no field: SDK 2.0 refuses it; keep it elsewhere, such as in a dict by the name of the object"
    lines = [(11, "handler", "Tool"), (12, "extra", "TextContent"), (14, "run", "Prompt")]
    assert {f"server.py:{line}: the attribute {name} of a {kind}{end}" for line, name, kind in lines} == {
        line for line in report(outcome) if "the attribute" in line
    }
    assert all(line.stops for line in outcome.left if "the attribute" in line.pattern)
    models = [part for part in vars(types).values() if isinstance(part, type) and issubclass(part, BaseModel)]
    assert set() == {field for model in models for field in model.model_fields} - FIELDS
    assert ["SubscriptionFilter"] == [part.__name__ for part in models if part.model_config.get("extra") == "allow"]


def test_reads_of_the_function_of_a_tool_follow(tmp_path: Path) -> None:
    """FastMCP 3.0 leaves the function as it is. Other objects keep their `fn`."""
    server = """from fastmcp import FastMCP

mcp = FastMCP("a")


@mcp.tool()
def f(x: str) -> str:
    return x
"""
    test = """import server
from other import holder
from server import f


def test_f(module):
    assert f.fn("a") == server.f.fn(x="a") == module.f.fn("a") == holder.fn("a") == module.g.fn("a")
"""
    _, files = run(tmp_path, {"server.py": server, "test_server.py": test})
    assert test.replace("f.fn(", "f(") == files["test_server.py"]


SUBCLASS = """import sqlite3

from mcp.server.fastmcp import FastMCP
from mcp.shared.exceptions import McpError
from mcp.types import ErrorData


class Guarded(FastMCP):
    def __init__(self, name: str) -> None:
        super().__init__(name, instructions="x")
        self.base = sqlite3.connect("a.db")
        with sqlite3.connect("b.db") as base:
            base.execute("select 1")

    async def call_tool(self, name, arguments):
        if self.get_context().client_id is None:
            raise McpError(error=ErrorData(code=1, message="No."))
        return await super().call_tool(name, arguments)


class Plain(FastMCP):
    pass


guarded, plain = Guarded("a"), Plain("b")


def token(ctx):
    meta = ctx.request_context.meta
    return meta.progressToken if meta else None
"""


def test_a_subclass_of_the_server_follows(tmp_path: Path) -> None:
    """Its servers send the texts of exceptions as before, and what version 2 calls in another way has a line."""
    outcome, files = run(tmp_path, {"a.py": SUBCLASS})
    text = files["a.py"]
    assert 'super().__init__(name, instructions="x", expose_internal_errors="message")' in text
    assert 'Guarded("a"), Plain("b", expose_internal_errors="message")' in text
    assert 'MCPError(code=1, message="No.")' in text
    lines = [(place.line, place.pattern) for place in outcome.left]
    assert [
        (10, "a connection that calls share"), (14, "call_tool() of the server"), (15, "get_context() of the server"),
        (28, "the meta of a request, a dict in SDK 2.0"),
    ] == sorted(lines)  # fmt: skip


APPS = """from mcp.server.fastmcp import FastMCP


def guard(mcp: FastMCP, other) -> None:
    made = mcp.streamable_http_app

    def wrapped():
        return made()

    def both(**options):
        return made(**options)

    mcp.streamable_http_app = wrapped
    mcp.streamable_http_app = both
    other.sse_app = wrapped


class Own(FastMCP):
    def sse_app(self, mount_path=None):
        return super().sse_app(mount_path)

    def streamable_http_app(self, **options):
        return super().streamable_http_app(**options)
"""


def test_options_of_several_servers_do_not_go_to_one_call(tmp_path: Path) -> None:
    """The call would get an option twice, or an address that only one of them has. Each option has a line."""
    branches = "from mcp.server.fastmcp import FastMCP\nif __debug__:\n    mcp = FastMCP('x', host='a')\nelse:\n"
    branches += "    mcp = FastMCP('x', host='b', port=3)\nmcp.run('sse')\n"
    outcome, files = run(tmp_path, {"server.py": branches})
    assert "\nmcp.run('sse')\n" in files["server.py"]
    assert [3, 5, 5] == sorted(line.line for line in outcome.left)


def test_a_replaced_application_has_a_line_unless_it_takes_options(tmp_path: Path) -> None:
    """Version 2 gives it the options of run(), so that the server would not start."""
    outcome, _ = run(tmp_path, {"server.py": APPS})
    decide = "take **options and hand them on, since run() passes its options in version 2"
    assert [
        (13, "streamable_http_app() of the server, which is replaced", decide, FAILS),
        (19, "sse_app() of the server, which is replaced", decide, FAILS),
    ] == [(place.line, place.pattern, place.decide, place.stops) for place in outcome.left]


def test_a_file_for_both_versions_stays(tmp_path: Path) -> None:
    """It has a line. So has a page that a client requests."""
    both = "try:\n    from mcp.server.mcpserver import MCPServer\nexcept ImportError:\n    from mcp.server.fastmcp import FastMCP as MCPServer\n"
    both += "\nmcp = MCPServer('x')\n\n\n@mcp.tool()\ndef f(path: str) -> str:\n    raise ValueError('The path is too long')\n"
    client = "from mcp import ClientSession\n\n\nasync def f(session: ClientSession, at: str) -> None:\n    await session.list_tools(cursor=at)\n"
    outcome, files = run(tmp_path, {"server.py": both, "client.py": client})
    assert {"server.py": both, "client.py": client} == files
    assert [
        ("cursor= of list_tools(), which SDK 2.0 does not have", False),
        ("the server of either version", False),
        ("the server of either version", False),
    ] == [(line.pattern, line.stops) for line in outcome.left]


def test_options_of_a_subclass_follow(tmp_path: Path) -> None:
    """It hands them on to the server. One that it takes itself stays."""
    source = """from mcp.server.fastmcp import FastMCP


class Mine(FastMCP):
    def __init__(self, *args, port: int = 1, **kwargs) -> None:
        super().__init__(*args, **kwargs)


mcp = Mine("x", host="h", port=2)
mcp.run("sse")
"""
    _, files = run(tmp_path, {"server.py": source})
    assert 'mcp = Mine("x", port=2)\nmcp.run("sse", host="h")\n' in files["server.py"]
    outcome, files = run(tmp_path, {"server.py": source.replace("**kwargs)\n", "port=port, **kwargs)\n")})
    assert 'super().__init__(*args, **kwargs, expose_internal_errors="message")' in files["server.py"]
    assert "port=port of the server, which SDK 2.0 does not have, is removed" in {
        line.pattern for line in outcome.removed
    }


def test_an_unpacked_answer_of_the_server_follows(tmp_path: Path) -> None:
    """Version 1 returned a tuple of the content and the structured content."""
    head = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n\n\nasync def test_f():\n"
    before = """    content, data = await mcp.call_tool("f", {"x": 1})
    _, data = await mcp.call_tool(
        "f",
        {},
    )
    content, _data = asyncio.run(mcp.call_tool("f", {}))
    assert content and data
"""
    after = """    result = await mcp.call_tool("f", {"x": 1})
    content, data = result.content, result.structured_content
    data = (await mcp.call_tool(
        "f",
        {},
    )).structured_content
    content = (asyncio.run(mcp.call_tool("f", {}))).content
    assert content and data
"""
    used = """
    _content, _data = await mcp.call_tool("f", {})
    assert _content and _data
    if data: content, data = await mcp.call_tool("f", {})
"""
    made = """
    result = await mcp.call_tool("f", {})
    _content, _data = result.content, result.structured_content
    assert _content and _data
    if data: content, data = await mcp.call_tool("f", {})
"""
    other = "import mcp\n\n\nasync def f(registry):\n    text, data = await registry.call_tool('f', {})\n    return text, data\n"
    _, files = run(
        tmp_path,
        {
            "tests/test_server.py": head + before,
            "tests/test_used.py": head + used,
            "client.py": other,
        },
    )
    assert files["tests/test_server.py"].endswith(after)
    assert files["tests/test_used.py"].endswith(made)
    assert other == files["client.py"]
    again, _ = run(tmp_path, {})
    assert () == again.files


def test_a_name_of_the_types_follows_as_an_attribute(tmp_path: Path) -> None:
    """One that another package has is imported from there, and a removed one has a line."""
    source = "import mcp.types as types\n\n\ndef f(x: types.Content, y: types.AnyUrl, z: types.AnyUrl): ...\n"
    outcome, files = run(tmp_path, {"server.py": source, "old.py": "from mcp import types\n\nx: types.Cursor\n"})
    after = source.replace("Content", "ContentBlock").replace("types.AnyUrl", "AnyUrl")
    assert after.replace("types\n", "types\nfrom pydantic import AnyUrl\n", 1) == files["server.py"]
    assert ["old.py:3: mcp.types.Cursor: SDK 2.0 has plain strings instead"] == report(outcome)


CONTEXTS = """from typing import Any

from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("x")
Tools = Context[Any, Any, Any]


def listed(ctx: Tools | None, other: Any):
    return ctx.fastmcp.list_tools(), other.fastmcp


@mcp.tool()
async def f(ctx: Context) -> str:
    await ctx.session.elicit_form("Go on?", requestedSchema={})
    return str(ctx.fastmcp)
"""


def test_attributes_and_keywords_of_the_context_of_the_sdk_follow(tmp_path: Path) -> None:
    """Its server has another name, also through an alias, and a form has its schema in snake_case."""
    after = migrated(tmp_path, CONTEXTS)
    assert "return ctx.mcp_server.list_tools(), other.fastmcp\n" in after
    assert 'elicit_form("Go on?", requested_schema={})\n    return str(ctx.mcp_server)\n' in after


def test_what_runs_a_server_takes_no_path_any_more(tmp_path: Path) -> None:
    """Each call that needs a removed option is named, and so is a read of a setting of a server that a function makes."""
    test = "from made import make\n\ndef test_make(session):\n    mcp = make()\n    assert mcp.settings.port == 9\n"
    test += "    assert session.get_server_capabilities() is not None\n"
    runs = """from made import make

def main(kind: str) -> None:
    if kind:
        make().run(transport=kind)
    mcp = make()
    mcp.run(transport=kind)
    mcp.sse_app(mount_path="/x")
"""
    low = """from mcp.server import Server

server = Server("x")


async def main(streams) -> None:
    await server.run(*streams, {}, stateless=True)
"""
    outcome, files = run(tmp_path, {"made.py": MADE, "main.py": runs, "low.py": low, "test_made.py": test})
    assert "assert session.server_capabilities is not None" in files["test_made.py"]
    own = "import mcp\n\n\nclass Wrapper:\n    def get_server_capabilities(self): ...\n"
    _, files = run(tmp_path / "own", {"made.py": MADE, "own.py": own, "test_made.py": test})
    assert "assert session.get_server_capabilities() is not None" in files["test_made.py"]
    lines = report(outcome)
    for line in (
        "give it to make().run() at main.py:5 and to mcp.run() at main.py:7",
        "test_made.py:5: settings.port of the server, which SDK 2.0 does not have: look at the port=",
        "main.py:8: mount_path= of sse_app(), which SDK 2.0 does not have: leave it out, since",
        "low.py:7: stateless= of run(), which SDK 2.0 does not have: leave it out, and",
    ):
        assert any(line in part for part in lines), (line, lines)


def test_what_tests_read_of_dumps_keeps_its_names(tmp_path: Path) -> None:
    """The fields have other names in version 2, and the JSON has the old ones."""
    source = """from mcp.server.fastmcp import FastMCP

async def test_list(mcp: FastMCP):
    (tool,) = await mcp.list_tools()
    assert tool.annotations.model_dump(exclude_none=True) == {"readOnlyHint": True}
    assert tool.model_dump()["inputSchema"] == tool.model_dump(by_alias=True)["inputSchema"]
    assert tool.model_dump()["name"] == "f"
    assert "outputSchema" in tool.model_dump()
    assert f"{tool.model_dump(exclude={'inputSchema', 'name'})['outputSchema']}" == "None"
"""
    after = migrated(tmp_path, source, name="test_it.py")
    for part in (
        'model_dump(exclude_none=True, by_alias=True) == {"readOnlyHint": True}\n',
        'tool.model_dump(by_alias=True)["inputSchema"] == tool.model_dump(by_alias=True)["inputSchema"]\n',
        'tool.model_dump()["name"]',
        '"outputSchema" in tool.model_dump(by_alias=True)',
        "tool.model_dump(exclude={'input_schema', 'name'}, by_alias=True)['outputSchema']",
    ):
        assert part in after


DUMPS = """import asyncio
from mcp import ClientSession, types
from mcp.server.fastmcp import FastMCP
from pydantic import BaseModel

mcp = FastMCP("x")

class Own(BaseModel):
    annotations: types.ToolAnnotations

def hints(tool):
    return tool.annotations.model_dump(exclude_none=True)

async def snapshot():
    tools = await mcp.list_tools()
    return [hints(tool) for tool in sorted(tools, key=str)]

async def save(session: ClientSession):
    for tool in (await session.list_tools()).tools:
        print(tool.model_dump_json())
    kept = types.TextContent(type="text", text="x").model_dump()

def certain(result: types.CallToolResult, first=asyncio.run(mcp.list_tools())[0]):
    return result.model_dump(mode="json")

def other(result: types.Tool, own: Own, unknown, **options):
    result.model_dump(**options), result.model_dump()["name"], result.model_dump(by_alias=False)
    for own in own.tools:
        own.model_dump(), unknown.model_dump(), unknown.tools[0].model_dump(), other().model_dump()
    for result in result.children:
        result.model_dump()
    tools = mcp.list_tools() if options else []
    return [tools.model_dump() for tools, _ in tools]
"""


def test_dumps_of_objects_of_the_protocol_keep_their_names(tmp_path: Path) -> None:
    """Version 2 would write the names of Python. Whatever may be another object stays, and so does what asks for neither."""
    after = migrated(tmp_path, DUMPS, name="export.py")
    expected = DUMPS.replace("exclude_none=True", "exclude_none=True, by_alias=True")
    expected = expected.replace("tool.model_dump_json()", "tool.model_dump_json(by_alias=True)")
    expected = expected.replace('text="x").model_dump()', 'text="x").model_dump(by_alias=True)')
    expected = expected.replace('mode="json"', 'mode="json", by_alias=True')
    assert expected.partition("class Own")[2] == after.partition("class Own")[2]
    plain = "def f(own):\n    return own.model_dump()\n"
    assert plain == migrated(tmp_path / "plain", plain)


ERRORS = """from mcp.shared.exceptions import McpError
from mcp.types import ErrorData


def find(uri):
    if not uri:
        raise McpError(
            ErrorData(
                code=-32002,
                message="Not found",  # as the protocol says
                data={
                    "uri": uri,
                },
            ),
        )
    if uri == "a":
        raise McpError(ErrorData(
            code=-32603,
            message="No.",
        ))
    raise McpError(
        error=ErrorData(
            code=-32603, message='''No
                way'''
        )
    )
"""


def test_arguments_of_an_error_take_its_lines(tmp_path: Path) -> None:
    """They leave no empty lines, and no line of a text moves."""
    _, files = run(tmp_path, {"errors.py": ERRORS})
    assert """        raise MCPError(
            code=-32002,
            message="Not found",  # as the protocol says
            data={
                "uri": uri,
            },
        )
    if uri == "a":
        raise MCPError(
            code=-32603,
            message="No.",
        )
    raise MCPError(
        \n            code=-32603, message='''No
                way'''
""" in files["errors.py"]
