"""The server of the client tests; also a program that serves over stdio."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

READ_ONLY = ToolAnnotations(read_only_hint=True)


class NoItem(BaseModel):
    """The data of `no_item`."""

    item_id: int
    near: list[int]


NO_ITEM = FailureMode(
    "no_item",
    ErrorCode.NOT_FOUND,
    when="There is no such item.",
    recovery="Look into the archive.",
    fallback_tool="get_old_item",
    fallback_arguments={"item_id": "{item_id}"},
    data=NoItem,
)
BUSY = FailureMode(
    "busy",
    ErrorCode.RATE_LIMITED,
    when="The shop is busy.",
    recovery="Wait a little.",
    retry=Retry.after(seconds=0.01),
    effects="none",
)
TOO_MANY = FailureMode(
    "too_many",
    ErrorCode.VALIDATION_ERROR,
    when="The limit is too high.",
    recovery="Ask for ten.",
    corrective_params={"limit": 10},
)
EXPIRED = FailureMode(
    "session_expired",
    ErrorCode.UNAUTHORIZED,
    when="The session has ended.",
    recovery="Begin a session.",
    effects="none",
)
SENT = FailureMode(
    "no_answer", ErrorCode.TIMEOUT, when="No answer came.", recovery="Look into the outbox.", effects="unknown"
)


def shop(**options: Any) -> tuple[Server, list[tuple[str, dict[str, Any]]]]:
    """Return a shop, and the list of the calls that reach its tools."""
    calls: list[tuple[str, dict[str, Any]]] = []
    failures: dict[str, int] = {}
    sessions: set[str] = set()

    @tool(errors=[NO_ITEM, BUSY])
    def get_item(
        ctx: Context[Literal["no_item", "busy"]],
        item_id: Annotated[int, Field(description="The number of the item.")],
        busy: Annotated[int, Field(description="How many calls fail first.")] = 0,
    ) -> str:
        """Get an item by its number."""
        calls.append(("get_item", {"item_id": item_id}))
        failures["get_item"] = failures.get("get_item", 0) + 1
        if failures["get_item"] <= busy:
            raise ctx.fail("busy")
        if item_id != 1:
            raise ctx.fail(NO_ITEM, data=NoItem(item_id=item_id, near=[1]))
        return "apple"

    @tool(annotations=READ_ONLY)
    def get_old_item(item_id: int, busy: int = 0) -> str:
        """Get an item that is no longer sold."""
        calls.append(("get_old_item", {"item_id": item_id}))
        if item_id == 404:
            raise ValueError("no such file")
        return "old apple"

    @tool(errors=[TOO_MANY], annotations=READ_ONLY)
    def list_items(ctx: Context[Literal["too_many"]], limit: int = 1000) -> list[str]:
        """List the items."""
        calls.append(("list_items", {"limit": limit}))
        if limit > 10:
            raise ctx.fail("too_many")
        return ["apple"] * limit

    @tool(errors=[EXPIRED])
    def buy(ctx: Context[Literal["session_expired"]], session: str = "") -> str:
        """Buy an apple."""
        calls.append(("buy", {"session": session}))
        if session not in sessions:
            raise ctx.fail("session_expired")
        return "bought"

    @tool
    def begin_session() -> str:
        """Begin a session."""
        sessions.add("s1")
        return "s1"

    @tool(errors=[SENT], annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False))
    def send(ctx: Context[Literal["no_answer"]]) -> str:
        """Send an order."""
        calls.append(("send", {}))
        raise ctx.fail("no_answer", retry=Retry.now())

    return Server("shop", tools=[get_item, get_old_item, list_items, buy, begin_session, send], **options), calls


if __name__ == "__main__":
    shop()[0].run()
