# message: lend() returns {"error": ...}
import json

from acme import store
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

class Shop:
    def search(self, title, fields):
        if not isinstance(fields, dict):
            return {"error": "the fields must be a table"}
        if title is None:
            return {"error": "give a title"}
        return store.find(title, fields)

    def lend(self, title, days):
        if not isinstance(days, dict):
            return {"error": "the days must be a table"}  # here
        if title is None:
            return {"error": "give a title"}  # here
        return store.take(title, days)

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

class Lend(Handler):
    def __init__(self):
        super().__init__("lend")

    def description(self):
        return Tool(
            name=self.name,
            description="Lend a book.",
            inputSchema={
                "type": "object",
                "properties": {"title": {"type": "string"}, "days": {"type": "object"}},
                "required": ["title", "days"],
            },
        )

    def run(self, args: dict):
        return [TextContent(type="text", text=json.dumps(shop.lend(args.get("title"), args.get("days"))))]

class LendTheFirst(Handler):
    def description(self):
        return Tool(name=self.name, description="Lend the first book.", inputSchema={"type": "object"})

    def run(self, args: dict):
        return Lend().run({"title": store.first(), "days": args.get("days")})

HANDLERS = {}

def add(handler: Handler):
    HANDLERS[handler.name] = handler

add(Find())
add(Lend())
add(LendTheFirst("lend_the_first"))

@server.list_tools()
async def list_tools():
    return [handler.description() for handler in HANDLERS.values()]

@server.call_tool()
async def call_tool(name, arguments):
    handler = HANDLERS.get(name)
    if not handler:
        raise ValueError(f"no tool {name}")
    return handler.run(arguments)
