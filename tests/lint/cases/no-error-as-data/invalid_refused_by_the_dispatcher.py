# message: returns {"error": ...}
from abc import ABC, abstractmethod

from mcp.server import Server
from mcp.types import TextContent

from .sessions import sessions

server = Server("x")

class Tool(ABC):
    name = ""

    @abstractmethod
    async def run(self, session, **kwargs):
        """Run."""

    async def safe_run(self, session, **kwargs):
        return await self.run(session, **kwargs)

class Tap(Tool):
    name = "tap"

    async def run(self, session, **kwargs):
        if session is None:
            return {"error": "no session"}
        if not session.device:
            return {"error": "no device"}  # here
        return {"tapped": session.device.tap(kwargs["x"])}

class Swipe(Tool):
    name = "swipe"

    async def run(self, session, **kwargs):
        session = session.renewed()
        if not session:
            return {"error": "no session left"}  # here
        return {"swiped": session.device.swipe(kwargs["x"])}

class Press(Tool):
    name = "press"

    async def run(self, session, **kwargs):
        missing = needed(session)
        if missing:
            return missing
        return {"pressed": session.device.press(kwargs["x"])}

def needed(session):
    if not session:
        return {"error": "no session"}
    if not session.device:
        return {"error": "no device"}  # here
    return None

class Registry:
    def __init__(self):
        self._tools: dict[str, Tool] = {}

    def register(self, tool: Tool):
        self._tools[tool.name] = tool

    async def call(self, name, session, **kwargs):
        return await self._tools[name].safe_run(session, **kwargs)

registry = Registry()
registry.register(Tap())
registry.register(Swipe())
registry.register(Press())

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "start":
        session = None
    else:
        session = sessions.latest()
        if session is None:
            raise ValueError("no session")
    result = await registry.call(name, session, **arguments)
    return [TextContent(type="text", text=str(result["tapped"]))]

other = Server("y")

async def find(query, client):
    if not client:
        return {"error": "no client"}
    if not query:
        return {"error": "no query"}  # here
    return {"found": client.find(query)}

async def count(query, client):
    if not query:
        return {"error": "no query"}
    return {"count": client.count(query)}

async def show(user, page):
    if not user:
        return {"error": "no user"}  # here
    if page is None:
        return {"error": "no page"}  # here
    return {"shown": page.show(user)}

@other.call_tool()
async def call_other(name: str, arguments: dict):
    try:
        client = sessions.client()
    except KeyError:
        raise ValueError("no client") from None
    if name == "count":
        query = arguments.get("query")
        if not query:
            raise ValueError("no query")
        return await count(query, client)
    if name == "find":
        query = arguments.get("query")
        return await find(query, client)
    try:
        user = sessions.users.get(arguments["user"])
    except KeyError:
        raise ValueError("no user") from None
    page = None
    if client.pages:
        if client.is_closed:
            raise ValueError("closed")
        page = client.page()
    if name == "show":
        return await show(user, page)
    raise ValueError(name)
