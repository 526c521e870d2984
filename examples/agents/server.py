"""A box office, over stdio: `python -m examples.agents.server`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

Show = Annotated[str, Field(description="Title of the show.")]
Seats = Annotated[int, Field(description="Number of seats.", ge=1)]

DESK_BUSY = FailureMode(
    "desk_busy",
    ErrorCode.RATE_LIMITED,
    when="Another booking is being made.",
    recovery="Wait a moment and book again.",
    retry=Retry.after(seconds=0.05),
    effects="none",
)
TOO_MANY = FailureMode(
    "too_many",
    ErrorCode.VALIDATION_ERROR,
    when="A booking has more than 6 seats.",
    recovery="Book at most 6 seats at a time.",
    effects="none",
)
SOLD_OUT = FailureMode(
    "sold_out",
    ErrorCode.CONFLICT,
    when="The show has too few seats left.",
    recovery="Call waiting_list, or ask for another show.",
    fallback_tool="waiting_list",
    fallback_arguments={"show": "{show}", "seats": "{seats}"},
    effects="none",
)


def make_server() -> Server:
    """The box office, whose desk is busy at the first call."""
    busy = [True]

    @tool(
        errors=[DESK_BUSY, TOO_MANY, SOLD_OUT],
        read_only=False,
        idempotent=False,
    )
    async def book(ctx: Context[Literal["desk_busy", "too_many", "sold_out"]], show: Show, seats: Seats) -> str:
        """Book seats."""
        if busy:
            busy.clear()
            raise ctx.fail("desk_busy")
        if seats > 6:
            raise ctx.fail("too_many", f"{seats} seats are too many for one booking.", data={"seats": seats})
        if show == "Hamlet":
            raise ctx.fail("sold_out", f"No {seats} seats are left for {show}.", data={"show": show, "seats": seats})
        return f"{seats} seats for {show} are booked."

    @tool(idempotent=True)
    async def waiting_list(show: Show, seats: Seats) -> str:
        """Put a customer on the waiting list of a show."""
        return f"You are on the waiting list for {seats} seats for {show}."

    return Server("box-office", tools=[book, waiting_list], log_level="ERROR")


if __name__ == "__main__":
    make_server().run()
