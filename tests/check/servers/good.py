"""A server with contracts: nothing to find."""

from typing import Annotated, Literal

from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from mcpcore import Context, ErrorCode, FailureMode, Server, tool


class Missing(BaseModel):
    title: str


class Found(BaseModel):
    number: int


@tool(
    errors=[
        FailureMode(
            "no_match",
            ErrorCode.NOT_FOUND,
            when="No entry has this title.",
            recovery="Call list_titles to see the titles.",
            fallback_tool="list_titles",
            data=Missing,
        )
    ],
    annotations=ToolAnnotations(read_only_hint=True),
)
async def find(
    ctx: Context[Literal["no_match"]],
    title: Annotated[str, Field(description="The title.")],
    kind: Annotated[Literal["book", "film"], Field(description="The kind of the entry.")] = "book",
    limit: Annotated[int, Field(description="How many.", ge=1, le=9)] = 3,
) -> Found:
    """Find a number by its title."""
    if title != "dune":
        raise ctx.fail("no_match", f"No {kind} is called {title}.", data={"title": title[:50]})
    return Found(number=limit)


@tool(annotations=ToolAnnotations(read_only_hint=True))
async def list_titles() -> list[str]:
    """List the titles."""
    return ["dune"]


server = Server("good", tools=[find, list_titles])
