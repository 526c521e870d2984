"""The server of the tests of agents: `work` fails as it is asked to, and `calls` tells what was called."""

from __future__ import annotations

from typing import Literal

import anyio
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

BUSY = FailureMode(
    "busy",
    ErrorCode.RATE_LIMITED,
    when="The shop is busy.",
    recovery="Wait a moment and call again.",
    retry=Retry.after(seconds=0.01),
    effects="none",
)
CLOSED = FailureMode(
    "closed",
    ErrorCode.CONFLICT,
    when="The shop is closed.",
    recovery="Call other, which is open.",
    fallback_tool="other",
    fallback_arguments={"kind": "{kind}", "size": 10},
    effects="none",
)
TOO_BIG = FailureMode(
    "too_big",
    ErrorCode.VALIDATION_ERROR,
    when="The size is over 1.",
    recovery="Call again with a size of 1.",
    corrective_params={"size": 1},
    effects="none",
)
SECRET = "hunter2"


def make_shop() -> Server:
    """A new server, with its own record of calls."""
    made: list[str] = []

    @tool(errors=[BUSY, CLOSED, TOO_BIG], annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False))
    async def work(ctx: Context[Literal["busy", "closed", "too_big"]], kind: str, size: int = 10) -> str:
        """Work."""
        made.append(f"work {kind} {size}")
        match kind:
            case "busy once" if made.count(made[-1]) == 1:
                raise ctx.fail("busy")
            case "busy":
                raise ctx.fail("busy")
            case "closed":
                raise ctx.fail("closed")
            case "too big" if size > 1:
                raise ctx.fail("too_big")
            case "crash":
                raise RuntimeError(f"bad state of {SECRET}")
            case "late":
                await anyio.sleep(20)
        return f"work of size {size} is done"

    @tool
    async def other(kind: str, size: int = 10) -> str:
        """Work elsewhere."""
        made.append(f"other {kind} {size}")
        return "other has done it"

    @tool
    async def calls() -> list[str]:
        """Tell what was called so far."""
        return made

    server = Server("shop", tools=[work, other, calls], log_level="CRITICAL")

    @server.tool()
    def plain(kind: str) -> str:
        """Fail without a contract."""
        made.append(f"plain {kind}")
        raise ToolError("service unavailable, try again later")

    return server


if __name__ == "__main__":
    make_shop().run()
