# message: returns {"error": ...}
import logging

from acme import store
from fastmcp import Context, FastMCP

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

def refuse(error):
    raise RuntimeError(f"the service says {error}")

def loud(q):
    try:
        return open(q).read()
    except Exception as e:
        refuse(e)

def checked(q):
    assert q, "no path"
    try:
        return open(q).read()
    except Exception:
        return "unread"

@mcp.tool
def shout(q: str) -> dict:
    """Read it."""
    try:
        return loud(q)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def read(q: str) -> dict:
    """Read it."""
    try:
        return checked(q)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def info(q: str) -> dict:
    """Describe it."""
    try:
        version = store.info()
        return load(version)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
async def describe(q: str, ctx: Context) -> dict:
    """Describe it."""
    try:
        await ctx.info("describe")
        return load(q)
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def draw(q: str) -> dict:
    """Draw it."""
    try:
        import matplotlib
        return load(q)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def copy(q: list) -> dict:
    """Copy."""
    import json
    text = json.dumps(q)
    try:
        return {"copy": json.loads(text)}
    except json.JSONDecodeError as e:
        return {"error": str(e)}

@mcp.tool
def parse(q: str) -> dict:
    """Parse."""
    import json
    try:
        return {"parsed": json.loads(q)}
    except json.JSONDecodeError as e:
        return {"error": str(e)}  # here
