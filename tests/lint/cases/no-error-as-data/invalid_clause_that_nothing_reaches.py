# message: returns {"error": ...}
import logging

from fastmcp import FastMCP

mcp = FastMCP("x")

def load(q):
    """Load."""
    kind = "row"
    try:
        return {kind: open(q).read()}
    except Exception as e:
        return {"error": str(e)}  # here

def late(q):
    try:
        return open(q).read()
    except Exception:
        raise

def counted(q):
    size = len(q)
    try:
        return open(q).read(size)
    except Exception:
        return ""

@mcp.tool
def fetch(q: str) -> dict:
    """Fetch."""
    try:
        logging.info("fetch")
        return load(q)
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def wait(q: str) -> dict:
    """Wait."""
    try:
        return late(q)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def count(q: str) -> dict:
    """Count."""
    try:
        return counted(q)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def first(q: str) -> dict:
    """Show the first."""
    try:
        return load(q)["rows"][0]
    except Exception as e:
        return {"error": str(e)}  # here
