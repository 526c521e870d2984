# message: fetch raises Exception, whose text FastMCP sends, so it looks like any other failure
# settings: {"select": null}
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(pmid: str) -> str:
    'Fetch an article.'
    if not pmid:
        raise ValueError("pmid is empty: call search first")
    raise Exception("no such article: call search first")  # here
