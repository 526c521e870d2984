# message: one returns "No rows found" after Exception
import logging
from mcp.server.fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

@mcp.tool()
def one(a: str) -> str:
    try:
        rows = load(a)
    except Exception as error:
        logging.error(error)
        rows = []  # here
    logging.info(f"{len(rows)} rows")
    if len(rows) == 0:
        return "No rows found"
    return f"{a}: {rows}"

@mcp.tool()
def two(a: str) -> dict:
    try:
        row = load(a)
    except ConnectionError:
        row = None  # here
    if row is not None and row:
        return {"row": row}
    return {"rows": [], "total": 0} if not row else {"row": row}

@mcp.tool()
def three(a: str) -> dict:
    with lock:
        try:
            rows = load(a)
        except OSError:
            rows, seen = [], 0
            rows = []  # here
        count = len(rows)
    return {"rows": rows, "count": count}

@mcp.tool()
def least(a: str) -> list:
    wrong = []
    try:
        rows = load(a)
    except Exception as error:
        rows = []
        wrong.append(error)
    if not rows and not wrong:
        return "No rows found"
    return rows

@mcp.tool()
def four(a: str) -> dict:
    why = None
    try:
        rows = load(a)
    except Exception as error:
        rows = []
        why = type(error).__name__
    if why:
        return {"rows": rows, "warning": why}
    if not rows:
        return "No rows found"
    return rows

@mcp.tool()
def five(a: str) -> dict:
    try:
        rows = load(a)
    except Exception as error:
        rows = []
        why = type(error).__name__
    if not rows:
        return f"No rows found: {why}"
    return rows

@mcp.tool()
def six(a: str) -> dict:
    try:
        rows = load(a)
    except Exception:
        rows = []
    if not rows:
        rows = other(a)
    return rows

@mcp.tool()
def seven(a: str) -> dict:
    try:
        rows = load(a)
    except Exception:
        rows = []
    if not rows:
        return "Could not load the rows"
    return rows

@mcp.tool()
def eight(a: str) -> str:
    try:
        note = forget(a)
    except Exception:
        note = None
    return "No results available"
