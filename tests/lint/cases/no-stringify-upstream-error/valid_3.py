from mcp.server.mcpserver import MCPServer

app = MCPServer("x")

@app.tool()
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except Exception as e:
        raise RuntimeError(f"Failed to fetch {a}: {e}") from e
