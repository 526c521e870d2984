from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool
def wait(job: str | None = None, run: int | None = None) -> dict:
    """Wait for a job, or for the last job of a run."""
    if job is None and run is None:
        raise ToolError("Say which job or which run to wait for.")
    if run is not None:
        last = last_job(run)
    else:
        if job is None:
            return {"error": "a job is required without a run"}
        last = job.lower()
    return watch(last)

@mcp.tool
def stop(job: str | None = None, run: int | None = None) -> dict:
    """Stop a job or a run."""
    if job is None and run is None:
        raise ToolError("Say which job or which run to stop.")
    if run is None:
        if job is None:
            return {"error": "a job is required without a run"}
        return halt(job)
    return halt_all(run)
