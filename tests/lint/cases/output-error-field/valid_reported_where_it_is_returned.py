from fastmcp import FastMCP
from pydantic import BaseModel

mcp = FastMCP("x")

class Rows(BaseModel):
    rows: list[str] = []
    error: str | None = None

@mcp.tool
def fetch(a: str) -> Rows:
    if not a:
        return Rows(error="no a")
    return Rows(rows=[a])
