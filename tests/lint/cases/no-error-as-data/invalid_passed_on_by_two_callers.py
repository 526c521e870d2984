# message: search() returns {"error": ...}
import json

from acme import store
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

class Shop:
    def search(self, title, fields):
        if not isinstance(fields, dict):
            return {"error": "the fields must be a table"}  # here
        if title is None:
            return {"error": "give a title"}  # here
        return store.find(title, fields)

shop = Shop()

class Handler:
    def __init__(self, name):
        self.name = name

class Find(Handler):
    def __init__(self):
        super().__init__("find")

    def description(self):
        return Tool(
            name=self.name,
            description="Find a book.",
            inputSchema={
                "type": "object",
                "properties": {"title": {"type": "string"}, "fields": {"type": "object"}},
                "required": ["title", "fields"],
            },
        )

    def run(self, args: dict):
        title = args.get("title")
        found = shop.search(title, args.get("fields"))
        return [TextContent(type="text", text=json.dumps(found))]

HANDLERS = {}

def add(handler: Handler):
    HANDLERS[handler.name] = handler

class FindTheFirst(Handler):
    def description(self):
        return Tool(name=self.name, description="Find the first book.", inputSchema={"type": "object"})

    def run(self, args: dict):
        return Find().run({"title": store.first(), "fields": {}})

add(Find())
add(FindTheFirst("find_the_first"))

@server.list_tools()
async def list_tools():
    return [handler.description() for handler in HANDLERS.values()]

@server.call_tool()
async def call_tool(name, arguments):
    handler = HANDLERS.get(name)
    if not handler:
        raise ValueError(f"no tool {name}")
    return handler.run(arguments)
