"""The framework that a tool's server uses, and what its client sees of an exception.

The table follows the sources of SDK 1.28 and 2.3 and of FastMCP 2.14, 3.4 and 4.1. A test runs the newest of each.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.records import ToolKind
    from mcpcore_lint.syntax.module import Module


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
    protocol_error: str
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


_TOOL_ERROR: Final = "raise ToolError with what the caller can do next"
_RESOURCE_ERROR: Final = "raise ResourceError with what the caller can do next"
_PROMPT_ERROR: Final = "raise PromptError with what the caller can do next"
_MCP_ERROR: Final = "raise MCPError with what the caller can do next"
_EXCEPTION: Final = "raise an exception that says what the caller can do next"
_RESULT: Final = "return CallToolResult(is_error=True) with a text that says what the caller can do next"

TABLE: Final[Mapping[str, Framework]] = {
    "sdk-1": Framework(
        "SDK 1",
        "`FastMCP` of SDK 1",
        tool=Handling(TEXT, _TOOL_ERROR),
        resource=Handling(TEXT, _RESOURCE_ERROR),
        prompt=Handling(TEXT, _EXCEPTION),
        protocol_error=TEXT,
    ),
    "sdk-1-lowlevel": Framework(
        "SDK 1",
        "low-level `Server` of SDK 1",
        tool=Handling(TEXT, _EXCEPTION),
        resource=Handling(TEXT, _EXCEPTION),
        prompt=Handling(TEXT, _EXCEPTION),
        protocol_error=TEXT,
    ),
    "sdk-2": Framework(
        "SDK 2",
        "`MCPServer` of SDK 2",
        tool=Handling("Error executing tool {name}", _TOOL_ERROR),
        resource=Handling("Error reading resource", _RESOURCE_ERROR),
        prompt=Handling("Error rendering prompt {name}", _MCP_ERROR),
        protocol_error=PROTOCOL,
    ),
    "sdk-2-lowlevel": Framework(
        "SDK 2",
        "low-level `Server` of SDK 2",
        tool=Handling(PROTOCOL, _RESULT),
        resource=Handling(PROTOCOL, _MCP_ERROR),
        prompt=Handling(PROTOCOL, _MCP_ERROR),
        protocol_error=PROTOCOL,
    ),
    "sdk": Framework(
        "version 1 of the SDK",
        "",  # the version is not known
        tool=Handling(TEXT, _TOOL_ERROR),
        resource=Handling(TEXT, _RESOURCE_ERROR),
        prompt=Handling(TEXT, _EXCEPTION),
        protocol_error=TEXT,
    ),
    "fastmcp": Framework(
        "FastMCP",
        "FastMCP 2 to 4",
        tool=Handling(TEXT, _TOOL_ERROR),
        resource=Handling(TEXT, _RESOURCE_ERROR),
        prompt=Handling(TEXT, _PROMPT_ERROR),
        protocol_error=TEXT,
    ),
    "fastmcp-masked": Framework(
        "FastMCP with mask_error_details=True",
        "FastMCP with `mask_error_details=True`",
        tool=Handling("Error calling tool {name}", _TOOL_ERROR),
        resource=Handling("Error reading resource", _RESOURCE_ERROR),
        prompt=Handling(TEXT, _PROMPT_ERROR),  # masked only where the prompt is no function
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

_OF_SDK_1: Final = frozenset({("mcp.server", "FastMCP"), ("mcp", "McpError"), ("mcp.shared.exceptions", "McpError")})
_OF_SDK_2: Final = frozenset(
    {("mcp.server", "MCPServer"), ("mcp", "MCPError"), ("mcp.shared.exceptions", "MCPError"), ("mcp", "MCPServer")}
)
"""Names that only one version of the SDK has, with the modules that they are imported from."""


class _Imports(NamedTuple):
    """The frameworks that a file imports."""

    mcpcore: bool
    sdk_versions: frozenset[int]
    """The versions of the SDK that have the imported names."""


def _imports(module: Module) -> _Imports:
    imports: _Imports | None = module.memo.get("imported frameworks")
    if imports is None:
        imports = module.memo["imported frameworks"] = _read_imports(module)
    return imports


def _read_imports(module: Module) -> _Imports:
    mcpcore = False
    versions: set[int] = set()
    for bindings in module.scope.bindings.values() if module.source.has("mcp") else ():
        for binding in bindings:
            if binding.target is None or binding.target[2]:
                continue
            package, name, _ = binding.target
            mcpcore = mcpcore or package.partition(".")[0] == "mcpcore"
            if package.startswith("mcp.server.fastmcp") or (package, name) in _OF_SDK_1:
                versions.add(1)
            elif package.startswith("mcp.server.mcpserver") or (package, name) in _OF_SDK_2:
                versions.add(2)
    return _Imports(mcpcore, frozenset(versions))


def _files_of(tool: ToolDef) -> list[Module]:
    """The files that show the framework of a tool: its own, its handler's, and that of its server."""
    modules = [tool.module, tool.handler.module]
    path = (tool.server or "").partition(":")[0]
    server = tool.module.project.module_at(path) if path.endswith(".py") else None
    if server is not None:
        modules.append(server)
    return list(dict.fromkeys(modules))


def uses_mcpcore(tool: ToolDef) -> bool:
    """Whether the project of a tool uses mcpcore, so that advice may name it."""
    if tool.flavour == "mcpcore" or tool.contract is not None:
        return True
    if any(_imports(module).mcpcore for module in _files_of(tool)):
        return True
    requirements = tool.module.project.requirements(tool.module)
    if requirements.declared:
        return requirements.mcpcore
    return any(_imports(module).mcpcore for module in _imported_by(tool.module))


def _imported_by(module: Module) -> list[Module]:
    """The files of the project that a file imports directly."""
    names = {
        (binding.target[0], binding.target[2])
        for bindings in module.scope.bindings.values()
        for binding in bindings
        if binding.target is not None
    }
    modules = [module.project.module_of(module, name, level) for name, level in sorted(names)]
    return [imported for imported in modules if imported is not None]


def framework_of(tool: ToolDef) -> Framework:
    """The framework of a tool, for servers without mcpcore."""
    modules = _files_of(tool)
    versions = {version for module in modules for version in _imports(module).sdk_versions}
    requirements = tool.module.project.requirements(tool.module)
    if tool.flavour == "fastmcp" or (tool.flavour == "sdk" and not versions and requirements.fastmcp):
        # In a project with FastMCP, a server that is passed in from elsewhere is one of FastMCP.
        masked = any(_MASKS.search(module.source.text) for module in modules if module.source.has("mask_error"))
        return TABLE["fastmcp-masked" if masked else "fastmcp"]
    # A file that imports the names of both versions uses version 2 if it is installed.
    version = _version_of(tool) or max(versions, default=requirements.sdk)
    if tool.flavour == "lowlevel":
        # If the version is not known, assume version 1: it sends the text, so there is nothing to report.
        return TABLE["sdk-1-lowlevel" if version is None or version < 2 else "sdk-2-lowlevel"]
    return TABLE["sdk" if version is None else "sdk-1" if version < 2 else "sdk-2"]


def _version_of(tool: ToolDef) -> int | None:
    """The version of the SDK, if the registration of a low-level handler shows it."""
    if tool.flavour != "lowlevel":
        return None
    call = tool.registration.func if isinstance(tool.registration, ast.Call) else tool.registration
    attribute = call.attr if isinstance(call, ast.Attribute) else ""
    if attribute == "call_tool":
        return 1  # version 2 has no such decorator
    if attribute == "add_request_handler" or tool.decorator_keyword("on_call_tool") is not None:
        return 2  # version 1 has neither
    return None


def registered_in_sight(tool: ToolDef) -> bool:
    """Whether a tool is registered on a server, rather than collected by a decorator of the project.

    The project may wrap the tools that it collects and raise ToolError in place of their exceptions.
    """
    return tool.server is not None
