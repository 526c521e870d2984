"""Decides by a file's bytes whether it can define tools or declare failures. Most files of a large tree cannot.

Searching for bytes costs next to nothing compared with parsing. Only matching files, and the files that they import,
are parsed.
"""

from typing import Final

from mcpcore_lint.patterns import regex

SUPPRESSION: Final = b"mcpcore:"
"""Every suppression comment contains these bytes."""

NAME: Final = b"mcp"
"""Most files do not contain these bytes, with which `MENTIONS` begins."""

FAMILIES: Final = (
    (NAME,),
    (b"MCP",),
    (b"tool", b".tool"),
    (b"tool", b"add_tool"),
    (b"tool", b"egister"),
    (b"esource", b".resource("),
    (b"rompt", b".prompt("),
    (b"tool", b"@tool"),
    (b"esource", b"@resource"),
    (b"rompt", b"@prompt"),
)
"""A file that has to do with MCP contains all bytes of one row."""

MENTIONS: Final = b"mcpcore"
"""A file that uses mcpcore or has a suppression comment contains these bytes."""

DECLARES: Final = (b"FailureMode", b"Server", b"mcpcore:", b"external_tools")
"""A file with mcpcore that contains none of these only raises errors: it declares no failure modes, registers no tools
and lists no tools of other servers."""

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
        # A function of the project may register its argument: `audited_tool(mcp, ...)(fn)`, `register(mcp, fn)`.
        ((b"tool", b")("), rb"\)\(\s*[\w.]+\s*[,)]"),
        ((b"egister", b"register"), rb"register\w*\(\s*[\w.]+\s*,"),
        # The file that makes a server may hand it to functions of other files: `setup(mcp)`.
        ((b"MCP(",), rb"\w\((?:\s*\w+\s*=)?\s*(?:mcp|server|app)\w*\s*[,)]"),
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
        ((b".from_",), rb"\.from_(?:fastapi|openapi)\b"),
    )
)
"""Bytes of which a registration of a tool, resource or prompt contains all, with the pattern that decides.

Bytes that several rows share come first in each row. A file is searched for them once.
"""


def speaks_of_mcp(raw: bytes, *, mentions: bool = False) -> bool:
    """Whether a file may define tools, resources or prompts, or declare how they fail.

    With `mentions`, every file that contains `mcpcore` counts.
    """
    # Each search reads the whole file, so the rarest bytes come first, and no search is repeated.
    named = NAME in raw
    if named and MENTIONS in raw and (mentions or any(mark in raw for mark in DECLARES) or _TOOL.search(raw)):
        return True
    searched: dict[bytes, bool] = {NAME: named}

    def there(marks: tuple[bytes, ...]) -> bool:
        for mark in marks:
            if mark not in searched:
                searched[mark] = mark in raw
            if not searched[mark]:
                return False
        return True

    if not any(map(there, FAMILIES)):
        return False
    return any(there(marks) and pattern.search(raw) is not None for marks, pattern in REGISTERS)
