"""The MCP servers that the hosts start: `python servers.py NAME`.

`parcels` is on mcpcore and fails in every way that the tests look at. `lockers` is on the SDK alone, and runs behind
`mcpcore proxy`.
"""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import AfterValidator, BaseModel, Field

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.services.batch import Batch, BatchResult

SECRET = "hunter2"
"""The password in the text of the crash."""


def of_this_depot(number: str) -> str:
    """Refuse the numbers of others, which the input schema cannot say."""
    if not number.startswith("RX-"):
        raise ValueError("it must begin with RX-")
    return number


Number = Annotated[str, Field(description="The number on the parcel."), AfterValidator(of_this_depot)]


class Parcel(BaseModel):
    """A parcel, and where it is."""

    number: str
    place: str


@tool(
    errors=[
        FailureMode(
            "van_full",
            ErrorCode.CONFLICT,
            when="The van of that day is full.",
            recovery="Call list_days for a day with free slots, and book that day.",
            effects="none",
            fallback_tool="list_days",
        )
    ]
)
def book_pickup(ctx: Context[Literal["van_full"]], day: str) -> Parcel:
    """Book the pickup of a parcel."""
    raise ctx.fail("van_full", f"The van of {day} is full.", data={"free_slots": 0})


@tool(read_only=True)
def list_days() -> list[str]:
    """List the days with free slots."""
    return ["Tuesday"]


@tool(
    read_only=True,
    errors=[
        FailureMode(
            "depot_busy",
            ErrorCode.SERVICE_UNAVAILABLE,
            when="The depot is busy.",
            recovery="Track the parcel again when the depot has time.",
            retry=Retry.after(seconds=15),
        )
    ],
)
def track_parcel(ctx: Context[Literal["depot_busy"]], number: Number) -> Parcel:
    """Track a parcel."""
    raise ctx.fail("depot_busy", f"The depot cannot look up {number} now.")


@tool(
    errors=[
        FailureMode(
            "desk_silent",
            ErrorCode.TIMEOUT,
            when="The desk did not answer in time.",
            recovery="Track the parcel to see whether the refund was made.",
            effects="unknown",
        )
    ]
)
def refund_parcel(ctx: Context[Literal["desk_silent"]], number: Number) -> Parcel:
    """Refund a lost parcel."""
    raise ctx.fail("desk_silent", f"The desk did not confirm the refund of {number}.")


@tool
def weigh_parcel(number: Number) -> Parcel:
    """Weigh a parcel."""
    raise RuntimeError(f"unexpected state of scales:{SECRET}, {number}")


@tool(
    errors=[
        FailureMode(
            "no_label",
            ErrorCode.NOT_FOUND,
            when="The parcel has no label.",
            recovery="Print its label before you send it.",
            effects="none",
        )
    ]
)
def send_parcels(ctx: Context[Literal["no_label"]], numbers: list[str]) -> BatchResult[str]:
    """Send parcels."""
    batch = Batch[str](ctx)
    for number in numbers:
        with batch.item(number):
            if number == "RX-2":
                raise ctx.fail("no_label", f"{number} has no label.")
            batch.add(number)
    return batch.result()


lockers = MCPServer("lockers", log_level="CRITICAL")


@lockers.tool()
def open_locker(number: str) -> Parcel:
    """Open a locker."""
    raise ToolError(f"Locker {number} is jammed")


if __name__ == "__main__":
    if sys.argv[1] == "lockers":
        lockers.run()
    else:
        tools = [book_pickup, list_days, track_parcel, refund_parcel, weigh_parcel, send_parcels]
        Server("parcels", tools=tools).run()
