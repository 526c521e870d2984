# message: the parameter start_cell of merge has no description
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def merge(
    filepath: str,
    sheet_name: str,
    start_cell: str,  # here
    end_cell: str,  # here
    sheet_name_or_range: str,
) -> str:
    """Merge cells."""
