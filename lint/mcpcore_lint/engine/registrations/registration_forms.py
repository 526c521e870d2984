"""How the frameworks let a server register tools, resources and prompts, as data; and the records of a registration."""

import ast
from typing import Final, NamedTuple

from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue
from mcpcore_lint.records import ToolFlavour, ToolKind


class Form(NamedTuple):
    """What a call registers, and the positions of its arguments, counted without the handler."""

    kind: ToolKind
    handler: tuple[str, ...] = ()
    """The keywords that take the handler, which may also be the first argument."""
    name: int | None = 0
    """The position of the name; None if it is keyword-only."""
    uri: int | None = None
    described: int | None = None
    """The position of the description."""
    annotated: int | None = None
    """The position of the annotations."""
    keyword_only: bool = False
    """Whether the handler is keyword-only."""


class Maker(NamedTuple):
    """A decorator or a call that makes tools of functions: its form, its server and its arguments."""

    form: Form
    flavour: ToolFlavour
    server: str | None
    call: CallValue | None = None
    """The arguments without the handler; None if it has none."""
    inner: ast.Call | None = None
    """The call as written."""
    first: bool = False
    """Whether the first argument of that call is the handler."""


class Site(NamedTuple):
    """A call that registers something."""

    maker: Maker
    target: ast.expr
    """The expression that is registered."""
    scope: Scope
    registration: ast.expr
    call: ast.Call
    """The call whose enclosing loops count."""


DECORATORS: Final[dict[str, Form]] = {
    "tool": Form("tool", ("name_or_fn", "fn"), described=2, annotated=3),
    "resource": Form("resource", (), name=None, uri=0),
    "prompt": Form("prompt", ("name_or_fn", "fn"), described=2),
}
"""Decorators: methods of a server, and functions of mcpcore and FastMCP."""

MIXED_IN: Final[dict[str, Form]] = {
    "mcp_tool": Form("tool"),
    "mcp_resource": Form("resource", name=None, uri=0),
    "mcp_prompt": Form("prompt"),
}
"""Decorators of `fastmcp.contrib.mcp_mixin`."""

ADDERS: Final[dict[str, Form]] = {
    "add_tool": Form("tool", ("fn", "tool"), described=2, annotated=3),
    "add_resource": Form("resource", ("resource", "fn"), name=None),
    "add_resource_fn": Form("resource", ("fn",), name=1, uri=0),
    "add_template": Form("resource", ("template", "fn"), name=None),
    "add_prompt": Form("prompt", ("prompt", "fn")),
    "add_prompt_fn": Form("prompt", ("fn",), described=1),
}
"""Methods of a server that take a handler, or a tool made of one."""

MAKERS: Final = DECORATORS | ADDERS

MADE: Final[dict[str, Form]] = {
    "Tool.from_function": Form("tool", ("fn",), described=2),
    "FunctionTool": Form("tool", ("fn",), name=None, keyword_only=True),
    "Tool": Form("tool", ("fn",), name=None, keyword_only=True),
    "ToolBinding": Form("tool", ("fn",), name=None),
    "Resource.from_function": Form("resource", ("fn",), name=1, uri=0),
    "ResourceTemplate.from_function": Form("resource", ("fn",), name=1, uri=0),
    "FunctionResource": Form("resource", ("fn",), name=None, keyword_only=True),
    "Prompt.from_function": Form("prompt", ("fn",), described=2),
}
"""Constructors that make a tool, a resource or a prompt of a function, to be added later: the ends of their names.

`FunctionTool.from_function` counts as `Tool.from_function`, and so on.
"""

OF_ROUTES: Final = frozenset({"fastmcp.FastMCP.from_fastapi", "fastmcp.FastMCP.from_openapi", "fastapi_mcp.FastApiMCP"})
"""What makes tools of the routes of a web application."""

LOWLEVEL_DECORATOR: Final = "call_tool"
LOWLEVEL_KEYWORD: Final = "on_call_tool"
"""How a low-level server takes the one handler that serves all tools."""

SERVES_ALL: Final = Form("tool", name=None)
ROUTE: Final = Form("tool", name=None)
"""A route, whose framework makes the name, the description and the arguments of the tool."""

LISTS: Final[dict[str, Form]] = {"tools": Form("tool"), "resources": Form("resource"), "prompts": Form("prompt")}
"""Parameters of a server's constructor that take lists."""

NEAR: Final = (
    *("tool(", "tools=", "tools =", "on_call_tool", "resource(", "resources=", "prompt(", "register"),
    *("add_tool", "add_resource", "add_template", "add_prompt", "from_function"),
    *("Tool(", "ToolBinding(", "FunctionResource("),
    *(".tool)", ".tool,", '"tool"', "'tool'", "request_handler"),
)
"""Texts near every call that registers something."""

HINTS: Final = ("tool", "resource", "prompt", "register", "mcp")
"""Parts of the names of a project's own registering functions."""


def flavour_in(text: str) -> ToolFlavour | None:
    """The flavour of the servers in a file, by the packages that its text mentions."""
    is_fastmcp = "fastmcp" in text and "mcp.server.fastmcp" not in text
    return "fastmcp" if is_fastmcp else "sdk" if "mcp" in text else None


def makes_server(text: str) -> bool:
    """Whether the text of a file makes a server, unlike one that makes an `HTTPServer(...)` and never mentions MCP."""
    return "FastMCP(" in text or ("Server(" in text and flavour_in(text) is not None)
