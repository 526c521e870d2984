# message: fetch raises ValueError, whose text FastMCP with mask_error_details=True hides
# settings: {"select": null}
from fastmcp import FastMCP

mcp = FastMCP("x", mask_error_details=True)

@mcp.tool
def fetch(pmid: str) -> str:
    'Fetch an article.'
    raise ValueError("no such article: call search first")  # here
