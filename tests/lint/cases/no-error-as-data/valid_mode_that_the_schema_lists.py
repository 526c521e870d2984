from enum import Enum, StrEnum

from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

class Mode(Enum):
    TEXT = "text"
    BITMAP = "bitmap"
    BROKEN = "broken"

    @classmethod
    def valid(cls):
        return cls.TEXT

class Speed(StrEnum):
    _ignore_ = ["spare"]
    FAST = "fast"
    SLOW = "slow"

VALID = [Mode.TEXT, Mode.BITMAP]

@server.list_tools()
async def list_tools():
    return [
        Tool(
            name="draw",
            inputSchema={
                "type": "object",
                "properties": {
                    "mode": {"type": "string", "enum": [mode.value for mode in VALID]},
                    "speed": {"type": "string", "enum": list(Speed)},
                    "pen": {"type": "string", "enum": [pen for pen in ("thin", "thick")]},
                    "other": {"type": "string", "enum": [*Speed]},
                    "old": {"type": "string", "enum": list(mode.value for mode in Mode)},
                },
                "required": ["mode", "speed", "pen", "other", "old"],
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
            return [TextContent(type="text", text=f"Error: no mode {mode_text}")]
        speed = arguments["speed"]
        if speed not in ("fast", "slow"):
            return [TextContent(type="text", text=f"Error: no speed {speed}")]
        pen = arguments["pen"]
        if pen == "thin":
            width = 1
        elif pen == "thick":
            width = 3
        else:
            return [TextContent(type="text", text=f"Error: no pen {pen}")]
        try:
            other = Speed(arguments["other"])
        except ValueError:
            return [TextContent(type="text", text="Error: no speed")]
        try:
            old = Mode(arguments["old"])
        except ValueError:
            return [TextContent(type="text", text="Error: no mode")]
        return [TextContent(type="text", text=draw(mode, speed, width, other, old))]
    raise ValueError(name)
