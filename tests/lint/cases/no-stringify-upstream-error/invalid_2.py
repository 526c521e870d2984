# message: the text of the caught Exception
# settings: {"select": null}
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

app = MCPServer("x")

@app.tool()
def fetch(a: str) -> str:
    'Fetch an article.'
    try:
        return open(a).read()
    except Exception as e:
        raise ToolError(f"Failed to fetch {a}: {e}") from e  # here
