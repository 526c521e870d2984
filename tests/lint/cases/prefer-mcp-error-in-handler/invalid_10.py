# message: the client reads only 'Error executing tool fetch'
# settings: {"select": null}
from mcp.server.mcpserver import MCPServer

app = MCPServer("x")

@app.tool()
def fetch(pmid: str) -> str:
    'Fetch an article.'
    if not pmid:
        raise ValueError("pmid is empty: call search first")  # here
    raise RuntimeError("it was withdrawn")  # here

@app.prompt()
def ask(topic: str) -> str:
    raise ValueError("no such topic")  # here
