"""A server whose failures advise a retry, a correction and a fallback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from mcp_types import ToolAnnotations

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

REASONS: Iterator[Literal["busy", "sold_out"]] = iter(("busy", "sold_out"))


@tool(
    errors=[
        FailureMode(
            "busy",
            ErrorCode.RATE_LIMITED,
            when="The shop is busy.",
            recovery="Wait a little.",
            retry=Retry.after(seconds=0.01),
        ),
        FailureMode(
            "sold_out",
            ErrorCode.NOT_FOUND,
            when="It is sold out.",
            recovery="Look into the archive.",
            fallback_tool="get_old",
            fallback_arguments={"item": "{item}"},
        ),
    ],
    annotations=ToolAnnotations(read_only_hint=True),
)
def get(ctx: Context[Literal["busy", "sold_out"]], item: str) -> str:
    """Get an item."""
    raise ctx.fail(next(REASONS))


@tool
def get_old(item: str) -> str:
    """Get an old item."""
    return f"old {item}"


@tool
async def hang() -> str:
    """Never answer."""
    import anyio

    await anyio.sleep_forever()
    return ""


app = Server("advice", tools=[get, get_old, hang])
