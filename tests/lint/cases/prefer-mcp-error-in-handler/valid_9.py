from contextlib import asynccontextmanager, contextmanager
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

app = MCPServer("x")

@contextmanager
def told():
    try:
        yield
    except ValueError as e:
        raise ToolError(str(e)) from e

@asynccontextmanager
async def told_later():
    try:
        yield
    except (LookupError, ValueError) as e:
        raise ToolError(str(e)) from e

class Told:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, ValueError):
            raise ToolError(str(error)) from error

@app.tool()
async def fetch(pmid: str) -> str:
    'Fetch an article.'
    with told():
        if not pmid:
            raise ValueError("pmid is empty")
    async with told_later():
        if pmid == "1":
            raise KeyError("no such article")
    with Told():
        raise ValueError("pmid is a number")
