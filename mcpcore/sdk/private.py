"""Every private part of the SDK that mcpcore uses.

Nothing else in the package touches one. `tests/test_layers.py` looks for each entry in the SDK that is
installed, so that a release which moves one fails with a sentence that says what to change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.mcpserver import MCPServer


class PrivateUse(NamedTuple):
    """A private attribute of a library, and the reason to use it."""

    owner: str
    """The class that has the attribute, as `module:Class`."""

    attribute: str
    used_in: str
    """The modules of mcpcore that use it."""

    version: str
    """The version of the library in which it was read."""

    reason: str


_SERVER: Final = "mcp.server.mcpserver:MCPServer"

PRIVATE_USES: Final = tuple(
    PrivateUse(owner, attribute, used_in, "2.3.0", reason)
    for owner, attribute, used_in, reason in (
        (_SERVER, "_handle_call_tool", "sdk.server",
         "the handler of tools/call: a Server answers it, since the SDK makes texts of all exceptions"),
        (_SERVER, "_handle_list_tools", "sdk.server",
         "the handler of tools/list: a Server keeps the list, since the SDK makes a new one for each request"),
        (_SERVER, "_handle_read_resource", "sdk.server", "the handler of resources/read, likewise"),
        (_SERVER, "_handle_get_prompt", "sdk.server", "the handler of prompts/get, likewise"),
        (_SERVER, "_apply_extension", "sdk.server",
         "the tools, resources and methods of an extension: the SDK's constructor would register them too early"),
        (_SERVER, "_install_extension_interceptor", "sdk.server", "the calls that extensions see, likewise"),
        (_SERVER, "_tool_manager", "sdk.server", "the registered tools, which have no public list"),
        (_SERVER, "_resource_manager", "sdk.server",
         "the registered resources; a Server replaces it to notice exceptions that a resource returns"),
        (_SERVER, "_prompt_manager", "sdk.server", "the registered prompts, which have no public list"),
        (_SERVER, "_resource_security", "sdk.server", "the policy for variables in URIs, for new templates"),
        (_SERVER, "_subscriptions", "sdk.calls", "the bus that the context of a request needs"),
        (_SERVER, "_lowlevel_server", "sdk.private",
         "the server below, which has the handlers and runs on the streams of `mcpcore run`"),
        ("mcp.server.lowlevel.server:Server", "_server_info_stamp_source", "sdk.private",
         "the name and version that every answer carries: the SDK copies them deeply for each one"),
        ("mcp.server.mcpserver.tools:ToolManager", "_tools", "sdk.server",
         "the tools by name: the public method takes functions, and a contract tool is not one"),
        ("mcp.server.mcpserver.resources:ResourceManager", "_resources", "sdk.resources_and_prompts",
         "the resources by URI, to refuse a URI that is taken"),
        ("mcp.server.mcpserver.resources:ResourceManager", "_templates", "sdk.resources_and_prompts",
         "the templates by URI: the public method takes functions, and a contract resource is not one"),
        ("mcp.server.mcpserver.utilities.func_metadata:FuncMetadata", "_output_adapter", "sdk.returned",
         "the validator of results, which the SDK keeps; a second one would cost as much again"),
        ("mcp.server.session:ServerSession", "_connection", "sdk.private",
         "the connection of a request; a `ServerSession` is made for each request, and so says nothing of the session"),
        ("mcp.client.session:ClientSession", "_message_handler", "sdk.private",
         "the handler of messages, which can be given only when the session is made"),
    )
)  # fmt: skip
"""The uses, each with the version of the SDK in which it was read."""


def lowlevel_of(server: MCPServer[Any]) -> Any:
    """The server of the SDK's lower level that runs `server`."""
    return server._lowlevel_server  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def handler_of(server: MCPServer[Any], method: str) -> object:
    """The function of the class whose method answers requests of a kind, unless the application replaced it."""
    entry = lowlevel_of(server).get_request_handler(method)
    return getattr(entry and entry.handler, "__func__", None)


class _Identity(dict[str, Any]):
    """The name and version of a server, all texts: a deep copy is a plain dict with the same texts."""

    def __deepcopy__(self, memo: object) -> dict[str, Any]:
        return dict(self)


def copy_identity_once(lowlevel: Any) -> None:
    """Have the SDK put the name and version of `lowlevel`, a server of its lower level, into answers at less cost."""
    identity = lowlevel.server_info_stamp
    if all(type(part) is str for part in identity.values()):  # icons are lists
        lowlevel._server_info_stamp_source = _Identity(identity)  # noqa: SLF001


def session_of(wire: ServerRequestContext[Any, Any]) -> object | None:
    """An object that lives as long as the session of a request; None if the request has no session.

    Since the protocol of 2026-07-28, there is a connection for each request, but over stdio still one channel for all.
    Over HTTP, such requests have no channel, as those of a stateless server have none before.
    """
    connection = wire.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return connection.outbound if connection.has_standalone_channel else None


def watch_tools(session: Any, changed: Callable[[], object]) -> None:
    """Call `changed` when the server of `session`, a `ClientSession`, says that its tools have changed.

    The session keeps its own handler of messages. A session is watched once; any other object is left alone.
    """
    from mcp.client.session import ClientSession
    from mcp_types import ToolListChangedNotification

    if not isinstance(session, ClientSession):
        return
    handler = session._message_handler  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    if getattr(handler, "func", None) is _passed_on:
        return
    watcher = partial(_passed_on, handler, ToolListChangedNotification, changed)
    session._message_handler = watcher  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


async def _passed_on(
    handler: Callable[[Any], Awaitable[None]], kind: type, changed: Callable[[], object], message: Any
) -> None:
    """Pass a message on to the handler of a session; if it is of a `kind`, call `changed` first."""
    if isinstance(message, kind):
        changed()
    await handler(message)
