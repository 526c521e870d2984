"""The framework that a tool's server uses, and what its client sees of an exception.

The table follows the sources of SDK 1.28 and 2.3 and of FastMCP 2.14, 3.4 and 4.1. A test runs the newest of each.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.records import ToolKind


TEXT: Final = "the text of the exception"
PROTOCOL: Final = "a JSON-RPC error that most hosts never show to the model"


class Handling(NamedTuple):
    """What the client sees of an exception in the handler of a tool, a resource or a prompt."""

    shows: str
    """`TEXT`, `PROTOCOL`, or a text that replaces that of the exception; `{name}` is the tool's name."""
    instead: str
    """How to fail with a text that the client sees."""

    @property
    def sends(self) -> bool:
        """Whether the client sees the text of any exception."""
        return self.shows == TEXT


class Framework(NamedTuple):
    """A framework, with its handling of exceptions."""

    name: str
    """Its name in messages."""
    servers: str
    """Its servers, for the documentation."""
    tool: Handling
    resource: Handling
    prompt: Handling
    protocol_error: str = TEXT
    """What the client sees of the SDK's MCPError (McpError in version 1) from a tool, as in `Handling.shows`."""

    def handling(self, kind: ToolKind) -> Handling:
        """The handling of exceptions in the handlers of a kind."""
        return {"tool": self.tool, "resource": self.resource, "prompt": self.prompt}[kind]

    def effect(self, shows: str, tool: ToolDef) -> str:
        """The end of a sentence that begins "the tool raises ValueError, "."""
        if shows == TEXT:
            return f"whose text {self.name} sends"
        if shows == PROTOCOL:
            return f"which becomes {PROTOCOL}"
        return f"whose text {self.name} hides: the client reads only '{shows.format(name=tool.display_name)}'"


def _sends(error: str) -> Handling:
    """The client sees the text of any exception; `error` is the class that says so best."""
    return Handling(TEXT, _raise(error))


def _raise(error: str) -> str:
    return f"raise {error} with what the caller can do next"


_ANY: Final = Handling(TEXT, "raise an exception that says what the caller can do next")
_RESULT: Final = "return CallToolResult(is_error=True) with a text that says what the caller can do next"
_BECOMES_PROTOCOL_ERROR: Final = Handling(PROTOCOL, _raise("MCPError"))
_SDK_1: Final = Framework("SDK 1", "`FastMCP` of SDK 1", _sends("ToolError"), _sends("ResourceError"), _ANY)

TABLE: Final[Mapping[str, Framework]] = {
    "sdk-1": _SDK_1,
    "sdk-1-lowlevel": Framework("SDK 1", "low-level `Server` of SDK 1", _ANY, _ANY, _ANY),
    "sdk-2": Framework(
        "SDK 2",
        "`MCPServer` of SDK 2",
        tool=Handling("Error executing tool {name}", _raise("ToolError")),
        resource=Handling("Error reading resource", _raise("ResourceError")),
        prompt=Handling("Error rendering prompt {name}", _raise("MCPError")),
        protocol_error=PROTOCOL,
    ),
    "sdk-2-lowlevel": Framework(
        "SDK 2",
        "low-level `Server` of SDK 2",
        tool=Handling(PROTOCOL, _RESULT),
        resource=_BECOMES_PROTOCOL_ERROR,
        prompt=_BECOMES_PROTOCOL_ERROR,
        protocol_error=PROTOCOL,
    ),
    "sdk": _SDK_1._replace(name="version 1 of the SDK", servers=""),  # the version is not known
    "fastmcp": Framework(
        "FastMCP", "FastMCP 2 to 4", _sends("ToolError"), _sends("ResourceError"), _sends("PromptError")
    ),
    "fastmcp-masked": Framework(
        "FastMCP with mask_error_details=True",
        "FastMCP with `mask_error_details=True`",
        tool=Handling("Error calling tool {name}", _raise("ToolError")),
        resource=Handling("Error reading resource", _raise("ResourceError")),
        prompt=_sends("PromptError"),  # masked only where the prompt is no function
        protocol_error="Error calling tool {name}",
    ),
}


def as_markdown() -> str:
    """The handling of exceptions in tools, as a table for the documentation."""
    rows = ["| server | what the client sees of a `ValueError` in the tool `fetch` | instead |", "|---|---|---|"]
    for framework in TABLE.values():
        if framework.servers:
            shows = framework.tool.shows
            seen = shows if shows in {TEXT, PROTOCOL} else f'"{shows.format(name="fetch")}"'
            rows.append(f"| {framework.servers} | {seen} | {framework.tool.instead} |")
    return "\n".join(rows)


_MASKS: Final = regex(r"\bmask_error_details\s*=\s*True\b")

_VERSIONS: Final = {"McpError": 1, "FastMCP": 1, "fastmcp": 1, "MCPError": 2, "MCPServer": 2, "mcpserver": 2}
"""The names in the package `mcp` that only one version of the SDK has."""


def _imports(module: Module) -> tuple[bool, frozenset[int]]:
    """Whether a file imports mcpcore, and the versions of the SDK that have what it imports."""
    return module.once("imported frameworks", lambda: _imported(module))


def _imported(module: Module) -> tuple[bool, frozenset[int]]:
    bindings = [binding for same_name in module.scope.bindings.values() for binding in same_name]
    targets = [binding.target for binding in bindings if binding.target is not None and not binding.target[2]]
    names = [(*package.split("."), name) for package, name, _ in targets]
    versions = {_VERSIONS[part] for first, *parts in names if first == "mcp" for part in parts if part in _VERSIONS}
    return any(first == "mcpcore" for first, *_ in names), frozenset(versions)


def _files_of(tool: ToolDef) -> list[Module]:
    """The files that show the framework of a tool: its own, its handler's, and that of its server."""
    path = (tool.server or "").partition(":")[0]
    server = tool.module.project.module_at(path) if path.endswith(".py") else None
    return list(dict.fromkeys(filter(None, (tool.module, tool.handler.module, server))))


def uses_mcpcore(tool: ToolDef) -> bool:
    """Whether the project of a tool uses mcpcore, so that advice may name it."""
    if tool.flavour == "mcpcore" or tool.contract is not None:
        return True
    return (
        any(_imports(module)[0] for module in _files_of(tool)) or tool.module.project.requirements(tool.module).mcpcore
    )


def framework_of(tool: ToolDef) -> Framework:
    """The framework of a tool, for servers without mcpcore."""
    modules = _files_of(tool)
    versions = {version for module in modules for version in _imports(module)[1]}
    requirements = tool.module.project.requirements(tool.module)
    if tool.flavour == "fastmcp" or (tool.flavour == "sdk" and not versions and requirements.fastmcp):
        # In a project with FastMCP, a server that is passed in from elsewhere is one of FastMCP.
        masked = any(_MASKS.search(module.source.text) for module in modules if module.source.has("mask_error"))
        return TABLE["fastmcp-masked" if masked else "fastmcp"]
    # A file that imports the names of both versions uses version 2 if it is installed.
    version = max(versions, default=requirements.sdk)
    if tool.flavour == "lowlevel":
        # If the version is not known, assume version 1: it sends the text, so there is nothing to report.
        return TABLE["sdk-2-lowlevel" if is_of_version_2(tool) or (version or 1) > 1 else "sdk-1-lowlevel"]
    return TABLE["sdk" if version is None else "sdk-1" if version < 2 else "sdk-2"]


def is_of_version_2(tool: ToolDef) -> bool:
    """Whether a low-level handler is registered in a way that version 1 of the SDK does not have."""
    call = tool.registration.func if isinstance(tool.registration, ast.Call) else tool.registration
    is_added = isinstance(call, ast.Attribute) and call.attr == "add_request_handler"
    return is_added or tool.decorator_keyword("on_call_tool") is not None
