# message: returns {"error": ...}
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool
def wait(job: str | None = None, run: int | None = None, shelf: str | None = None) -> dict:
    """Wait for a job, or for the last job of a run."""
    if job is None and run is None:
        raise ToolError("Say which job or which run to wait for.")
    if run is not None:
        if job is None:
            return {"error": "a run has several jobs"}  # here
    elif shelf is None:
        return {"error": "a shelf is required without a run"}  # here
    if job is None:
        return {"error": "a job is required"}  # here
    return watch(job)
