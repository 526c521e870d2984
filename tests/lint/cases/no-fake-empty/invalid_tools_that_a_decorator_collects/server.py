# message: one returns
from mcp.server.fastmcp import FastMCP
from app import tools
from app.registry import PAIRS, TABLE, entry, pair

mcp = FastMCP("x")
LOCAL = []

def keep(fn):
    LOCAL.append(fn)
    return fn

@keep
def local(a: str) -> str:
    """Local."""
    try:
        return load(a)
    except Exception:
        return ""  # here

@entry
def three(a: str) -> str:
    """Three."""
    try:
        return load(a)
    except Exception:
        return ""  # here

@pair("four")
def four(a: str) -> str:
    """Four."""
    try:
        return load(a)
    except Exception:
        return ""  # here

def unused(fn):
    return fn

@unused
def no_tool(a: str) -> str:
    """Not registered."""
    try:
        return load(a)
    except Exception:
        return ""

for fn in LOCAL:
    mcp.add_tool(fn)
for name, fn in PAIRS:
    mcp.add_tool(fn, name=name)
for item in TABLE.values():
    mcp.tool()(item)
