# message: returns {"error_type": ...}
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("seeds")

class SeedError(Exception):
    def __init__(self, message, hint=None, error_type="Seed"):
        super().__init__(message)
        self.message, self.hint, self.error_type = message, hint, error_type

    def to_dict(self):
        return {"error_type": self.error_type, "message": self.message, "hint": self.hint}  # here

def load(name: str) -> list:
    if not name:
        raise SeedError("no name")
    return open(name).readlines()

@mcp.tool()
def sow(name: str) -> dict:
    """Sow the seeds of a file."""
    try:
        return {"rows": load(name)}
    except SeedError as exc:
        return exc.to_dict()

@mcp.tool()
def sort(name: str) -> dict:
    """Sort the seeds of a file."""
    try:
        return {"rows": sorted(load(name))}
    except SeedError as exc:
        return {"error_type": type(exc).__name__, "hint": exc.hint}  # here

@mcp.tool()
def count(name: str) -> dict:
    """Count the seeds of a file."""
    rows = []
    try:
        rows = load(name)
    except SeedError as exc:
        # The rows that are there are an answer.
        return {"error_type": exc.error_type, "rows": [*rows]}
    return {"rows": len(rows)}

@mcp.tool()
def first(name: str) -> dict:
    """The first row of a file."""
    try:
        return {"result": load(name)[0], "error_code": None}
    except SeedError:
        return {"result": load("default")[0], "error_code": None}
