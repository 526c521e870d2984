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
def parse(q: str) -> dict:
    """Parse."""
    import json
    try:
        return {"parsed": json.loads(q)}
    except json.JSONDecodeError as e:
        return {"error": str(e)}  # here

class Shop:
    def find(self, params: dict[str, str]) -> dict:
        logging.info("find %s", params)
        query = {"page": 1}
        if params.get("city"):
            query["city"] = params.get("city")

        def ask():
            return store.ask(query)["rows"]

        try:
            return {"rows": ask()}
        except Exception as e:
            return {"error": str(e)}  # here

    def find_in(self, params):
        city = params.get("city")
        try:
            return {"rows": store.ask(city)}
        except Exception as e:
            return {"error": str(e)}  # here

shop = Shop()

@mcp.tool
def find(city: str) -> dict:
    """Find."""
    try:
        params = {"page": "1"}
        if city:
            params["city"] = city
        return shop.find(params)
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def find_by_name(city: str) -> dict:
    """Find."""
    try:
        return shop.find_in(city)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_in_table(city: str) -> dict:
    """Find."""
    try:
        params = store.table()
        params["city"] = city
        return shop.find(params)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_again(city: str) -> dict:
    """Find."""
    params = {"page": "1"}
    params = store.known or params
    try:
        params["city"] = city
        return shop.find(params)
    except Exception as e:
        return {"error": str(e)}  # here
