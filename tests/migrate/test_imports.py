"""Imports that a migration leaves without a use go, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.migrate.migrating import migrated, run

SERVER = """import os
import sys, traceback
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from typing import Any, Optional

mcp = FastMCP("x")


@mcp.tool
def f(x: str) -> str:
    '''Raises ToolError.'''
    try:
        return x[1]
    except Exception as e:
        shown = traceback.format_exc(sys.maxsize)
        raise ToolError(f"Failed: {e}")
"""


def test_imports_without_a_use_go(tmp_path: Path) -> None:
    """Imports that had no use before the run stay: the migration did not cause them."""
    _, files = run(tmp_path, {"server.py": SERVER})
    head = files["server.py"].partition("mcp = ")[0]
    assert head == (
        "import os\nfrom fastmcp import FastMCP\nfrom typing import Any, Optional\n\n"
        "from mcpcore.integrations.fastmcp import ContractMiddleware\n\n"
    )


def test_imports_of_a_function_without_a_use_go(tmp_path: Path) -> None:
    """A function that would be left without a statement keeps its own."""
    moved = SERVER.replace("from fastmcp.exceptions import ToolError\n", "").replace(
        "    try:", "    from fastmcp.exceptions import ToolError\n    try:"
    )
    only = "\n\ndef warm() -> None:\n    import traceback\n"
    _, files = run(tmp_path, {"server.py": moved + only})
    assert (False, only) == ("import ToolError" in files["server.py"], files["server.py"][-len(only) :])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mcp = FastMCP", '__all__ = ["mcp", "ToolError"]\nmcp = FastMCP'),
        ("import ToolError", "import ToolError  # for the tests\nimport os.path"),
        ("import ToolError", "import (\n    ToolError,  # for the tests\n)"),
        ("from fastmcp.exceptions", "import os; from fastmcp.exceptions"),
    ],
    ids=["a name in __all__", "a comment behind it", "a comment within it", "two statements on a line"],
)
def test_imports_that_somebody_may_mean_stay(old: str, new: str, tmp_path: Path) -> None:
    """A name in a string, a comment within the import, and another statement on its line keep it."""
    _, files = run(tmp_path, {"server.py": SERVER.replace(old, new, 1)})
    assert "ToolError" in files["server.py"].partition("mcp = ")[0]


def test_names_that_other_files_have_from_elsewhere_go(tmp_path: Path) -> None:
    """They do not take the name from this one."""
    other = "from fastmcp.exceptions import ToolError\nfrom server import mcp\n"
    _, files = run(tmp_path, {"server.py": SERVER, "other.py": other})
    assert "import ToolError\n" not in files["server.py"]


@pytest.mark.parametrize(
    "other",
    [
        "from server import ToolError, mcp\n",
        "import server as s\n\nERRORS = (s.ToolError,)\n",
        "from importlib import import_module\n\nimport server\n\nERROR = getattr(server, 'ToolError')\n",
        "from server import (  # (all of it)\n    f,\n    ToolError as Failed,\n)\n",
        "from server import f, \\\n    ToolError\n",
        "from server import *\n\nERRORS = (ToolError,)\n",
        "ERROR = 'server.ToolError'\n",
    ],
)
def test_names_that_other_files_take_stay(other: str, tmp_path: Path) -> None:
    """The migration does not read all such files, but it changes what they import from."""
    _, files = run(tmp_path, {"server.py": SERVER, "other.py": other})
    assert "import ToolError\n" in files["server.py"]
    assert "traceback" not in files["server.py"]


def test_one_of_several_names_goes(tmp_path: Path) -> None:
    """The others stay in their order."""
    source = SERVER.replace("import ToolError", "import FastMCPError, ToolError, ResourceError")
    _, files = run(tmp_path, {"server.py": f"{source}\n\nERRORS = (FastMCPError, ResourceError)\n"})
    assert "from fastmcp.exceptions import FastMCPError, ResourceError\n" in files["server.py"]


def test_imports_stand_where_those_of_the_framework_do(tmp_path: Path) -> None:
    """Code above them comes first on purpose, and what was sorted stays sorted."""
    setup = "import logging\n\nlogging.basicConfig()\n\nfrom fastmcp import FastMCP  # noqa: E402\nfrom pydantic import Field  # noqa: E402\n"
    sdk = "from mcp.server.fastmcp import FastMCP\nfrom mcp.server.lowlevel import Server\nfrom mcp.types import Tool\n"
    _, files = run(tmp_path, {"fast.py": f"{setup}\nmcp = FastMCP('x')\n", "sdk.py": f"{sdk}\nmcp = FastMCP('x')\n"})
    assert (
        setup.replace(
            "from pydantic", "from mcpcore.integrations.fastmcp import ContractMiddleware  # noqa: E402\nfrom pydantic"
        ),
        f"{sdk.partition(chr(10))[2]}from mcpcore import Server as ContractServer\n",
    ) == (*(text.partition("\nmcp =")[0] for text in files.values()),)


def test_new_imports_stand_among_those_of_the_types(tmp_path: Path) -> None:
    """`mcp_types` sorts before `mcpcore`."""
    source = "from mcp.server.mcpserver import MCPServer\nfrom mcp_types import Tool\n\nmcp = MCPServer(Tool)\n"
    _, files = run(tmp_path, {"server.py": source})
    assert files["server.py"].startswith("from mcp_types import Tool\nfrom mcpcore import Server\n")


CLIENT = """from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.memory import create_connected_server_and_client_session


async def main(url: str, headers: dict[str, str]) -> None:
    async with streamablehttp_client(url, headers=headers) as (read, write, _):
        print(read, write)
    async with streamablehttp_client(url) as (
        read,
        write,
        _get_session_id,
    ):
        print(read, write)
    async with create_connected_server_and_client_session(app._mcp_server) as client:
        print(await client.list_tools())
"""


def test_clients_follow(tmp_path: Path) -> None:
    """The headers go to the HTTP client. Another option has a line, and `Client` takes no server of FastMCP itself."""
    other = CLIENT.replace("(url)", "(url, timeout=3)").replace("client.list_tools()", "client")
    fast = f"from fastmcp import FastMCP\n{CLIENT}\n\napp = FastMCP('x')\n"
    outcome, files = run(tmp_path, {"client.py": CLIENT, "fast.py": fast, "other.py": other})
    made = (
        "create_mcp_http_client(headers=headers) as http_client, streamable_http_client(url, http_client=http_client)"
    )
    lines = [
        f"    async with {made} as (read, write):",
        "    async with streamable_http_client(url) as (",
        "    async with Client(app) as client:",
    ]
    assert "Client(app._mcp_server) as client:" in files["fast.py"]
    assert (other, False, *lines) == (
        files["other.py"],
        outcome.left[0].stops,
        *(line for line in files["client.py"].splitlines() if "async with" in line),
    )


CONNECTED = """from mcp.client import streamable_http
from mcp.client.streamable_http import streamable_http_client as connect


async def main(url, stack):
    async with streamable_http.streamable_http_client(url) as (read, write, _):
        print(read, write)
    read, write, _get_id = await stack.enter_async_context(connect(url))
    async with connect(url) as (read, *_), connect(url) as (read, write):
        print(read, write)
    async with connect(url) as [read, write, _], connect(url) as (*streams, _):
        print(read, write, streams)
    opening = connect(url)
    opened = await asyncio.wait_for(opening.__aenter__(), 9)
    read, write, _ = opened


async def session(url):
    global shared
    async with connect(url) as (read, write, get_id), connect(url) as (read, write, shared):
        return get_id()


def shown():
    return shared()
"""


def test_a_connection_gives_two_values(tmp_path: Path) -> None:
    """Version 2 has no function for the number of the session. If the code reads that, there is a line."""
    outcome, files = run(tmp_path, {"client.py": CONNECTED})
    after = re.sub("(?<=read, write), _(?:get_id)?(?=[])]| =)", "", CONNECTED).replace("(*streams, _)", "(*streams,)")
    assert after == files["client.py"]
    assert [
        (20, f"{name} of streamable_http_client(), which gives two values in SDK 2.0") for name in ("get_id", "shared")
    ] == [(place.line, place.pattern) for place in outcome.left]


GUARDED = """import json

try:
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError
    READY = True
except ImportError:
    FastMCP = None
    READY = False

    class ToolError(Exception):
        pass

if READY:
    mcp = FastMCP("x")

    @mcp.tool
    def f(path: str) -> str:
        raise ToolError("The path is too long")
"""


def test_imports_go_into_the_try_that_imports_the_framework(tmp_path: Path) -> None:
    """Without the framework there is no mcpcore either. A class for that case does not hide the one of the framework."""
    _, files = run(tmp_path, {"server.py": GUARDED})
    head = (
        "try:\n    from fastmcp import FastMCP\n    from mcpcore import TODO, Context, ErrorCode, FailureMode, tool\n"
        "    from mcpcore.integrations.fastmcp import ContractMiddleware\n    READY = True\n"
    )
    assert head in files["server.py"].replace("    from fastmcp.exceptions import ToolError\n", "")
    assert 'raise ctx.fail("path_is_too_long", "The path is too long")' in files["server.py"]
    assert files["server.py"].startswith("import json\nfrom typing import Literal\n")


def test_a_comment_stays_above_its_import(tmp_path: Path) -> None:
    """A new import goes behind the one above a comment, unless that is above the whole group."""
    head = "from fastmcp import FastMCP\nfrom joppy import api\n\n# Fields.\nfrom pydantic import Field\n"
    _, files = run(tmp_path, {"server.py": f"{head}\nmcp = FastMCP('x')\n"})
    new = "from mcpcore.integrations.fastmcp import ContractMiddleware\n"
    assert files["server.py"].startswith(head.replace("api\n", f"api\n{new}"))
    tool = "\n\n@mcp.tool()\ndef f(size: int) -> str:\n    raise ValueError('The size is odd')\n"
    head = '"""A server."""\n\n# The SDK.\nfrom mcp.server import MCPServer\n\nmcp = MCPServer("x")\n'
    _, files = run(tmp_path / "sdk", {"server.py": head + tool})
    assert "\n\nfrom typing import Literal\n\n# The SDK.\nfrom mcpcore import" in files["server.py"]


def test_a_new_import_goes_above_those_of_the_project(tmp_path: Path) -> None:
    """The package itself is the project's, and so is what the project has at its top."""
    head = "from fastmcp import FastMCP\n\nfrom own import VERSION\nfrom helper import HELP\n"
    files: dict[str, str | bytes] = {"own/__init__.py": "VERSION = 1\n", "helper.py": "HELP = 1\n"}
    new = "from mcpcore.integrations.fastmcp import ContractMiddleware\n"
    for name in ("own/server.py", "server.py"):
        _, after = run(tmp_path / name[:-3], {**files, name: f"{head}\nmcp = FastMCP('x')\n"})
        assert after[name].startswith(head.replace("FastMCP\n", f"FastMCP\n{new}"))


def test_capitals_do_not_count_in_the_order_of_imports(tmp_path: Path) -> None:
    """Nor does the kind of an import, in a file that sorts both kinds together."""
    head = "from fastmcp import FastMCP\n{}from {} import Image\nfrom pydantic import Field\n"
    new = "from mcpcore.integrations.fastmcp import ContractMiddleware\n"
    for package, more in (("PIL", ""), ("Zlib", ""), ("PIL", "import psutil\n")):
        _, files = run(
            tmp_path / f"{package}{len(more)}",
            {"server.py": f"{head.format(more, package)}\nmcp = FastMCP(Image, Field)\n"},
        )
        assert files["server.py"].startswith(head.format(f"{new}{more}", package))


WIDE = """from fastmcp import FastMCP

mcp = FastMCP("x", instructions="A long text that nobody wants to read, as in most servers")
print("a line of the project that is longer than eighty characters, so it stays as it is.....")


@mcp.tool
async def f(x: str) -> str:
    if not x:
        raise ValueError(f"The value {x} is not in the list of values that are known to this tool")
    return x
"""


def test_imports_of_a_clause_are_in_order(tmp_path: Path) -> None:
    """The new import has its place among those of the SDK there, too."""
    source = "try:\n    from mcp.server.fastmcp import FastMCP\n    from mcp.types import Tool\nexcept ImportError:\n    raise\n"
    text = migrated(tmp_path, f"{source}mcp = FastMCP('x')\nprint(Tool)\n")
    assert "try:\n    from mcp.types import Tool\n    from mcpcore import Server\nexcept" in text


def test_lines_that_become_too_long_are_broken(tmp_path: Path) -> None:
    """Only where the project says how long they may be, and only those that the command writes."""
    pinned = '[project]\nname = "x"\ndependencies = ["fastmcp<3"]\n'
    _, plain = run(tmp_path / "a", {"server.py": WIDE, "pyproject.toml": pinned})
    _, files = run(tmp_path / "b", {"server.py": WIDE, "pyproject.toml": f"{pinned}\n[tool.ruff]\nline-length = 80\n"})
    assert 'many servers", middleware' not in files["server.py"]
    assert (
        "mcp = FastMCP(\n"
        '    "x",\n'
        '    instructions="A long text that nobody wants to read, as in most servers",\n'
        '    middleware=[ContractMiddleware(expose_internal_errors="message")],\n'
        ")\n"
        'print("a line of the project that is longer than'
    ) in files["server.py"]
    assert "        raise ctx.fail(\n            " in files["server.py"]
    low = "from mcp.server import Server\nfrom mcp.types import Resource\n\nserver = Server('x')\n\n\n@server.list_resources()\n"
    low += "async def list_resources() -> list[Resource]: ...\n\n\n@server.read_resource()\nasync def read(uri) -> str: ...\n"
    narrow = {"server.py": low, "pyproject.toml": f"{pinned}\n[tool.ruff]\nline-length = 80\n"}
    text = run(tmp_path / "c", {**narrow})[1]["server.py"]
    assert "async def on_list_resources(\n    _: ServerRequestContext,\n    __: PaginatedRequestParams,\n) -> " in text
    assert 80 >= max(map(len, text.splitlines()))
    assert ast.dump(ast.parse(plain["server.py"])) == ast.dump(ast.parse(files["server.py"]))
    assert () == run(tmp_path / "b", {})[0].files
    heads = f"from mcp.server.fastmcp import FastMCP\n\n\ndef {'name' * 20}(*, a: FastMCP): ...\ndef {'name' * 21}(b: FastMCP = 1): ...\n"
    assert "(*, a: Server)" in run(tmp_path / "d", {**narrow, "server.py": heads})[1]["server.py"]


def test_comments_and_docstrings_that_mean_the_class_follow(tmp_path: Path) -> None:
    """They do where they spell it as code, or are at the call. Other words about it, and texts, stay."""
    source = """from mcp.server.fastmcp import FastMCP

# Initialize FastMCP server
# for all.
mcp = FastMCP("é")  # the FastMCP instance
# FastMCP server elsewhere
print("# FastMCP()", "`FastMCP`")
# Initialize FastMCP
other = FastMCP("y")
# The port is read by FastMCP
third = FastMCP("z")


def f():
    '''Made by `FastMCP`, FastMCP("é") and x.FastMCP(): FastMCP is good. `FastMCP` reads it.'''
"""
    text = migrated(tmp_path, source)
    for part in (
        "# Initialize mcpcore server\n# for all.\n",
        "  # the Server instance\n# FastMCP server elsewhere\n",
        'print("# FastMCP()", "`FastMCP`")\n# Initialize Server\n',
        "'''Made by `Server`, Server(\"é\") and x.FastMCP(): FastMCP is good. `FastMCP` reads it.'''",
        "# The port is read by FastMCP\n",
    ):
        assert part in text
    error = "from mcp import McpError\nfrom mcp.types import ErrorData\n\n# The McpError server side\n{} = McpError(ErrorData(code=1, message='x'))\n"
    assert "# The MCPError server side\n" in migrated(tmp_path / "c", error.format("ERROR"))
    assert "# `FastMCP`" in migrated(tmp_path / "b", source.replace("# for all", "# `FastMCP`").replace("\n", "\r\n"))
