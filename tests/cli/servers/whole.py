"""A server with a tool, a resource, a template and a prompt."""

from __future__ import annotations

from typing import Any, Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, prompt, resource, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="List them.")


@tool
def add(a: int) -> int:
    """Add."""
    return a


@resource("books://all")
def books() -> str:
    """All books."""
    return ""


@resource("books://{isbn}", errors=[GONE])
def book(ctx: Context[Literal["gone"]], isbn: str) -> str:
    """A book."""
    raise ctx.fail("gone")


@prompt(errors=[GONE])
def review(ctx: Context[Literal["gone"]], isbn: str, tone: str = "mild") -> str:
    """Review a book."""
    raise ctx.fail("gone")


server: Server[Any] = Server("whole", tools=[add], resources=[books, book], prompts=[review])
