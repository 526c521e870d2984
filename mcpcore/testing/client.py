"""`tool_client`: the SDK's client for any server, in memory and strict by default."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import anyio
from mcp import Client
from mcp.server import Server as LowLevelServer
from mcp.server.mcpserver import MCPServer

from mcpcore.boundary.strictness import strict_scope
from mcpcore.contract.failure_modes import ContractError
from mcpcore.values.jsonable import safe_str
from mcpcore.values.unwrapping import is_a, leaves_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastmcp import FastMCP


@asynccontextmanager
async def tool_client(
    server: MCPServer[Any] | FastMCP[Any] | LowLevelServer[Any], *, strict: bool | None = True, **options: Any
) -> AsyncIterator[Client]:
    """Start `server` in memory, and yield the SDK's client for it.

    ```python
    async with tool_client(server) as client:
        result = await client.call_tool("get_order", {"order_id": "A-9"})
    assert result.is_error
    ```

    The client is the same for each kind of server. A tool that fails returns a `CallToolResult` whose `is_error` is
    true. A resource or a prompt that fails raises the SDK's `MCPError`, as an unknown tool does by default.

    Args:
        server: A `mcpcore.Server`, a server of the SDK or a FastMCP server; its lifespan runs.
        strict: Whether the server is strict while the client is open. With None, the server's own option decides.
        **options: Options of `mcp.Client`, such as `elicitation_callback` or `mode`. The default of `cache` is None, so
            that each request reaches the server.

    Raises:
        TypeError: If `server` is not a server.
        Exception: The exception that keeps the server from starting, as its own code raised it. A strict server with an
            unknown fallback tool raises a `ContractError`.
    """
    client = Client(connectable(server), **{"cache": None, **options})
    failure: BaseException | None = None
    with nullcontext() if strict is None else strict_scope(server, strict=strict):
        try:
            async with client:
                try:
                    _require_accepted(server)
                    yield client
                except BaseException as exc:
                    if _ends_the_task(exc):
                        raise
                    failure = exc
        except BaseException as exc:
            if _ends_the_task(exc):
                raise
            if failure is None:
                failure = _cause_of(exc, server)
            else:
                failure.add_note(f"The server failed to stop, too: {type(exc).__name__}: {safe_str(exc)}")
    if failure is not None:
        # Here, since the task groups of the client would put it into a group.
        try:
            raise failure
        finally:
            del failure


def connectable(server: object, *, taker: str = "tool_client") -> MCPServer[Any] | LowLevelServer[Any]:
    """What the client of the SDK connects to in memory.

    Raises:
        TypeError: If `server` is not a server; the message names the `taker`.
    """
    if isinstance(server, MCPServer | LowLevelServer):
        return server
    if "fastmcp" in sys.modules:
        from mcpcore.integrations.fastmcp.private import lowlevel_of

        lowlevel = lowlevel_of(server)
        if isinstance(lowlevel, LowLevelServer):
            return lowlevel
    raise TypeError(
        f"{taker}(...) takes a Server, an MCPServer or a FastMCP server, not {type(server).__name__}; for a server "
        "that runs elsewhere, use mcp.Client"
    )


def _ends_the_task(exc: BaseException) -> bool:
    return is_a(exc, (anyio.get_cancelled_exc_class(), GeneratorExit))


def _refusal_of(server: object) -> ContractError | None:
    """Why a `ContractMiddleware` refuses the messages to `server`: FastMCP has no way to refuse the start."""
    for middleware in getattr(server, "middleware", ()):
        startup_failure = getattr(middleware, "startup_failure", None)
        refusal = None if startup_failure is None else startup_failure(server)
        if refusal is not None:
            return ContractError(str(refusal))  # without the errors of the client, which reads the refusal
    return None


def _require_accepted(server: object) -> None:
    refusal = _refusal_of(server)
    if refusal is not None:
        raise refusal


def _cause_of(exc: BaseException, server: object) -> BaseException:
    """The exception behind `exc`: the one that kept `server` from starting, or the only one in a group."""
    leaves = list(leaves_of(exc))
    return _refusal_of(server) or (leaves[0] if len(leaves) == 1 else exc)
