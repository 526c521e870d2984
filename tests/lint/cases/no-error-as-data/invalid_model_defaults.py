# message: Failed(status=error)
from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("x")

class Base(BaseModel):
    status: str = Field(default="error")

class Failed(Base):
    message: str = ""

class Page(Base):
    rows: list = []

@mcp.tool
async def fetch(a: str) -> Base:
    if not a:
        return Failed(message="no a")  # here
    return Page(rows=[a])
