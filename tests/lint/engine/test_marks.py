"""The byte search that spares the parser most of a large tree skips no file that defines a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcpcore_lint.engine.syntax.prefilter import speaks_of_mcp
from mcpcore_lint.runner.engine import lint_paths
from mcpcore_lint.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n\n\n"
HANDLER = "def fetch(key: str) -> str:\n    raise RuntimeError(key)\n"

REGISTERING = {
    "decorator": HEAD + "@mcp.tool\n" + HANDLER,
    "decorator called": HEAD + "@mcp.tool()\n" + HANDLER,
    "decorator with a comment": HEAD + "@mcp.tool  # the only one\n" + HANDLER,
    "alias": HEAD + "register = mcp.tool\n\n\n@register()\n" + HANDLER,
    "called on a function": HEAD + HANDLER + "\n\nmcp.tool()(fetch)\n",
    "added": HEAD + HANDLER + "\n\nmcp.add_tool(fetch)\n",
    "added in a loop": HEAD + HANDLER + "\n\nfor each in (fetch,):\n    mcp.add_tool(each)\n",
    "made of a function": "from fastmcp.tools import Tool\n\n\n" + HANDLER + "\n\nmade = Tool.from_function(fetch)\n",
    "given to the server": "from fastmcp import FastMCP\n\n\n" + HANDLER + "\n\nmcp = FastMCP('x', tools=[fetch])\n",
    "low-level": "from mcp.server import Server\n\nserver = Server('x')\n\n\n@server.call_tool()\n" + HANDLER,
    "low-level option": "from mcp.server import Server\n\n\n"
    + HANDLER
    + "\n\nserver = Server('x', on_call_tool=fetch)\n",
    "resource": HEAD + "@mcp.resource('a://{key}')\n" + HANDLER,
    "prompt": HEAD + "@mcp.prompt()\n" + HANDLER,
    "mixin": "from fastmcp.contrib.mcp_mixin import MCPMixin, mcp_tool\n\n\n@mcp_tool()\n" + HANDLER,
    "handed to a function of the project": "from app.audit import audited_tool, mcp\n\n\n"
    + HANDLER
    + "\n\naudited_tool(mcp, 'fetch')(fetch)\n",
    "a method, on separate lines": "from app.audit import audited_tool\n\n\nclass Tools:\n    def __init__(self, mcp):\n"
    "        audited_tool(\n            mcp,\n            'fetch',\n        )(self.fetch)\n",
    "handed over with the server": "from app.wiring import register\nfrom app import mcp\n\n\n"
    + HANDLER
    + "\n\nregister(mcp, fetch)\n",
    "a decorator of the project": "from app.wiring import mcp_handler\n\n\n@mcp_handler(title='x')\n" + HANDLER,
    "a decorator with more behind its word": "from app.wiring import mcp, tool_with_audit\n\n\n@tool_with_audit(mcp)\n"
    + HANDLER,
    "a class of FastMCP": "from fastmcp.tools import FunctionTool\n\n\n"
    + HANDLER
    + "\n\nmade = FunctionTool(fn=fetch, name='fetch', parameters={})\n",
    "a resource class": "from mcp.server.mcpserver.resources import FunctionResource\n\n\n"
    + HANDLER
    + "\n\nmade = FunctionResource(uri='a://b', fn=fetch)\n",
    "a binding": "from mcp.server.extension import Extension, ToolBinding\n\n\n"
    + HANDLER
    + "\n\nmade = ToolBinding(fetch)\n",
    "a template": HEAD + HANDLER + "\n\nmcp.add_template(fetch)\n",
    "a request": "from mcp.server import Server\n\n\n"
    + HANDLER
    + "\n\nserver = Server('x')\nserver.add_request_handler('tools/call', Params, fetch)\n",
    "a request in the table": "from mcp import types\nfrom app import server\n\n\n"
    + HANDLER
    + "\n\nserver.request_handlers[types.CallToolRequest] = fetch\n",
    "a class that is a server": "from app.base import Base  # mcp\n\n\n"
    + HANDLER
    + "\n\nclass Mine(Base):\n    def __init__(self):\n        super().__init__('x', tools=[fetch])\n",
    "a tool of an object that is handed in": "def register(server):\n    @server.tool()\n    def find(): ...\n",
    "a resource of an object that is handed in": "def register(srv):\n    @srv.resource('a://b')\n    def find(): ...\n",
    "a prompt of an object that is handed in": "def register(server):\n    @server.prompt()\n    def find(): ...\n",
    "another name": "from mcpcore import tool as command\n\n\n@command\n" + HANDLER,
}

PASSED_OVER = {
    "a test": "from awslabs.x_mcp_server import server\n\n\ndef test_it() -> None:\n    assert server.run() is None\n",
    "a mock": "import mcp\n\n\ndef test_it(mcp) -> None:\n    mcp.tool.assert_called_once()\n",
    "a client": "from mcp import ClientSession\n\n\nasync def go(s: ClientSession) -> None:\n    await s.call_tool('a')\n",
    "no MCP": "def tools() -> list[str]:\n    return []\n",
}


@pytest.mark.parametrize("text", REGISTERING.values(), ids=REGISTERING)
def test_a_file_that_registers_is_read(text: str) -> None:
    """This holds for every way to register a tool."""
    assert speaks_of_mcp(text.encode())


@pytest.mark.parametrize("text", PASSED_OVER.values(), ids=PASSED_OVER)
def test_a_file_that_only_mentions_mcp_is_skipped(text: str) -> None:
    """Its functions are read only when a handler calls them."""
    assert not speaks_of_mcp(text.encode())


def test_a_large_tree_has_the_same_findings_as_a_small_one(tmp_path: Path) -> None:
    """In a skipped file, functions that a handler calls are found, and so are suppression comments."""
    (tmp_path / "service.py").write_text("def load(key: str) -> str:\n    raise RuntimeError(key)\n")
    text = HEAD.replace("FastMCP('x')", "FastMCP('x')\nfrom service import load") + "@mcp.tool()\n"
    (tmp_path / "server.py").write_text(
        text
        + 'def fetch(key: str) -> str:\n    """Fetch."""\n    if not key:\n        raise Exception\n    return load(key)\n'
    )
    small = lint_paths([tmp_path], settings=Settings(syntax_limit=500), root=str(tmp_path))
    large = lint_paths([tmp_path], settings=Settings(syntax_limit=0), root=str(tmp_path))
    assert small.diagnostics
    assert small.diagnostics == large.diagnostics
    assert [tool.name for tool in large.tools] == ["fetch"]
