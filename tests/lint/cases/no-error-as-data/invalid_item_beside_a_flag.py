from fastmcp import FastMCP

mcp = FastMCP("x")

def copy(source: str) -> tuple[bool, str]:
    try:
        return True, open(source).read()
    except OSError as exc:
        return False, f"Failed to copy {source}: {exc}"

def move(source: str) -> tuple[bool, str]:
    try:
        return True, open(source).read()
    except OSError as exc:
        return False, f"Failed to move {source}: {exc}"  # here

def drop(source: str) -> tuple[bool, str]:
    try:
        return True, open(source).read()
    except OSError as exc:
        return False, f"Failed to drop {source}: {exc}"

@mcp.tool
def copied(source: str) -> str:
    done, message = copy(source)
    if done:
        return message
    raise ValueError(source)

@mcp.tool
def moved(source: str) -> str:
    done, message = move(source)
    if not done:
        return message
    return "moved"

@mcp.tool
def dropped(source: str) -> str:
    done, message = drop(source)
    if not done:
        raise ValueError(source)
    return message
