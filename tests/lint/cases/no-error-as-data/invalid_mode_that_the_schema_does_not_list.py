# message: the client sees a successful call
from enum import Enum

from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

class Mode(Enum):
    TEXT = "text"
    BITMAP = "bitmap"

class Speed(Enum):
    FAST = "fast"
    SLOW = "slow"
    LOADED = load("speed")

@server.list_tools()
async def list_tools():
    return [
        Tool(
            name="draw",
            inputSchema={
                "type": "object",
                "properties": {
                    "mode": {"type": "string", "enum": [*(mode.value for mode in Mode), "other"]},
                    "speed": {"type": "string", "enum": [speed.value for speed in Speed]},
                    "some": {"type": "string", "enum": [mode.value for mode in Mode if mode is not Mode.TEXT]},
                    "upper": {"type": "string", "enum": [mode.value.upper() for mode in Mode]},
                    "key": {"type": "string", "enum": [mode.name for mode in Mode]},
                    "part": {"type": "string", "enum": [mode.value for mode in Mode]},
                },
                "required": ["mode", "speed", "some", "upper", "key"],
            },
        )
    ]

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "draw":
        mode_text = arguments["mode"]
        try:
            mode = Mode(mode_text)
        except ValueError:
            return [TextContent(type="text", text=f"Error: no mode {mode_text}")]  # here
        speed = arguments["speed"]
        if speed not in ("fast", "slow"):
            return [TextContent(type="text", text=f"Error: no speed {speed}")]  # here
        try:
            some = Mode(arguments["some"])
        except ValueError:
            return [TextContent(type="text", text="Error: no mode")]  # here
        try:
            upper = Mode(arguments["upper"])
        except ValueError:
            return [TextContent(type="text", text="Error: no mode")]  # here
        try:
            key = Mode(arguments["key"])
        except ValueError:
            return [TextContent(type="text", text="Error: no mode")]  # here
        try:
            part = Mode(arguments.get("part"))
        except ValueError:
            return [TextContent(type="text", text="Error: no mode")]  # here
        return [TextContent(type="text", text=draw(mode, speed, some, upper, key, part))]
    raise ValueError(name)
