# message: returns {"error": ...}
from typing import Literal

from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(
    mode: Literal["map", "docs"],
    size: Literal[1, 2],
    pages: list[str],
    kind: Literal["a", "b"] = "a",
) -> dict:
    """Fetch."""
    if mode not in ("map",):
        return {"error": "no map"}  # here
    if size not in (1, 2):
        return {"error": f"no size {size}"}
    kind = kind or "c"
    if kind not in {"a", "b"}:
        return {"error": f"no kind {kind}"}  # here
    if mode == "map":
        return {"pages": pages}
    elif mode == "docs":
        return {"pages": []}
    else:
        return {"error": f"no mode {mode}"}
