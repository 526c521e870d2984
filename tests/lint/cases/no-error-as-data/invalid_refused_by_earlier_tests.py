from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def convert(path: str | None = None, folder: str | None = None) -> dict:
    """Convert a file or a folder."""
    if not path and not folder:
        raise ValueError("name a path or a folder")
    if folder:
        return {"files": folder}
    if path is None:
        return {"error": "path cannot be None"}
    return {"file": path}

@mcp.tool
def move(path: str | None = None, folder: str | None = None, name: str | None = None) -> dict:
    """Move a file or a folder."""
    if not path and not folder and not name:
        raise ValueError("name a path, a folder or a name")
    if folder:
        return {"files": folder}
    if path is None:
        return {"error": "path cannot be None"}  # here
    return {"file": path}

@mcp.tool
def copy(path: str | None = None, folder: str | None = None) -> dict:
    """Copy a file or a folder."""
    if not path and not folder:
        raise ValueError("name a path or a folder")
    if path is None:
        return {"error": "path cannot be None"}  # here
    return {"file": path}
