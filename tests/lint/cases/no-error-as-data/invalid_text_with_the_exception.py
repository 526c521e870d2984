from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(table: str) -> str:
    try:
        return open(table).read()
    except OSError as exc:
        return f"no rows of {table} ({exc})"  # here

@mcp.tool
def store(table: str, text: str) -> str:
    with open(table, "w") as file:
        size = file.write(text)
    try:
        open("index", "a").write(table)
    except OSError as exc:
        return f"{size} characters are in {table}, and the index is old: {exc}"
    return "done"

@mcp.tool
def count(table: str) -> str:
    try:
        return str(len(open(table).read()))
    except OSError:
        return f"no such table: {table}"

@mcp.tool
def explain(table: str) -> str:
    try:
        return open(table).read()
    except OSError as exc:
        reason = str(exc)
        return "\n".join([f"Connection failed: {reason}", "Is the server up?"])  # here

@mcp.tool
def wait(table: str) -> str:
    try:
        return open(table).read()
    except TimeoutError:
        return f"TIMEOUT after {len(table)} s"  # here


@mcp.tool
def drop(table: str) -> str:
    """Drop a table."""
    try:
        return open(table).read()
    except OSError as exc:
        return "no rows of " + table + ": " + str(exc)  # here
