"""Projects of several files: decorators and callers elsewhere, names of version 1, the middleware, and requirements."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp import Client
from mcpcore_lint.migrate.model import FAILS, STOPS
from mcpcore_lint.runner.migrate import migrate

from mcpcore.cli.root import cli
from tests.migrate.migrating import executed, migrated, report, run
from tests.tables import in_one_test

MIDDLE = 'ContractMiddleware(expose_internal_errors="message")'
MIDDLEWARE = {
    'FastMCP("x")': f'FastMCP("x", middleware=[{MIDDLE}])',
    'FastMCP("x", middleware=[Other()])': f'FastMCP("x", middleware=[{MIDDLE}, Other()])',
    'FastMCP("x", middleware=[\n    Other(),\n])': f'FastMCP("x", middleware=[\n    {MIDDLE},\n    Other(),\n])',
    'FastMCP("x", middleware=[  # a\n    # b\n    Other(),\n])': (
        f'FastMCP("x", middleware=[  # a\n    {MIDDLE},\n    # b\n    Other(),\n])'
    ),
    'FastMCP("x", middleware=others())': f'FastMCP("x", middleware=others())\nmcp.middleware.insert(0, {MIDDLE})',
    # In each of several branches.
    'None\nif Other:\n    mcp = FastMCP("x")\nelse:\n    mcp = FastMCP("y", mask_error_details=True)': (
        f'None\nif Other:\n    mcp = FastMCP("x", middleware=[{MIDDLE}])\nelse:\n'
        '    mcp = FastMCP("y", mask_error_details=True, middleware=[ContractMiddleware()])'
    ),
    'None\noptions = {"mask_error_details": True}\nmcp = FastMCP("x", **options)': (
        'None\noptions = {"mask_error_details": True}\nmcp = FastMCP("x", **options)\n'
        "mcp.middleware.insert(0, ContractMiddleware())"
    ),
    # The middleware of the outer server covers a mounted one.
    'FastMCP("x")\ninner = FastMCP("y")\nmcp.mount(inner)': (
        f'FastMCP("x", middleware=[{MIDDLE}])\ninner = FastMCP("y")\nmcp.mount(inner)'
    ),
}


@in_one_test("construction", MIDDLEWARE)
def test_a_fastmcp_server_gets_the_middleware(construction: str, tmp_path: Path) -> None:
    """It is the first one, and each way to the server adds it once."""
    source = f"from fastmcp import FastMCP\nfrom other import Other\n\nmcp = {construction}\n"
    assert f"mcp = {MIDDLEWARE[construction]}\n" in migrated(tmp_path / str(hash(construction)), source)


def test_private_attributes_that_fastmcp_dropped_have_a_line(tmp_path: Path) -> None:
    """A server of the SDK has the attribute, and so may a class of the project."""
    server = "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    test = "from server import mcp\n\n\ndef test_x():\n    assert mcp._tool_manager._tools\n    mcp._resource_manager\n"
    own = "from server import mcp\n\n\nclass Own:\n    _resource_manager = None\n"
    outcome, _ = run(tmp_path / "a", {"server.py": server, "own.py": own, "test_server.py": test})
    line = "_tool_manager of the server, which FastMCP 3.0 does not have: await get_tool(name) or list_tools() of the server"
    assert [f"test_server.py:5: {line}"] == report(outcome)
    sdk = server.replace("fastmcp import", "mcp.server.fastmcp import")
    assert [] == report(run(tmp_path / "b", {"server.py": sdk, "test_server.py": f"import fastmcp\n{test}"})[0])


def test_doubles_of_fastmcp_have_a_line(tmp_path: Path) -> None:
    """Unless they know of a middleware, or are mocks, which take everything."""
    test = """class Fake:
    def __init__(self, name):
        self.name = name


class Good(Fake):
    middleware = []


def test_f(monkeypatch, mocker):
    monkeypatch.setattr("server.FastMCP", Fake)
    monkeypatch.setattr("server.FastMCP", Good)
    mocker.patch("server.FastMCP", mocker.Mock())
"""
    outcome, _ = run(tmp_path, {"server.py": "from fastmcp import FastMCP\n\nFastMCP('x')\n", "test_server.py": test})
    assert [
        ("test_server.py:11: Fake replaces FastMCP: let it take middleware=, and have a list of that name", False)
    ] == list(zip(report(outcome), (left.stops for left in outcome.left), strict=True))


def test_a_subclass_of_fastmcp_is_left(tmp_path: Path) -> None:
    """Its objects are made elsewhere, so the report says what they need."""
    source = "from fastmcp import FastMCP\n\n\nclass Shop(FastMCP):\n    pass\n\n\nclass Other(dict):\n    pass\n"
    outcome, files = run(tmp_path, {"server.py": source})
    assert source == files["server.py"]
    line = 'a subclass of FastMCP: add ContractMiddleware(expose_internal_errors="message") as the first middleware of its objects'
    assert [f"server.py:4: {line}"] == report(outcome)


def test_a_server_whose_options_are_not_known_gets_the_middleware_in_a_line_of_its_own(tmp_path: Path) -> None:
    """So does a subclass, and a list that is made elsewhere is kept. A function that is called FastMCP makes no server."""
    source = (
        "from fastmcp import FastMCP\nfrom other import OPTIONS, WARE, make\n\n"
        'mcp = FastMCP("x", **OPTIONS)  # the first\nother = make.FastMCP("x")\n'
        'third = FastMCP("x", middleware=WARE)\n'
        "\n\nclass Shop(FastMCP):\n    def __init__(self, **options):\n        self.orders = {}\n"
        "        super().__init__(\n            **options\n        )\n        self.tools = []\n"
    )
    other = 'from fastmcp import FastMCP\nfrom other import OPTIONS, make\n\nmake.serve(FastMCP("x", **OPTIONS))\n'
    outcome, files = run(tmp_path, {"server.py": source, "other.py": other})
    expected = source.replace(
        "# the first\n", '# the first\nmcp.middleware.insert(0, ContractMiddleware(expose_internal_errors="message"))\n'
    )
    expected = expected.replace("middleware=WARE)\n", f"middleware=WARE)\nthird.middleware.insert(0, {MIDDLE})\n")
    expected = expected.replace(
        "        )\n",
        '        )\n        self.middleware.insert(0, ContractMiddleware(expose_internal_errors="message"))\n',
    )
    expected = expected.replace("from oth", "from mcpcore.integrations.fastmcp import ContractMiddleware\nfrom oth", 1)
    assert expected == files["server.py"]
    left = (
        'the middleware of the server: add ContractMiddleware(expose_internal_errors="message") as its first middleware'
    )
    assert (other, [f"other.py:4: {left}"]) == (files["other.py"], report(outcome))


@pytest.mark.parametrize(
    ("name", "arguments", "is_left"),
    [
        ("RetryMiddleware", "", True),
        ("ErrorHandlingMiddleware", "", True),
        ("ErrorHandlingMiddleware", "transform_errors=True", True),
        ("ErrorHandlingMiddleware", "transform_errors=False", False),
    ],
)
def test_a_server_whose_middleware_undoes_contracts_gets_none(
    name: str, arguments: str, is_left: bool, tmp_path: Path
) -> None:
    """With both, the server would answer every message with an error."""
    source = (
        f"from fastmcp import FastMCP\nfrom fastmcp.server.middleware.error_handling import {name}\n\n"
        f'mcp = FastMCP("x")\nmcp.add_middleware({name}({arguments}))\n'
    )
    outcome, files = run(tmp_path, {"server.py": source})
    assert is_left == ("ContractMiddleware(expose" not in files["server.py"])
    assert is_left == any(f": {name} undoes contracts: " in line for line in report(outcome))


def test_results_that_fastmcp_renders_stay(tmp_path: Path) -> None:
    """A tool that returns an app stays a plain tool."""
    source = """from fastmcp import FastMCP
from prefab_ui.app import PrefabApp

mcp = FastMCP("x")


@mcp.tool
def f(x: int) -> PrefabApp:
    raise ValueError("x is too long")
"""
    outcome, files = run(tmp_path, {"server.py": source})
    assert "ctx.fail" not in files["server.py"]
    assert "only FastMCP renders" in report(outcome)[0]


def test_the_line_about_a_table_of_functions_names_them(tmp_path: Path) -> None:
    """The dispatcher has no branches to move, and each function of its table can have a contract."""
    source = """from mcp.server import Server
from mcp.types import CallToolResult


async def find(arguments) -> CallToolResult: ...
async def sell(arguments) -> CallToolResult: ...


TABLE = {"find_item": find, "sell_item": sell}


async def serve(context, params) -> CallToolResult:
    return await TABLE[params.name](params.arguments)


server = Server("x", on_call_tool=serve)
"""
    outcome, _ = run(tmp_path, {"server.py": source})
    assert [
        (
            "server.py:12 find_item, sell_item: serve() of a low-level server answers for all tools: make mcp = "
            "Server(...) of mcpcore, and call each function of its table, such as find() in server.py:5, from one such as "
            "find_item(...) below @mcp.tool(errors=[...]), which gives its failures codes and advice"
        )
    ] == [line.replace(f"{tmp_path}/", "") for line in report(outcome)]


def test_a_handler_of_the_low_level_server_is_left(tmp_path: Path) -> None:
    """If it returns a mapping, the code stays, and one line has the tools that the dispatcher serves."""
    source = """from mcp.server import Server

server = Server("x")


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> dict:
    if name == "find":
        return find(server.request_context, arguments["x"])
    if name == "sell":
        raise ValueError("x is too long")
    raise ValueError("x is unknown")


def find(context: object, x: str) -> list:
    raise KeyError("There is no x")
"""
    outcome, files = run(tmp_path, {"server.py": source})
    assert source == files["server.py"]
    assert [
        (
            "server.py:7 find, sell: call_tool() of a low-level server answers for all tools: make mcp = Server(...) of mcpcore, "
            "and move each branch into a function such as find(...) below @mcp.tool(errors=[...]), which gives its failures codes "
            "and advice; SDK 2.0 has neither @server.list_tools() nor @server.call_tool()"
        ),
        (
            "server.py:7: call_tool() keeps server on version 1 of the SDK: let it return a list or CallToolResult, and say so "
            "in its annotation, and run the command again"
        ),
    ] == report(outcome)


LOW_LEVEL = """from mcp.server import Server
from mcp.types import Resource, TextContent, Tool
from pydantic import AnyUrl

server = Server("x")


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name="find", inputSchema={"type": "object", "properties": {"n": {"type": "integer"}}})]


@server.call_tool()
async def call_tool(name: str, arguments: dict | None) -> list[TextContent]:
    if name != "find":
        raise ValueError(f"Unknown tool: {name}")
    return [TextContent(type="text", text=str(arguments))]


@server.list_resources()
async def list_resources(tag: str | None = None, limit: int = 1, *, sort: bool = False) -> list[Resource]:
    b = AnyUrl("memo://b")
    return [Resource(uri=AnyUrl("memo://a"), name="a"), Resource(uri=b, name="b"), Resource(uri=last(), name="c")]


def last() -> AnyUrl:
    return AnyUrl("memo://c")


@server.read_resource()
async def read_resource(uri: AnyUrl) -> str:
    return uri.scheme
"""


@pytest.mark.anyio
async def test_a_low_level_server_of_version_1_runs_on_version_2(tmp_path: Path) -> None:
    """Its handlers are unchanged, clients read the same texts, and a second run changes nothing."""
    outcome, files = run(tmp_path, {"server.py": LOW_LEVEL})
    assert "find: on_call_tool() of a low-level server answers for all tools" in report(outcome)[0]
    space = executed(files["server.py"])
    async with Client(space["server"]) as client:
        assert ["find"] == [tool.name for tool in (await client.list_tools()).tools]
        assert "{'x': 1}" == (await client.call_tool("find", {"x": 1})).content[0].text  # type: ignore[union-attr]
        failures = {"lose": {}, "find": {"n": "one"}}
        failed = [await client.call_tool(name, arguments) for name, arguments in failures.items()]
        said = ["Unknown tool: lose", "Input validation error: 'one' is not of type 'integer'"]
        assert [(True, text) for text in said] == [(result.is_error, result.content[0].text) for result in failed]  # type: ignore[union-attr]
        assert ["memo://a", "memo://b", "memo://c"] == [
            resource.uri for resource in (await client.list_resources()).resources
        ]
        assert "memo" == (await client.read_resource("memo://a")).contents[0].text  # type: ignore[union-attr]
    assert () == run(tmp_path, {})[0].files
    assert "await read_resource(params.uri)" in migrated(tmp_path / "b", LOW_LEVEL.replace("uri: AnyUrl", "uri: str"))


@pytest.mark.anyio
async def test_a_low_level_server_keeps_the_types_of_its_resources(tmp_path: Path) -> None:
    """Their contents may be texts or bytes, with a type or without; an address may be of any class of pydantic."""
    parts = "ReadResourceContents(uri.scheme, mime_type='text/x', meta={'a': 1}), ReadResourceContents(content=b'ab')"
    source = LOW_LEVEL.replace(") -> str:\n    return uri.scheme", f"):\n    return [{parts}]")
    source = source.replace("import AnyUrl", "import AnyUrl, FileUrl").replace(
        'AnyUrl("memo://a"', 'FileUrl("file:///a"'
    )
    helpers = "from mcp.server.lowlevel.helper_types import ReadResourceContents\n"
    stays = report(run(tmp_path / "a", {"server.py": source.replace("ReadResourceContents", "Part")})[0])
    assert any("let it return str or a list of ReadResourceContents, and say so" in line for line in stays)
    _, files = run(tmp_path / "b", {"server.py": helpers + source})
    space = executed(files["server.py"])
    async with Client(space["server"]) as client:
        assert "file:///a" == (await client.list_resources()).resources[0].uri
        text, blob = (await client.read_resource("memo://a")).contents
    assert ("text/x", "memo", {"a": 1}) == (text.mime_type, text.text, text.meta)  # type: ignore[union-attr]
    assert ("application/octet-stream", "YWI=") == (blob.mime_type, blob.blob)  # type: ignore[union-attr]


SERVED = """import json

from mcp.server import Server
from mcp.types import CallToolResult, TextContent


async def find(arguments: dict) -> dict:
    if not arguments:
        return {"error": "There are no arguments"}
    return {"hits": check(arguments)}


def check(arguments: dict) -> list:
    if "x" not in arguments:
        raise ValueError("x is missing")
    return []


async def call_tool(ctx, params) -> CallToolResult:
    if params.name == "find":
        text = json.dumps(await find(params.arguments))
        return CallToolResult(content=[TextContent(type="text", text=text)])
    return CallToolResult(content=[TextContent(type="text", text=f"Unknown tool: {params.name}")])


server = Server("x", on_call_tool=call_tool)
"""


def test_failures_of_a_low_level_server_of_version_2_are_marked_or_named(tmp_path: Path) -> None:
    """Those that clients take for results, and texts that clients do not read. The pin of such a server is right."""
    marked = SERVED.replace('{params.name}")]', '{params.name}")], is_error=True')
    lists: dict[str, str | bytes] = {"pyproject.toml": '[project]\ndependencies = ["mcp>=2,<3"]\n'}
    assert marked == run(tmp_path, {"server.py": SERVED})[1]["server.py"]
    assert [
        "server.py:9 find: a failure is returned as a success: let the CallToolResult that holds it have is_error=True",
        (
            'server.py:15 call_tool: ValueError("x is missing") of a helper is "Internal server error" for clients: catch it '
            "in the low-level handler, and return CallToolResult(content=..., is_error=True) with its text"
        ),
        (
            "server.py:19 find: call_tool() of a low-level server answers for all tools: make mcp = Server(...) of mcpcore, "
            "and move each branch into a function such as find(...) below @mcp.tool(errors=[...]), which gives its failures "
            "codes and advice"
        ),
    ] == report(run(tmp_path, {"server.py": marked, **lists})[0])


RESULTS = """import mcp.types as types
from mcp.server import Server


def make() -> Server:
    server = Server("x")

    @server.list_tools()
    async def list_tools() -> list[types.Tool]:
        return [types.Tool(name="find", inputSchema={"type": "object"})]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict) -> types.CallToolResult:
        text = f"{name} by {server.request_context.request_id}"
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], isError=True)

    return server
"""


@pytest.mark.anyio
async def test_handlers_of_a_low_level_server_read_the_request(tmp_path: Path) -> None:
    """Version 1 had the context in a variable of the server; a result that a handler makes itself is handed on."""
    test = "import mcp\nfrom server import make\n\n\ndef test_x(x):\n    assert make().request_handlers\n"
    # The handlers of a test do not keep the old names in the project.
    test += "    assert hasattr(x, 'isError')\n\n\n@make().list_tools()\nasync def listed(): ...\n\n\n@x.list_tools()\ndef g(): ...\n"
    outcome, files = run(tmp_path, {"server.py": RESULTS, "tests/test_server.py": test})
    assert (
        "test_server.py:6: request_handlers of a low-level server: SDK 2.0 has add_request_handler"
        in report(outcome)[-1]
    )
    assert 'hasattr(x, "is_error")' in files["tests/test_server.py"]
    space = executed(files["server.py"])
    async with Client(space["make"]()) as client:
        failed = await client.call_tool("find", {})
        assert failed.is_error
        assert "find by " in failed.content[0].text  # type: ignore[union-attr]
    assert () == run(tmp_path, {})[0].files


PROMPTS = """from mcp.server.fastmcp import FastMCP
from mcp.types import Prompt

mcp = FastMCP("x")


def register(app: FastMCP) -> None:
    server = app._mcp_server

    @server.list_prompts()
    async def list_prompts() -> list[Prompt]:
        return [Prompt(name="one")]


@mcp.completion()
async def complete(ref, argument, context):
    return None


register(mcp)
"""


@pytest.mark.anyio
async def test_handlers_below_another_server_follow(tmp_path: Path) -> None:
    """Version 2 has no decorators there, also without those of tools. `completion()` of the server itself stays."""
    _, files = run(tmp_path, {"server.py": PROMPTS})
    assert "\n@mcp.completion()\nasync def complete(" in files["server.py"]
    space = executed(files["server.py"])
    async with Client(space["mcp"]) as client:
        assert ["one"] == [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert () == run(tmp_path, {})[0].files


def test_each_handler_that_stays_has_a_line(tmp_path: Path) -> None:
    """So no run shows the next one only after the one before is changed."""
    unclear = PROMPTS.replace("-> list[Prompt]", "-> dict")
    handler = unclear[unclear.index("    @server") : unclear.index("\n\n@mcp")]
    twice = unclear.replace("\n\n@mcp", f"\n{handler.replace('prompts', 'resources')}\n\n@mcp")
    outcome, files = run(tmp_path, {"server.py": twice})
    assert [11, 15] == [place.line for place in outcome.left]
    assert twice == files["server.py"]


OTHERS = """from mcp import types
from mcp.server import Server


class Calls:
    async def call(self, name: str) -> list[types.TextContent]:
        return [types.TextContent(type="text", text=name)]


def make() -> Server:
    server = Server("x")
    calls = Calls()

    @server.list_tools()
    async def list_tools() -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="find", inputSchema={"type": "object"})])

    @server.list_prompts()
    async def list_prompts():
        result = types.ListPromptsResult(prompts=[types.Prompt(name="a")])
        return result

    @server.get_prompt()
    async def get_prompt(name: str, arguments: dict | None) -> types.GetPromptResult:
        return types.GetPromptResult(messages=[], description=name)

    @server.list_resources()
    async def list_resources():
        return [types.Resource(uri="memo://a", name="a")]

    @server.read_resource()
    async def read_resource(uri):
        return f"{uri}"

    @server.call_tool()
    async def call_tool(name: str, arguments: dict):
        return await calls.call(name)

    return server
"""


@pytest.mark.anyio
async def test_what_handlers_return_is_understood(tmp_path: Path) -> None:
    """Results that a handler makes itself are no items of a list, and an annotation need not say what is returned."""
    unknown = "from mcp.server import Server\n\nserver = Server('y')\n\n\n@server.list_tools()\nasync def listed(): return tools()\n"
    outcome, files = run(tmp_path, {"server.py": OTHERS, "other.py": unknown})
    line = "other.py:7: listed() keeps server on version 1 of the SDK: let it return a list or ListToolsResult"
    assert any(text.startswith(line) for text in report(outcome))
    assert {"server.py": OTHERS, "other.py": unknown} == files
    either = unknown.replace("listed()", "listed() -> list[Tool] | dict", 1)
    assert any(text.startswith(line) for text in report(run(tmp_path, {"server.py": OTHERS, "other.py": either})[0]))
    listed = 'return [types.Resource(uri="memo://a", name="a")]'
    proxied = OTHERS.replace(listed, "answer = await calls.upstream.list_resources()\n        return answer.resources")
    assert '"resources/list"' in run(tmp_path / "on", {"server.py": proxied})[1]["server.py"]
    space = executed(run(tmp_path / "one", {"server.py": OTHERS})[1]["server.py"])
    async with Client(space["make"]()) as client:
        assert ["find"] == [tool.name for tool in (await client.list_tools()).tools]
        assert ["a"] == [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert "a" == (await client.get_prompt("a")).description
        assert ["a"] == [resource.name for resource in (await client.list_resources()).resources]
        assert "memo://a" == (await client.read_resource("memo://a")).contents[0].text  # type: ignore[union-attr]
        assert "find" == (await client.call_tool("find", {})).content[0].text  # type: ignore[union-attr]
    # A file that takes its server from elsewhere keeps all of them as they are.
    shared = unknown.replace("server = Server('y')", "from server import server")
    assert () == run(tmp_path / "shared", {"server.py": OTHERS, "other.py": shared})[0].files
    # Another environment may have version 2.
    apart = run(tmp_path / "apart", {"server.py": OTHERS, "b/other.py": unknown, "b/requirements.txt": "mcp"})
    assert ["server.py"] == [Path(file.path).name for file in apart[0].files]


@pytest.mark.parametrize(
    ("line", "is_moved"),
    [
        ("def user(web): return web.state.request_context.get('user')", True),
        ("def info(request_context): return request_context", False),
        ("request_context: object = None", False),
    ],
)
def test_only_the_context_of_the_server_is_read_in_another_way(line: str, is_moved: bool, tmp_path: Path) -> None:
    """Other objects may have this name too, and a file that uses the name itself keeps its handlers."""
    _, files = run(tmp_path, {"server.py": f"{RESULTS}\n\n{line}\n"})
    assert line in files["server.py"]
    assert is_moved == ("{request_context.get().request_id}" in files["server.py"])


def test_a_tool_that_an_object_of_the_project_registers_is_converted(tmp_path: Path) -> None:
    """Its method hands the function to the decorator of the server, so the contract goes below it."""
    source = """from mcp.server.fastmcp import FastMCP


class Filter:
    def __init__(self, app):
        self._app = app

    def tool(self, *args, **kwargs):
        decorator = self._app.tool(*args, **kwargs)

        def wrapper(function):
            return decorator(function) if function.__name__ != "hidden" else function

        return wrapper


def register(app):
    @app.tool()
    def turn(direction: str) -> str:
        if not direction:
            return "Error: The direction is required"
        return direction


register(Filter(FastMCP("x")))
"""
    text = migrated(tmp_path, source)
    assert "    @app.tool()\n    @tool(\n" in text
    assert 'raise ctx.fail("direction_is_required", "The direction is required")' in text
    exec(compile(text, "server.py", "exec"), {})


VERSION_1 = '''"""A server of version 1."""
import json
import mcp.server.fastmcp
from mcp import McpError
from mcp.server.fastmcp.exceptions import (
    ResourceError,
    ToolError,
)
from mcp.server.fastmcp import (
    Context as Ctx,
    FastMCP,
)
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ErrorData

__all__ = ["FastMCP", "server"]
NAMES = ["mcp.McpError", "mcp.server.fastmcp.server", "mcp" ".McpError", f"mcp.McpError"]


def server(*names: str) -> "FastMCP":
    return FastMCP("x", *names, debug=True)


def cast(x: "FastMCP", kind: Literal["FastMCP"], other: "list[FastMCP]", ctx: Ctx[None]) -> None:
    cast("FastMCP", x)
    print("FastMCP")


def shadowed(FastMCP: int) -> int:
    return FastMCP


def failing(*args: int) -> None:
    (lambda *each: 1)(1, 2)
    setattr(json, "dumps", json.FastMCP)
    FastMCP(*args)
    FastMCP("x", *args)
    raise McpError(*args)
'''


def test_names_of_version_1_follow_in_all_places(tmp_path: Path) -> None:
    """Annotations, `__all__` and dotted paths follow; what only looks like the name stays."""
    outcome, files = run(tmp_path, {"server.py": VERSION_1})
    text = files["server.py"]
    for part in (
        '__all__ = ["Server", "server"]',
        '"mcp.MCPError", "mcp.server.mcpserver.server", "mcp" ".McpError", f"mcp.McpError"',
        'return Server("x", *names, debug=True, expose_internal_errors="message")',
        """cast(x: "Server", kind: Literal["FastMCP"], other: "list[Server]", ctx: Ctx)""",
        'cast("Server", x)\n    print("FastMCP")',
        "def shadowed(FastMCP: int) -> int:\n    return FastMCP",
        "raise MCPError(*args)",
    ):
        assert part in text, (part, text)
    patterns = "\n".join(report(outcome))
    assert "import mcp.server.fastmcp: import the names that are used" in patterns
    assert "the import of create_connected_server_and_client_session" in patterns


def test_the_context_of_the_server_is_left(tmp_path: Path) -> None:
    """Version 2 has no `get_context` at the server; a method of that name elsewhere is not named."""
    source = """from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


def register(server: FastMCP, other: int) -> None:
    def inner() -> None:
        server.get_context()
    other.get_context()


mcp.get_context()
mcp.other().get_context()
"""
    outcome, _ = run(tmp_path, {"server.py": source})
    assert [FAILS, STOPS] == [left.stops for left in outcome.left]
    assert all("get_context() of the server" in line for line in report(outcome))


def test_an_import_with_comments_is_left(tmp_path: Path) -> None:
    """The names of the file stay too, so that it goes on to be consistent."""
    source = "from mcp.server.fastmcp import (  # a comment\n    FastMCP,\n)\n\nmcp = FastMCP(1)\n"
    outcome, files = run(tmp_path, {"server.py": source})
    assert files["server.py"].endswith(source)
    assert any("an import with comments" in line for line in report(outcome))


def test_a_name_that_is_bound_twice_stays(tmp_path: Path) -> None:
    """A fallback for FastMCP keeps the name; a file that defines a Server imports the new one under a free name."""
    twice = "try:\n    from mcp.server.fastmcp import FastMCP\nexcept ImportError:\n    FastMCP = None\n"
    assert "from mcpcore import Server as FastMCP" in migrated(tmp_path / "a", twice)
    own = 'from mcp.server.fastmcp import (\n    FastMCP,\n)\n\n\nclass Server:\n    pass\n\n\nmcp = FastMCP("x")\n'
    text = migrated(tmp_path / "b", own)
    assert "    Server as ContractServer,\n" in text
    assert 'mcp = ContractServer("x", expose_internal_errors="message")' in text


def test_what_is_left_is_only_in_the_report(tmp_path: Path) -> None:
    """The code gets no comments about it."""
    source = """from mcpcore import Server
from other import made

mcp = Server("x")


@mcp.tool()
def f(*x: int) -> int:
    # Very bad.
    raise ValueError("x is too long")


@mcp.tool()
def g(x: int) -> int:
    raise made("g")
"""
    outcome, files = run(tmp_path, {"server.py": source})
    assert source == files["server.py"]
    assert [("f", 10), ("g", 15)] == [(left.tools[0], left.line) for left in outcome.left]


def test_a_line_that_changes_keeps_its_number(tmp_path: Path) -> None:
    """Without writing, the report names the lines of the files as they are."""
    source = """from mcpcore import Server

mcp = Server("x")


@mcp.tool()
def f(x: int) -> int:
    if x:
        raise ValueError("x is too long")
    x = 1; raise ValueError("x is worse"); raise NotImplementedError("f")
"""
    outcome, files = run(tmp_path, {"server.py": source}, write=False)
    assert source == files["server.py"]
    assert ["server.py:10 f"] == [line.partition(":")[0] + ":" + line.split(":")[1] for line in report(outcome)]


def test_a_file_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    """A link that leads nowhere is named, and the exit code is 2."""
    (tmp_path / "server.py").symlink_to("nowhere.py")
    outcome = migrate([str(tmp_path / "server.py")])
    assert ["cannot be read: No such file or directory"] == [failure.message for failure in outcome.failures]
    assert 2 == outcome.exit_code


def test_the_shell_completes_rules() -> None:
    """`--only ra` is completed to the rule."""
    environment = {"_MCPCORE_COMPLETE": "bash_complete", "COMP_WORDS": "mcpcore migrate . --only ra", "COMP_CWORD": "4"}
    assert "plain,raise" in CliRunner().invoke(cli, [], env=environment, prog_name="mcpcore").output


def test_a_broken_configuration_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command exits with 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.mcpcore.lint]\nexclude = 7\n")
    (tmp_path / "server.py").write_text("import mcp\n")
    result = CliRunner().invoke(cli, ["migrate", os.curdir])
    assert 2 == result.exit_code
    assert "exclude" in result.stderr


RETURNED = """import json
from typing import List, Optional

from mcp.server import Server
from mcp.types import (
    TextContent,
    Tool,
)

app = Server("x")


@app.list_tools()
async def list_tools() -> List[Tool]:
    return [Tool(name=name, inputSchema={"type": "object"}) for name in ("find", "sell", "count", "stop")]


@app.progress_notification()
async def progress(token, amount, total, message) -> None: ...


@app.set_logging_level()
async def set_level(level: str) -> None: ...


@app.call_tool()
async def call_tool(name: str, arguments: dict) -> Optional[List[TextContent]]:
    try:
        if name == "find":
            return await find(arguments)
        elif name == "sell":
            content = await sell(arguments)
            return content
        elif name == "count":
            return [*await count(arguments), TextContent(type="text", text="counted")]
        elif name != "stop":
            return [TextContent(type="text", text=f"Unknown tool: {name}")]
    except Exception as e:
        return [TextContent(type="text", text=json.dumps({"error": str(e)}))]


async def find(arguments: dict) -> List[TextContent]:
    if "x" not in arguments:
        return [TextContent(type="text", text="Error: x is missing")]
    return [TextContent(type="text", text=arguments["x"][0])]


async def sell(arguments: dict) -> "List[TextContent]":
    if "x" not in arguments:
        return [TextContent(type="text", text="Error: nothing to sell")]
    return [TextContent(type="text", text="sold")]


async def count(arguments: dict) -> List[TextContent]:
    return [TextContent(type="text", text="Error: nothing to count")]
"""


@pytest.mark.anyio
async def test_failures_that_a_low_level_server_returns_are_marked(tmp_path: Path) -> None:
    """Clients read the same texts, as errors. What is not the answer as it is, or what a test reads, has a line."""
    text, content = '{"error": "There are no arguments"}', '[TextContent(type="text", text="Error: none")]'
    result = "content = await find({0})\n        return CallToolResult(content=content, is_error=fails(content))"
    served = SERVED.replace("text = json.dumps(await find(params.arguments))", result.format("params.arguments"))
    decided = run(tmp_path / "decided", {"server.py": served.replace("-> dict", "-> list").replace(text, content)})[0]
    assert "find: a failure is" not in "".join(report(decided))
    outcome, files = run(tmp_path, {"server.py": RETURNED})
    assert ["a failure is returned as a success"] == [line.pattern for line in outcome.left if "count" in line.tools][
        1:
    ]
    assert "import (\n    CallToolRequestParams,\n    CallToolResult,\n    EmptyResult,\n" in files["server.py"]
    space = executed(files["server.py"])
    calls = {
        "find": (True, "Error: x is missing"),
        "sell": (True, "Error: nothing to sell"),
        "count": (False, "Error: nothing to count"),
        "lose": (True, "Unknown tool: lose"),
        "stop": (True, "Value after * must be an iterable, not NoneType"),
    }
    async with Client(space["app"]) as client:
        answers = {name: await client.call_tool(name, {}) for name in calls}
        assert calls == {name: (answer.is_error, answer.content[0].text) for name, answer in answers.items()}  # type: ignore[union-attr]
        failed = await client.call_tool("find", {"x": []})
        assert (True, '{"error": "list index out of range"}') == (failed.is_error, failed.content[0].text)  # type: ignore[union-attr]
    assert () == run(tmp_path, {})[0].files
    test = "import unittest\nimport server\n\n\nclass T(unittest.IsolatedAsyncioTestCase):\n    async def test_find(self):\n"
    test += "        result = await server.find({})\n        self.assertIn('Error', result[0].text)\n"
    outcome, files = run(tmp_path / "read", {"server.py": RETURNED, "test_server.py": test})
    assert 'return [TextContent(type="text", text="Error: x is missing")]' in files["server.py"]
    assert any("is_error=True), and change test_server.py:7" in line for line in report(outcome))
    # A server that stays on version 1 keeps them.
    stays = RETURNED.replace("async def list_tools() -> List[Tool]", "async def list_tools() -> dict")
    assert stays == run(tmp_path / "stays", {"server.py": stays})[1]["server.py"]


SHOWN = """

async def find(arguments: dict) -> list[TextContent]:
    result, err_msg = arguments.get("x", {}), str(arguments)
    try:
        if result.get("y"):
            return [TextContent(type="text", text=f"\u2717 {result.get('message', 'Unknown error')}")]
        if len(arguments) > 9:
            return [TextContent(type="text", text=f"Error: packing failed: {err_msg}")]
        if arguments:
            return [TextContent(type="text", text=f"Packing failed: {err_msg}")]
        return [TextContent(type="text", text=f"Packing failed: {len(result)} of 9, and that is fine")]
    except KeyError:
        return [TextContent(type="text", text="There was nothing to pack")]


async def check_shop(arguments: dict) -> list[TextContent]:
    error = arguments.get("x")
    return [TextContent(type="text", text=f"The test failed: {error}")]


async def ping(arguments: dict) -> list[TextContent]:
    return [TextContent(type="text", text=f"\u2717 {arguments['error']}")]
"""


def test_failures_of_low_level_servers_that_show_an_error_are_marked(tmp_path: Path) -> None:
    """Their texts need not begin with "Error". What may be a result about a job that failed has a line, as in other tools."""
    branch = '        elif name == "NAME":\n            return await NAME(arguments)\n'
    more = "".join(branch.replace("NAME", name) for name in ("check_shop", "ping"))
    head = RETURNED.partition("\n\nasync def find")[0].replace(
        '        elif name == "sell"', f'{more}        elif name == "sell"'
    )
    outcome, files = run(tmp_path, {"server.py": head + SHOWN})
    for text in ("\u2717 {result.get('message', 'Unknown error')}", "Error: packing failed: {err_msg}"):
        marked = f'CallToolResult(content=[TextContent(type="text", text=f"{text}")], is_error=True)'
        assert marked in files["server.py"]
    assert [
        ("find", "a text says that something failed"),
        ("find", "a text may be a failure"),
        ("check_shop", "a text says that something failed"),
        ("ping", "a text says that something failed"),
    ] == [(*line.tools, line.pattern) for line in outcome.left if line.perhaps]
    assert 4 == sum(
        "return CallToolResult(content=..., is_error=True) if the tool could not" in line for line in report(outcome)
    )


READ = """from mcp.server import (
    Server,  # the server
)
from mcp.types import \\
    CallToolResult as Result, \\
    TextContent as Text, \\
    Tool
from mcp import types

app = Server("x")


def with_footer(function):
    async def inner(arguments):
        return [*await function(arguments), footer()]

    return inner


def footer():
    from mcp.types import TextContent

    return TextContent(type="text", text="footer")


@app.list_tools()
async def list_tools():
    return [Tool(name="find", inputSchema={"type": "object"})]


@app.call_tool()
async def call_tool(name, arguments) -> list[Text]:
    if name == "find":
        content = await find(arguments)
        content += [footer()]
        return content
    if name == "sell":
        return await sell(arguments)
    if name == "count":
        return await count(arguments)
    if name == "more":
        return await more(arguments)
    return [Text(type="text", text=f"Unknown tool: {name}")]


async def find(arguments):
    return [Text(type="text", text="Error: nothing to find")]


@with_footer
async def sell(arguments):
    return [Text(type="text", text="Error: nothing to sell")]


async def count(arguments) -> '''list[Text]''':
    if arguments:
        return await more(arguments)
    return [Text(type="text", text="Error: nothing to count")]


Contents = "list[Text]"


async def more(arguments) -> Contents:
    return [Text(type="text", text="Error: no more")]
"""


@pytest.mark.anyio
async def test_failures_that_other_code_reads_stay(tmp_path: Path) -> None:
    """A caller that adds to them, and a decorator. Names may be imported under others, or in functions."""
    outcome, files = run(tmp_path, {"server.py": READ})
    assert ["call_tool", "count", "more"] == sorted(tool for *_, tool in outcome.converted)
    assert "    Server,  # the server\n    ServerRequestContext,\n)" in files["server.py"]
    space = executed(files["server.py"])
    async with Client(space["app"]) as client:
        answers = [await client.call_tool(name, {}) for name in ("find", "sell", "count", "lose")]
    texts = ["Error: nothing to find", "Error: nothing to sell", "Error: nothing to count", "Unknown tool: lose"]
    assert texts == [answer.content[0].text for answer in answers]  # type: ignore[union-attr]
    assert [False, False, True, True] == [answer.is_error for answer in answers]
    assert () == run(tmp_path, {})[0].files


def test_a_handler_in_a_file_that_imports_only_its_server_follows(tmp_path: Path) -> None:
    """Version 2 has no decorators for it."""
    server = "from mcp.server import Server\n\nserver = Server('x')\n\n\n@server.list_tools()\nasync def list_tools() -> list: ...\n"
    prompts = "from server import server\n\n\n@server.get_prompt()\nasync def prompt(name, arguments): ...\n"
    _, files = run(tmp_path, {"server.py": server, "prompts.py": prompts})
    assert "await prompt(params.name, params.arguments)" in files["prompts.py"]


NEW = """import json

from mcp.server import Server
from mcp.types import CallToolResult, ListToolsResult, TextContent


async def list_tools(context, params) -> ListToolsResult:
    return ListToolsResult(tools=[])


async def call_tool(context, params) -> CallToolResult:
    if params.name == "stop":
        raise ValueError("The shop is closed")
    if params.name == "sell":
        raise KeyError(params.name)
    if params.name == "wait":
        raise TimeoutError("It took too long")
    try:
        return CallToolResult(content=[TextContent(type="text", text=params.arguments["x"])])
    except KeyError as e:
        return CallToolResult(content=[TextContent(type="text", text=f"Error: {e}")], is_error=False)
    except Exception as e:
        return CallToolResult(content=[TextContent(type="text", text=json.dumps({"error": str(e)}))])


server = Server("x", on_list_tools=list_tools, on_call_tool=call_tool)
"""


@pytest.mark.anyio
async def test_failures_of_a_low_level_server_of_version_2_can_be_read(tmp_path: Path) -> None:
    """Version 2 masks the texts of exceptions, and results without a mark are successes. Tests go on to expect theirs."""
    test = "import server\n\n\nasync def test_wait():\n    with pytest.raises(TimeoutError):\n        await server.call_tool(0, 'wait')\n"
    outcome, files = run(tmp_path, {"server.py": NEW, "test_server.py": test})
    assert 'raise TimeoutError("It took too long")' in files["server.py"]
    assert 4 == len(outcome.converted)
    # A caller or a decorator may catch the exceptions, and options may mark the result.
    options = NEW.replace("is_error=False", "**{'is_error': False}")
    caught = "\n\nasync def serve(context, params):\n    try:\n        return await call_tool(context, params)\n    except ValueError:\n        return None\n"
    assert 3 == len(run(tmp_path / "caught", {"server.py": options + caught})[0].converted)
    decorated = NEW.replace("async def call_tool", "@retried\nasync def call_tool")
    assert 2 == len(
        run(tmp_path / "decorated", {"server.py": f"from retrying import retried\n{decorated}"})[0].converted
    )
    space = executed(files["server.py"])
    async with Client(space["server"]) as client:
        calls = [("stop", {}), ("sell", {}), ("find", {}), ("find", {"x": 1})]
        answers = [await client.call_tool(*call) for call in calls]
        assert all(answer.is_error for answer in answers)
        texts = [answer.content[0].text for answer in answers]  # type: ignore[union-attr]
        assert ["The shop is closed", "sell", "Error: 'x'"] == texts[:3]
        assert texts[3].startswith('{"error": "1 validation error for TextContent')
    assert () == run(tmp_path, {})[0].files


@pytest.mark.parametrize(
    ("registration", "line"),
    [
        (
            "server.call_tool()(find)",
            "server.call_tool() called with a function: write it as a decorator of the function",
        ),
        ("server.request_handlers[CallToolRequest] = find", "request_handlers of a low-level server: SDK 2.0 has "),
    ],
)
def test_handlers_that_no_decorator_registers_have_a_line(tmp_path: Path, registration: str, line: str) -> None:
    """The file stays on version 1 of the SDK."""
    source = "from mcp.server import Server\nfrom mcp.types import CallToolRequest\n\nserver = Server('x')\n\n\n"
    source += f"async def find(name, arguments=None) -> list: ...\n\n\n{registration}\n"
    outcome, files = run(tmp_path, {"server.py": source})
    assert (source, True) == (files["server.py"], any(f"server.py:10: {line}" in text for text in report(outcome)))


def test_a_registration_whose_functions_are_not_found_has_a_line(tmp_path: Path) -> None:
    """Nobody looked at their failures, so the run does not say that nothing is left, unless the settings name them."""
    source = "import os\nfrom importlib import import_module\n\nfrom mcpcore import Server\n\nmcp = Server('x')\n"
    source += "mcp.add_tool(import_module(os.environ['TOOLS']).run)\n"
    outcome, _ = run(tmp_path, {"server.py": source, "tests/test_server.py": source})
    step = 'name the functions in [tool.mcpcore.lint], such as handlers = ["a.module:run"]'
    assert [f"server.py:7: no function is found behind `import_module(os.environ['TOOLS']).run`: {step}"] == report(
        outcome
    )
    assert 1 == outcome.exit_code
    assert [] == report(run(tmp_path, {"pyproject.toml": '[tool.mcpcore.lint]\nhandlers = ["server:f"]\n'})[0])
    table = "from importlib import import_module\n\nTOOLS = import_module('other').TOOLS\n"
    low = LOW_LEVEL.replace('[TextContent(type="text", text=str(arguments))]', "await TOOLS[name].run(arguments)")
    lines = report(run(tmp_path / "low", {"server.py": table + low})[0])
    assert ["on_call_tool() of a low-level server"] == [line.split(": ")[1].partition(" answers")[0] for line in lines]
