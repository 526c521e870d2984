"""The framework that a tool's server runs on, and how that framework handles an exception of a handler.

The table follows the sources of the SDK 1.28 and 2.3 and of FastMCP 2.14, 3.4 and 4.1; a test runs the newest of each.
Rules take their advice for servers without mcpcore from here.
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
    """How an exception in the handler of a tool, a resource or a prompt reaches the client."""

    shows: str
    """What the client gets: `TEXT`, `PROTOCOL`, or a sentence in place of the text; `{name}` is the tool's name."""
    instead: str
    """How to fail so that the client reads a text that the author chose."""

    @property
    def sends(self) -> bool:
        """Whether the client gets the text of any exception."""
        return self.shows == TEXT


class Framework(NamedTuple):
    """One way in which servers are built."""

    name: str
    """What sends or hides the texts, as messages call it."""
    servers: str
    """Which servers these are, for the documentation."""
    tool: Handling
    resource: Handling
    prompt: Handling
    protocol_error: str
    """What the client gets of the SDK's MCPError (McpError in version 1) that a tool raises, as `Handling.shows`."""

    def handling(self, kind: ToolKind) -> Handling:
        """The handling of exceptions in the handlers of a kind."""
        return {"tool": self.tool, "resource": self.resource, "prompt": self.prompt}[kind]

    def effect(self, shows: str, tool: ToolDef) -> str:
        """The rest of a sentence that begins "the tool raises ValueError, "."""
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
"""The frameworks by name, each with its handling of exceptions."""


def as_markdown() -> str:
    """The handling of exceptions in tools, as a table for the documentation."""
    rows = ["| server | what the client gets of `ValueError` in the tool `fetch` | so |", "|---|---|---|"]
    for framework in TABLE.values():
        if framework.servers:
            shows = framework.tool.shows
            gets = shows if shows in {TEXT, PROTOCOL} else f'"{shows.format(name="fetch")}"'
            rows.append(f"| {framework.servers} | {gets} | {framework.tool.instead} |")
    return "\n".join(rows)


_MASKS: Final = regex(r"\bmask_error_details\s*=\s*True\b")

_OF_SDK_1: Final = frozenset({("mcp.server", "FastMCP"), ("mcp", "McpError"), ("mcp.shared.exceptions", "McpError")})
_OF_SDK_2: Final = frozenset(
    {("mcp.server", "MCPServer"), ("mcp", "MCPError"), ("mcp.shared.exceptions", "MCPError"), ("mcp", "MCPServer")}
)
"""Names that only one version of the SDK has, with the modules that they are imported from."""


class _Imports(NamedTuple):
    """The frameworks that a file imports."""

    mcpcore: bool = False
    versions: frozenset[int] = frozenset()
    """The versions of the SDK that have the imported names."""


def _imports(module: Module) -> _Imports:
    known: _Imports | None = module.memo.get("frameworks imported")
    if known is None:
        known = module.memo["frameworks imported"] = _read_imports(module) if module.source.has("mcp") else _Imports()
    return known


def _read_imports(module: Module) -> _Imports:
    mcpcore = False
    versions: set[int] = set()
    for bindings in module.scope.bindings.values():
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
    """The files that say what a tool runs on: its own, its handler's, and that of its server."""
    modules = [tool.module, tool.handler.module]
    path = (tool.server or "").partition(":")[0]
    server = tool.module.project.module_at(path) if path.endswith(".py") else None
    if server is not None:
        modules.append(server)
    return list(dict.fromkeys(modules))


def uses_mcpcore(tool: ToolDef) -> bool:
    """Whether the project that a tool belongs to has mcpcore, so that advice may name it."""
    if tool.flavour == "mcpcore" or tool.contract is not None:
        return True
    if any(_imports(module).mcpcore for module in _files_of(tool)):
        return True
    requirements = tool.module.project.requirements(tool.module)
    if requirements.declared:
        return requirements.mcpcore
    return any(_imports(module).mcpcore for module in _imported_by(tool.module))


def _imported_by(module: Module) -> list[Module]:
    """The files of the project that a file imports, one step far."""
    names = {
        (binding.target[0], binding.target[2])
        for bindings in module.scope.bindings.values()
        for binding in bindings
        if binding.target is not None
    }
    imported = [module.project.module_of(module, name, level) for name, level in sorted(names)]
    return [each for each in imported if each is not None]


def framework_of(tool: ToolDef) -> Framework:
    """The framework that a tool of a server without mcpcore runs on."""
    modules = _files_of(tool)
    versions = {version for module in modules for version in _imports(module).versions}
    requirements = tool.module.project.requirements(tool.module)
    if tool.flavour == "fastmcp" or (tool.flavour == "sdk" and not versions and requirements.fastmcp):
        # A server that another file hands over, in a project with FastMCP, is one of FastMCP.
        masked = any(_MASKS.search(module.source.text) for module in modules if module.source.has("mask_error"))
        return TABLE["fastmcp-masked" if masked else "fastmcp"]
    # A file that imports the names of both versions runs on version 2 where that is installed.
    version = _version_of(tool) or max(versions, default=requirements.sdk)
    if tool.flavour == "lowlevel":
        # If the version is not known, assume the one that sends the text: it needs no findings.
        return TABLE["sdk-1-lowlevel" if version is None or version < 2 else "sdk-2-lowlevel"]
    return TABLE["sdk" if version is None else "sdk-1" if version < 2 else "sdk-2"]


def _version_of(tool: ToolDef) -> int | None:
    """The version of the SDK that the registration of a low-level handler shows."""
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
    """Whether a tool is registered on a server, rather than kept by a decorator of the project.

    The project may wrap the tools that it keeps, and raise ToolError in place of their exceptions.
    """
    return tool.server is not None
