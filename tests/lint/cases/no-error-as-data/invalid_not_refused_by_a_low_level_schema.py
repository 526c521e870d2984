# message: returns {"error": ...}
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

MODES = ["map", "docs"]

@server.list_tools()
async def list_tools():
    return [
        Tool(
            name="search",
            inputSchema={
                "type": "object",
                "properties": {
                    "mode": {"type": "string", "enum": MODES},
                    "kind": {"type": "string", "enum": ["a", "b"]},
                    "text": {"type": "string"},
                    "rows": {"type": "integer", "minimum": 1, "maximum": 50},
                    "size": {"type": "integer", "minimum": 0},
                    "order": {"type": "string", "enum": ["up", "down"]},
                    "part": {"type": "string", "enum": ["one", *load("parts")]},
                    "least": {"type": "integer", "minimum": load("least")},
                },
                "required": ["mode", "text"],
            },
        ),
        Tool(name="count", inputSchema={"type": "object", "properties": {"mode": {"enum": MODES}}}),
    ]

async def search(arguments):
    mode = arguments.get("mode")
    if mode not in ("map", "docs"):
        return {"error": f"no mode {mode}"}
    if not mode:
        return {"error": "no mode"}
    kind = arguments.get("kind", "c").strip().upper()
    if kind not in {"A", "B", "C"}:
        return {"error": f"no kind {kind}"}
    if kind not in {"A", "B"}:
        return {"error": f"no kind {kind}"}  # here
    text = arguments.get("text")
    if not isinstance(text, str):
        return {"error": "no text"}
    if not text:
        return {"error": "an empty text"}  # here
    rows = int(arguments.get("rows", 10))
    if rows <= 0:
        return {"error": "no rows"}
    if rows > 50:
        return {"error": "too many rows"}
    if rows > 40:
        return {"error": "many rows"}  # here
    size = arguments.get("size", -1)
    if not isinstance(size, int):
        return {"error": "the size must be a number"}
    if size < 0:
        return {"error": "no size"}  # here
    order = arguments.get("order", None)
    if order and order not in ("up", "down"):
        return {"error": f"no order {order}"}
    if order is None:
        return {"error": "no order"}  # here
    part = arguments.get("part")
    if part == "two":
        return {"error": "no part two"}  # here
    if part and part != "one":
        return {"error": f"no part {part}"}  # here
    least = arguments.get("least")
    if least < 1:
        return {"error": f"no {least}"}  # here
    answer = load(mode)
    if answer.get("mode") not in ("map", "docs"):
        return {"error": "no mode"}  # here
    return {"rows": answer}

async def count(arguments):
    mode = arguments.get("mode")
    if mode not in ("map", "docs"):
        return {"error": f"no mode {mode}"}  # here
    other = (mode or "map").lower()
    if other not in ("map", "docs"):
        return {"error": f"no mode {other}"}  # here
    return {"count": 1}

class Sort:
    name = "sort"
    schema = {"type": "object", "properties": {"order": {"enum": ["up", "down"]}}, "required": ["order"]}

    async def run(self, **kwargs):
        order = kwargs.get("order")
        if order == "up":
            return {"order": 1}
        elif order == "down":
            return {"order": -1}
        return {"error": f"no order {order}"}

sort = Sort()

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "search":
        result = await search(arguments)
    elif name == "count":
        result = await count(arguments)
    elif name == "sort":
        result = await sort.run(**arguments)
    return [TextContent(type="text", text=str(result["rows"]))]
