# message: fetch raises KeyError, whose text SDK 2 hides: the client reads only 'Error executing tool fetch'
from mcp.server.mcpserver import MCPServer

app = MCPServer("x")

@app.tool()
def fetch(pmid: str) -> str:
    'Fetch an article.'
    try:
        raise (KeyError if pmid else TypeError)("caught")
    except (KeyError, TypeError):
        pass
    raise (KeyError if pmid else TypeError)(pmid)  # here
