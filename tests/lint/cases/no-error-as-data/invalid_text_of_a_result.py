# message: stop() returns {"status": "error"}
import json
from typing import Any

from mcp.server import Server
from mcp.types import TextContent

app = Server("debugger")


class Session:
    def __init__(self) -> None:
        self.program = ""

    def stop(self) -> dict[str, Any]:
        if not self.program:
            return {"status": "error", "message": "nothing runs"}  # here
        self.program = ""
        return {"status": "success"}


session = Session()


@app.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> list[TextContent]:
    if name == "stop":
        result = session.stop()
    else:
        raise ValueError(name)
    text = json.dumps(result, indent=2)
    return [TextContent(type="text", text=text)]
