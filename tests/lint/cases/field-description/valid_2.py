from typing import Annotated, Any, Optional

from elsewhere import Query, TEXT
from fastmcp import Context as Theirs, FastMCP
from fastmcp.dependencies import CurrentHeaders, Depends, TokenClaim
from mcp.server.mcpserver import MCPServer
from mcp.server.lowlevel import Server as Low
from mcpcore import Context, prompt, tool
from pydantic import BaseModel, Field

mcp = FastMCP("x")
sdk = MCPServer("x")
low = Low("x")
Path = Annotated[str, Field(description="A path below the workspace.")]

class Filter(BaseModel):
    text: str

@tool
def one(ctx: Context, path: Annotated[str, Field(description="A.")], text: str = Field(description="B.")):
    """Say one."""

@tool
def two(path: Path, limit: int = 10, more: str | None = None, filter: Filter = Filter()) -> str:
    """Say two."""

@mcp.tool
def three(ctx: Theirs, path: Annotated[str, "A path."], store=Depends(open), *args: str, **more: str) -> str:
    """Say three."""

@sdk.tool()
def four(path: str, text: str, lines: list[int], depth: int, name: str) -> str:
    """Say four.

    Args:
        path: A path below the workspace.
        text (str): What to write.
        lines (list[int], optional): The lines.

    - `depth`: how deep
    :param str name: The name.
    """

@tool
def five(filter: Filter, query: Query, path: Annotated[str, Field(description=TEXT)] | None) -> str:
    """Say five."""

@tool(description=TEXT)
def six(path: str) -> str: ...

@tool(description="Say `path`.")
def seven(path: str) -> str: ...

@low.call_tool()
async def call(name: str, arguments: dict[str, Any]): ...

@prompt
def eight(path: str) -> str:
    """Say eight."""

@mcp.tool(exclude_args=["user"])
def nine(user: str) -> str:
    """Say nine.

    Parameters
    ----------
    user : str
        Who asks.
    """

Token = Annotated[str, Depends(open)]
Secret = Annotated[Token, "What nobody sees."]

@mcp.tool
def injected(
    here: Theirs | None,
    token: Token,
    secret: Secret,
    key: Annotated[str, Depends(open)],
    salt: "Annotated[str, Depends(open)]",
    claim: str = TokenClaim("sub"),
    headers: dict = CurrentHeaders(),
) -> str:
    """Say injected."""

@tool
def ten(path: str = Field(default="", description="")) -> str:
    """Say ten."""

@tool
def eleven(path: str) -> str:
    """Say eleven, with path="a/b"."""

def twelve(path: str) -> str:
    """Say twelve."""

twelve.__doc__ = TEXT
sdk.add_tool(twelve)

class TestTools:
    def test_one(self):
        @sdk.tool()
        def thirteen(path: str) -> str:
            """Say thirteen."""
