"""The same tool, as its author writes it for each framework in Python.

`python servers.py NAME` serves one over stdio. The author says the same in each: what went wrong, what
to do next, and when to call again. `server.mjs` is the same for mcp-ts-core.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent
from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Callable

TOOL: Final = "reserve"
ADDRESS: Final = "postgres://desk:hunter2@10.0.0.7:5432/books"
"""The address in the texts of the exceptions. No client may see it."""

CASES: Final[dict[str, dict[str, Any]]] = {
    "unknown": {"book": "B-9", "copies": 1},
    "down": {"book": "B-2", "copies": 1},
    "crash": {"book": "B-3", "copies": 1},
    "arguments": {"book": "B-1", "copies": "a few"},
}
"""The arguments of each failing call."""
SUCCESS: Final = {"book": "B-1", "copies": 1}

UNKNOWN: Final = "There is no book with this id."
SEARCH: Final = "Call search_books to find the right id."
DOWN: Final = "The catalogue does not answer."
WAIT: Final = "Wait 30 seconds, then call again."

Book = Annotated[str, Field(description="Id of the book.")]
Copies = Annotated[int, Field(description="How many to reserve.", ge=1)]


def reserve_in_catalogue(book: str, copies: int) -> str:
    """Fail as the id says, with the address in the text of the exception."""
    match book:
        case "B-9":
            raise LookupError(book)
        case "B-2":
            raise ConnectionError(f"cannot connect to {ADDRESS}")
        case "B-3":
            raise RuntimeError(f"unexpected row from {ADDRESS}")
    return f"{copies} of {book} are reserved."


def with_tool_error(error: type[Exception]) -> Callable[..., str]:
    """The tool with the exception that a framework has for failures of tools."""

    def reserve(book: Book, copies: Copies) -> str:
        """Reserve copies of a book."""
        try:
            return reserve_in_catalogue(book, copies)
        except LookupError as cause:
            raise error(f"{UNKNOWN} {SEARCH}") from cause
        except ConnectionError as cause:
            raise error(f"{DOWN} {WAIT}") from cause

    return reserve


def sdk() -> MCPServer:
    """The SDK with its own `ToolError`."""
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("desk")
    server.add_tool(with_tool_error(ToolError))
    return server


def fastmcp(**options: Any) -> Any:
    """FastMCP with its own `ToolError` and, if nothing else is said, its default options."""
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError

    server = FastMCP("desk", **options)
    server.tool(with_tool_error(ToolError))
    return server


def by_hand() -> MCPServer:
    """The SDK with a result that the author writes out for each failure."""
    server = MCPServer("desk")

    def failure(reason: str, message: str, hint: str, *, retry_after_s: int | None = None) -> CallToolResult:
        error = {"reason": reason, "message": message, "hint": hint, "retryAfterS": retry_after_s}
        return CallToolResult(
            content=[TextContent(type="text", text=f"{message} {hint}")],
            structured_content={"error": error},
            is_error=True,
        )

    @server.tool()
    def reserve(book: Book, copies: Copies) -> CallToolResult:
        """Reserve copies of a book."""
        try:
            text = reserve_in_catalogue(book, copies)
        except LookupError:
            return failure("unknown_book", UNKNOWN, SEARCH)
        except ConnectionError:
            return failure("catalogue_down", DOWN, WAIT, retry_after_s=30)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    return server


def mcpcore() -> MCPServer:
    """mcpcore with both failures declared."""
    from mcpcore import Context, ErrorCode, FailureMode, Retry, Server

    server = Server("desk")

    @server.tool(
        errors=[
            FailureMode(
                "unknown_book",
                ErrorCode.NOT_FOUND,
                when=UNKNOWN,
                recovery=SEARCH,
                effects="none",
            ),
            FailureMode(
                "catalogue_down",
                ErrorCode.SERVICE_UNAVAILABLE,
                when=DOWN,
                recovery=WAIT,
                retry=Retry.after(seconds=30),
                effects="none",
            ),
        ]
    )
    def reserve(ctx: Context[Literal["unknown_book", "catalogue_down"]], book: Book, copies: Copies) -> str:
        """Reserve copies of a book."""
        with ctx.guard({LookupError: "unknown_book", ConnectionError: "catalogue_down"}):
            return reserve_in_catalogue(book, copies)

    return server


def careless() -> MCPServer:
    """The SDK and an author who expects no failure: every call that a checker makes up fails."""
    server = MCPServer("desk")

    @server.tool()
    def reserve(book: Book, copies: Copies) -> str:
        """Reserve copies of a book."""
        return reserve_in_catalogue("B-2" if book != SUCCESS["book"] else book, copies)

    return server


SERVERS: Final[dict[str, Callable[[], Any]]] = {
    "mcpcore": mcpcore,
    "sdk": sdk,
    "fastmcp": fastmcp,
    "by-hand": by_hand,
}
"""The servers in Python."""
OTHERS: Final[dict[str, Callable[[], Any]]] = {
    "fastmcp-masked": lambda: fastmcp(mask_error_details=True),
    "careless": careless,
}
"""Servers that a row also looks at."""


if __name__ == "__main__":
    chosen = {**SERVERS, **OTHERS}[sys.argv[1]]()
    chosen.run(**({"show_banner": False} if sys.argv[1] == "fastmcp" else {}))
