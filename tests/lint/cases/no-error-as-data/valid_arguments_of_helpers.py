import subprocess

from fastmcp import FastMCP
from pydantic import BaseModel

mcp = FastMCP("x")

class Query(BaseModel):
    success: bool
    shelf: str = ""

class Moved(Exception):
    shelf: str

def search(query: Query) -> list[dict]:
    return [loan for loan in LOANS if loan["done"] == query.success]

def ask(query) -> list[dict]:
    return client.search(query)

def count(query) -> dict:
    loans = client.search(query)
    return {"count": len(loans), "query": query}

def output(error: subprocess.CalledProcessError) -> str:
    return error.stdout

def instead(error: Moved) -> str:
    shelf = error.shelf
    return read(shelf)

def refused(error: Exception) -> str:
    return refuse(error)

def refuse(error: Exception):
    raise RuntimeError(str(error))

@mcp.tool
def failed_loans(shelf: str) -> list[dict]:
    """List the loans that failed."""
    if shelf == "all":
        return search(Query(success=False))
    return ask(Query(success=False, shelf=shelf))

@mcp.tool
def count_failed_loans(shelf: str) -> dict:
    """Count the loans that failed."""
    return count({"success": False, "shelf": shelf})

@mcp.tool
def find(shelf: str) -> str:
    """Find the books of a shelf."""
    try:
        return read(shelf)
    except Moved as error:
        return instead(error)
    except subprocess.CalledProcessError as error:
        return output(error)
    except OSError as error:
        return refused(error)
