# message: read() returns {"error": ...}; the client sees a successful call
import json

from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.types import TextContent

server = Server("x")

class Reader:
    def read(self, keys):
        try:
            return json.dumps({"values": values_of(keys)})
        except Exception as error:
            return json.dumps({"error": str(error)})  # here

    def check(self, key):
        return {"success": False} if key not in self.known else {"success": True}

class Service:
    def __init__(self):
        self.reader = Reader()

service = Service()

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "read":
        result = service.reader.read(keys=arguments["keys"])
    else:
        raise ValueError(name)
    return [TextContent(type="text", text=str(result))]

mcp = FastMCP("x")

def shown(text: object) -> list[TextContent]:
    return [TextContent(type="text", text=str(text))]

def failed(text: str) -> list[TextContent]:
    return shown(f"Error: {text}")  # here

@mcp.tool()
def count(key: str) -> list[TextContent]:
    """Count."""
    try:
        return shown(service.reader.count(key))
    except Exception as error:
        return failed(str(error))
