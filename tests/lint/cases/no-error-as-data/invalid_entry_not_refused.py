# message: show() returns {"error": ...}
from acme import library
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def show(params):
    title = params.get("title")
    if not title:
        return {"error": "no title"}  # here
    if "shelf" not in params:
        return {"error": "no shelf"}  # here
    return {"title": title}

def lend(params):
    library.clean(params)
    title = params.get("title")
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

def move(params):
    title = params["title"]
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

def sell(params):
    title = params["title"]
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

def keep(params):
    if "title" not in params:
        return {"error": "no title"}  # here
    return {"kept": params["title"]}

@mcp.tool
def show_one(title: str, shelf: str = "") -> dict:
    """Show."""
    params = {"title": title}
    if shelf:
        params["shelf"] = shelf
    return show(params)

@mcp.tool
def lend_one(title: str) -> dict:
    """Lend."""
    if not title:
        raise ToolError("give a title")
    return lend({"title": title})

@mcp.tool
def move_one(title: str) -> dict:
    """Move."""
    if not title:
        raise ToolError("give a title")
    params = {"title": title}
    params["title"] = library.title(title)
    return move(params)

@mcp.tool
def sell_one(title: str, options: dict) -> dict:
    """Sell."""
    if not title:
        raise ToolError("give a title")
    params = {"title": title}
    for key, value in options.items():
        params[key] = value
    return sell(params)

@mcp.tool
def keep_one(title: str) -> dict:
    """Keep."""
    params = {"title": title}
    library.clean(params)
    return keep(params)
