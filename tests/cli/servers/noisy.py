"""A server that prints wherever it can, and whose tools fail in several ways."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import Literal

from pydantic import BaseModel

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

print("printed while loading")
os.write(1, b"written to descriptor 1 while loading\n")
os.system("echo echoed by a child")
atexit.register(lambda: os.write(1, b"written at exit\n"))


def _chatter() -> None:
    while True:
        os.write(1, b"a thread writes\n")
        time.sleep(0.01)


threading.Thread(target=_chatter, daemon=True).start()


class Echo(BaseModel):
    given: dict[str, object]
    argv: list[str]
    stdin: str


class Point(BaseModel):
    x: int
    y: int = 0


@tool(
    errors=[
        FailureMode(
            "queue_full",
            ErrorCode.RATE_LIMITED,
            when="The queue is at capacity.",
            recovery="Wait 30 seconds and retry, or reduce the batch size.",
            retry=Retry.after(seconds=30),
            fallback_tool="other",
        )
    ]
)
async def echo(
    ctx: Context[Literal["queue_full"]],
    words: list[str],
    count: int = 1,
    mode: Literal["fast", "slow"] = "fast",
    point: Point | None = None,
) -> Echo:
    """Echo what is given.

    The second paragraph is not shown in a list.
    """
    print("printed by the handler")
    if count < 0:
        raise ctx.fail("queue_full", data={"count": count})
    if count == 99:
        os._exit(3)
    if count == 98:
        time.sleep(30)  # noqa: ASYNC251 - a server that hangs as a whole
    arguments = {"words": words, "count": count, "mode": mode, "point": point and point.model_dump()}
    return Echo(given=arguments, argv=sys.argv[1:], stdin=sys.stdin.read())


server = Server("noisy", tools=[echo])
