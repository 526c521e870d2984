# message: swallows every exception
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(ids: list[str]) -> list[str] | None:
    found = []
    for each in ids:
        try:
            found.append(load(each))
        except Exception:  # here
            continue
    rows = None
    try:
        rows = load(ids)
    except Exception as error:  # here
        print(error)
    return rows

@mcp.tool
def save(a: str) -> dict | None:
    result = {}
    try:
        result["rows"] = write(a)
    except Exception:  # here
        pass
    try:
        return write(a)
    except Exception as error:  # here
        print(error)
    return None
