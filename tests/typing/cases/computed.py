"""Computed contracts: checkers and the mypy plugin accept what they cannot know."""

from __future__ import annotations

from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, tool


def mode(reason: str) -> FailureMode[str]:
    return FailureMode(reason, ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look elsewhere.")


# A failure mode from a function may have any reason, so no checker can say that the context names another.
@tool(errors=[mode("gone")])
def computed(ctx: Context[Literal["gone"]], name: str) -> str:
    raise ctx.fail("gone", name)


@tool(errors=[mode(word) for word in ("one", "two")])
def from_a_loop(ctx: Context, name: str) -> str:
    raise ctx.fail(name)


Server("computed", tools=[from_a_loop])
