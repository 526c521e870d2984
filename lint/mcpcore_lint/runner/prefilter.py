"""Which files a run has to read, told by their bytes: most of a large tree defines no tool and declares no failure.

A search for bytes costs next to nothing beside parsing. What it lets through is read in full; what these files import
is found from there.
"""

from __future__ import annotations

from typing import Final

from mcpcore_lint.patterns import regex

SUPPRESSION: Final = b"mcpcore:"
"""Bytes without which a file has no suppression comment."""

NAME: Final = b"mcp"
"""Bytes that most files lack, and which `MENTIONS` begins with."""

FAMILIES: Final = (
    (NAME,),
    (b"MCP",),
    (b"tool", b".tool"),
    (b"tool", b"add_tool"),
    (b"tool", b"egister"),
    (b"esource", b".resource("),
    (b"rompt", b".prompt("),
    (b"@", b"@tool"),
    (b"@", b"@resource"),
    (b"@", b"@prompt"),
)
"""Bytes without which a file has nothing to do with MCP at all: all of one row have to be there."""

MENTIONS: Final = b"mcpcore"
"""Bytes without which a file has nothing of mcpcore and no suppression comment."""

DECLARES: Final = (b"FailureMode", b"Server", b"mcpcore:", b"external_tools")
"""What a file with mcpcore in it declares failure modes with, or registers tools, or names those of other servers;
others only raise errors."""

_TOOL: Final = regex(rb"tool(?<!\wtool)(?!\w)")

REGISTERS: Final = tuple(
    (marks, regex(pattern))
    for marks, pattern in (
        ((b"tool", b".tool"), rb"\.tool(?![\w.])"),
        ((b"@",), rb"@(?!functools)[\w.]*(?:[tT]ool|[rR]esource|[pP]rompt|[rR]egister|mcp|MCP)"),
        ((b"tool", b"_tool", b"add_tool"), rb"add_tool"),
        ((b"tool", b"_tool", b".from_tool"), rb"\.from_tool\b"),
        (
            (b"tool", b"_tool", b"call_tool"),
            rb"(?<!\.)\bcall_tool\b|\.call_tool\(\s*(?:\)|validate_input)|on_call_tool",
        ),
        ((b"tool", b"tools", b"MCP("), rb"tools\s*=(?!=)"),
        ((b"tool", b"tools", b"erver("), rb"tools\s*=(?!=)"),
        ((b"tool", b"tools", b"__init__("), rb"__init__\([^)]*\btools\s*=(?!=)"),
        # What a function of the project hands on to a server: `audited_tool(mcp, ...)(fn)`, `register(mcp, fn)`.
        ((b"tool", b")("), rb"\)\(\s*[\w.]+\s*[,)]"),
        ((b"egister", b"register"), rb"register\w*\(\s*[\w.]+\s*,"),
        ((b"Tool", b"FunctionTool("), rb"FunctionTool\("),
        ((b"Tool", b"ToolBinding("), rb"ToolBinding\("),
        ((b"esource", b".resource"), rb"\.resource(?![\w.])"),
        ((b"esource", b"add_resource"), rb"add_resource"),
        ((b"esource", b"resources", b"erver("), rb"resources\s*=(?!=)"),
        ((b"esource", b"FunctionResource"), rb"FunctionResource(?:Template)?\("),
        ((b"esource", b"ResourceBinding("), rb"ResourceBinding\("),
        ((b"rompt", b".prompt"), rb"\.prompt(?![\w.])"),
        ((b"rompt", b"add_prompt"), rb"add_prompt"),
        ((b"rompt", b"FunctionPrompt("), rb"FunctionPrompt\("),
        ((b"add_template",), rb"add_template"),
        ((b"request_handler", b"add_request_handler"), rb"add_request_handler"),
        ((b"request_handler", b"request_handlers"), rb"request_handlers\s*\["),
        ((b".from_function",), rb"\.from_function\b"),
    )
)
"""Bytes with which a file can register a tool, a resource or a prompt, each with the pattern that tells for sure.

What several share comes first in each: a file is searched for it once.
"""


def speaks_of_mcp(raw: bytes, *, mentions: bool = False) -> bool:
    """Whether a file may define tools, resources or prompts, or declare how they fail, as far as its bytes tell.

    With `mentions`, every file that speaks of mcpcore counts.
    """
    # Each search goes through the whole file, so that the rarest texts come first, and none is made twice.
    named = NAME in raw
    if named and MENTIONS in raw and (mentions or any(mark in raw for mark in DECLARES) or _TOOL.search(raw)):
        return True
    found: dict[bytes, bool] = {NAME: named}

    def there(marks: tuple[bytes, ...]) -> bool:
        for mark in marks:
            known = found.get(mark)
            if known is None:
                known = found[mark] = mark in raw
            if not known:
                return False
        return True

    for family in FAMILIES:
        if there(family):
            break
    else:
        return False
    return any(there(marks) and pattern.search(raw) is not None for marks, pattern in REGISTERS)
