"""A server for the fleet of compose.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from mcpcore import Context, ErrorCode, FailureMode, Server, tool


@tool(
    errors=[
        FailureMode(
            "no_match",
            ErrorCode.NOT_FOUND,
            when="No article has the id.",
            recovery="Search for articles to find an id.",
        )
    ]
)
async def fetch_article(
    ctx: Context[Literal["no_match"]], pmid: Annotated[str, Field(description="The id of the article.")]
) -> str:
    """Fetch an article by its id."""
    raise ctx.fail("no_match", f"There is no article {pmid}.", data={"pmid": pmid})


server = Server("articles", tools=[fetch_article])
