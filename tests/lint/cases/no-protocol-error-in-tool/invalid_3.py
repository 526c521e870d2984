# message: whose text FastMCP with mask_error_details=True hides
# settings: {"select": null}
from fastmcp import FastMCP
from mcp import McpError
from mcp.types import ErrorData, INVALID_PARAMS

mcp = FastMCP("x", mask_error_details=True)

@mcp.tool
async def fetch(a: str) -> str:
    raise McpError(ErrorData(code=INVALID_PARAMS, message="no"))  # here
