"""Which files a run has to read, told by their bytes: most of a large tree defines no tool and declares no failure.

A search for bytes goes through a tree some two hundred times as fast as the parser does. What it lets through is read
in full; what these files import is found from there.
"""

from __future__ import annotations

import re
from typing import Final

SUPPRESSION: Final = b"mcpcore:"
"""Bytes without which a file has no suppression comment."""

FAMILIES: Final = (b"mcp", b"MCP", b"@tool", b".tool", b"add_tool", b"@resource", b"@prompt")
"""Bytes without which a file has nothing to do with MCP at all."""

MENTIONS: Final = b"mcpcore"
"""Bytes without which a file has nothing of mcpcore and no suppression comment."""

DECLARES: Final = (b"FailureMode", b"Server", b"mcpcore:")
"""What a file with mcpcore in it declares failure modes with, or registers tools; others only raise errors."""

_TOOL: Final = re.compile(rb"tool(?<!\wtool)(?!\w)")

REGISTERS: Final = tuple(
    (marks, re.compile(pattern))
    for marks, pattern in (
        ((b".tool",), rb"\.tool(?![\w.])"),
        ((b"@",), rb"@(?!functools)[\w.]*(?:[tT]ool|[rR]esource|[pP]rompt|[rR]egister|mcp|MCP)\w*"),
        ((b"add_",), rb"add_(?:tool|resource|prompt|template|request_handler)"),
        ((b".resource",), rb"\.resource(?![\w.])"),
        ((b".prompt",), rb"\.prompt(?![\w.])"),
        ((b".from_function",), rb"\.from_function\b"),
        ((b".from_tool",), rb"\.from_tool\b"),
        ((b"call_tool",), rb"(?<!\.)\bcall_tool\b|\.call_tool\(\s*(?:\)|validate_input)|on_call_tool"),
        ((b"request_handlers",), rb"request_handlers\s*\["),
        ((b"tools", b"MCP("), rb"tools\s*=(?!=)"),
        ((b"tools", b"erver("), rb"tools\s*=(?!=)"),
        ((b"resources", b"erver("), rb"resources\s*=(?!=)"),
        ((b"__init__(", b"tools"), rb"__init__\([^)]*\btools\s*=(?!=)"),
        ((b"Function",), rb"Function(?:Tool|Resource|ResourceTemplate|Prompt)\("),
        ((b"Binding(",), rb"(?:Tool|Resource)Binding\("),
        # What a function of the project hands on to a server: `audited_tool(mcp, ...)(fn)`, `register(mcp, fn)`.
        ((b")(", b"tool"), rb"\)\(\s*[\w.]+\s*[,)]"),
        ((b"register",), rb"register\w*\(\s*[\w.]+\s*,"),
    )
)
"""Bytes with which a file can register a tool, a resource or a prompt, each with the pattern that tells for sure."""


def speaks_of_mcp(raw: bytes, *, mentions: bool = False) -> bool:
    """Whether a file may define tools, resources or prompts, or declare how they fail, as far as its bytes tell.

    With `mentions`, every file that speaks of mcpcore counts.
    """
    # Each search goes through the whole file, so that the rarest texts come first.
    if MENTIONS in raw and (mentions or any(mark in raw for mark in DECLARES) or _TOOL.search(raw) is not None):
        return True
    if not any(mark in raw for mark in FAMILIES):
        return False
    for marks, pattern in REGISTERS:
        for mark in marks:
            if mark not in raw:
                break
        else:
            if pattern.search(raw) is not None:
                return True
    return False
