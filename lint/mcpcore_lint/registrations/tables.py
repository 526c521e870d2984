"""The ways in which the frameworks let one register a tool, a resource or a prompt, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from mcpcore_lint.records import ToolKind


class Way(NamedTuple):
    """What a call makes, and where its arguments stand. Positions are counted without the handler."""

    kind: ToolKind
    handler: tuple[str, ...] = ()
    """The names of the parameter that takes the handler, which is also the first one."""
    name: int | None = 0
    """The position of the name; None where it is given by keyword alone."""
    uri: int | None = None
    described: int | None = None
    """The position of the description."""
    annotated: int | None = None
    """The position of the annotations."""
    keyword_only: bool = False
    """Whether the handler too is given by keyword alone."""


DECORATORS: Final[dict[str, Way]] = {
    "tool": Way("tool", ("name_or_fn", "fn"), described=2, annotated=3),
    "resource": Way("resource", (), name=None, uri=0),
    "prompt": Way("prompt", ("name_or_fn", "fn"), described=2),
}
"""Methods of a server, and functions of mcpcore and FastMCP, that decorate a handler."""

MIXED_IN: Final[dict[str, Way]] = {
    "mcp_tool": Way("tool"),
    "mcp_resource": Way("resource", name=None, uri=0),
    "mcp_prompt": Way("prompt"),
}
"""Decorators of `fastmcp.contrib.mcp_mixin`."""

ADDERS: Final[dict[str, Way]] = {
    "add_tool": Way("tool", ("fn", "tool"), described=2, annotated=3),
    "add_resource": Way("resource", ("resource", "fn"), name=None),
    "add_resource_fn": Way("resource", ("fn",), name=1, uri=0),
    "add_template": Way("resource", ("template", "fn"), name=None),
    "add_prompt": Way("prompt", ("prompt", "fn")),
    "add_prompt_fn": Way("prompt", ("fn",), described=1),
}
"""Methods of a server that take a handler, or what was made of one."""

FROM_TOOL: Final = Way("tool", ("tool",))
"""Makes a tool of another one."""

MADE: Final[dict[str, Way]] = {
    "Tool.from_function": Way("tool", ("fn",), described=2),
    "FunctionTool.from_function": Way("tool", ("fn",), described=2),
    "Tool.from_tool": FROM_TOOL,
    "TransformedTool.from_tool": FROM_TOOL,
    "FunctionTool": Way("tool", ("fn",), name=None, keyword_only=True),
    "ToolBinding": Way("tool", ("fn",), name=None),
    "Resource.from_function": Way("resource", ("fn",), name=1, uri=0),
    "FunctionResource.from_function": Way("resource", ("fn",), name=1, uri=0),
    "ResourceTemplate.from_function": Way("resource", ("fn",), name=1, uri=0),
    "FunctionResourceTemplate.from_function": Way("resource", ("fn",), name=1, uri=0),
    "FunctionResource": Way("resource", ("fn",), name=None, keyword_only=True),
    "Prompt.from_function": Way("prompt", ("fn",), described=2),
    "FunctionPrompt.from_function": Way("prompt", ("fn",), described=2),
}
"""The ends of the names of what makes a tool, a resource or a prompt of a function, to be added later."""

LOWLEVEL: Final[dict[str, ToolKind]] = {"call_tool": "tool"}
"""Decorators of the low-level server whose handler serves all tools."""
LOWLEVEL_KEYWORDS: Final[dict[str, ToolKind]] = {"on_call_tool": "tool"}
LOWLEVEL_REQUESTS: Final[dict[str, ToolKind]] = {"CallToolRequest": "tool", "tools/call": "tool"}
"""The same by the request that the handler answers: `request_handlers[...]` and `add_request_handler(...)`."""

LISTS: Final[dict[str, Way]] = {"tools": Way("tool"), "resources": Way("resource"), "prompts": Way("prompt")}
"""Parameters of a server's constructor that take several at once."""

NEAR: Final = {
    "tool": ("tool(", "tools=", "tools =", "on_call_tool"),
    "add_": ("add_tool", "add_resource", "add_template", "add_prompt", "add_request_handler"),
    "resource": ("resource(", "resources="),
    "prompt": ("prompt(",),
    "from_": ("from_function", "from_tool"),
    "Tool": ("FunctionTool(", "ToolBinding("),
    "Resource": ("FunctionResource(",),
}
"""Texts near every call that registers something, each below a part of it, without which a file is not searched for
it; decorators are found by themselves."""

HINTS: Final = ("tool", "resource", "prompt", "register", "mcp")
"""Parts of the names that projects give to functions of their own which register what they are given."""
