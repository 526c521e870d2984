# message: returns {"error": ...}
from mcp.server import Server
from mcp.types import Tool
from pydantic import BaseModel

from .config import KINDS, load_settings

server = Server("x")
loose = Server("y")

class Search(BaseModel):
    state: str

STATES = {"type": "string", "enum": ["open", "closed"]}

@server.list_tools()
async def list_tools():
    return [
        Tool(
            name="search",
            inputSchema=Search.model_json_schema(),
            outputSchema={"type": "object", "properties": {"state": STATES}, "required": ["state"]},
        ),
        Tool(
            name="deploy",
            inputSchema={
                "type": "object",
                "properties": {"state": STATES, "kind": {"type": "string", "enum": ["a", *KINDS]}},
                "required": ["state", "kind"],
            },
        ),
        Tool(name="count", inputSchema={"type": "object", "properties": {"state": STATES}, "required": ["state"]}),
        Tool(name="count_all", inputSchema={"type": "object", "properties": {"state": {"type": "string"}}}),
        Tool(name="move", inputSchema={"type": "object", "properties": {"state": STATES}, "required": ["state"]}),
        Tool(name="check", inputSchema={"type": "object", "properties": {"state": STATES}, "required": ["state"]}),
        Tool(name="close", inputSchema={"type": "object", "properties": {"state": STATES}}),
    ]

async def search(arguments):
    state = arguments.get("state")
    if state not in ("open", "closed"):
        return {"error": f"no state {state}"}  # here
    return {"found": state}

async def deploy(settings, arguments):
    state = settings.get("state")
    if state is None:
        return {"error": "no state is set"}  # here
    asked = arguments.get("state")
    if asked not in ("open", "closed"):
        return {"error": f"no state {asked}"}
    kind = arguments.get("kind").lower()
    if kind != "a":
        return {"error": f"no kind {kind}"}  # here
    return {"deployed": asked}

async def move(arguments):
    arguments = arguments["options"]
    state = arguments.get("state")
    if state is None:
        return {"error": "no state among the options"}  # here
    return {"moved": state}

async def count(arguments):
    state = arguments.get("state")
    if state not in ("open", "closed"):
        return {"error": f"no state {state}"}  # here
    return {"count": state}

async def check(arguments):
    state = arguments.get("state")
    if state not in ("open", "closed"):
        return {"error": f"no state {state}"}  # here
    return {"checked": state}

class Reports:
    tools = [Tool(name="report", inputSchema={"type": "object", "properties": {"state": STATES}, "required": ["state"]})]

    async def report(self, arguments):
        state = arguments.get("state")
        if state not in ("open", "closed"):
            return {"error": f"no state {state}"}
        return {"report": state}

    async def close(self, arguments):
        state = arguments.get("state")
        if state not in ("open", "closed"):
            return {"error": f"no state {state}"}  # here
        return {"closed": state}

reports = Reports()

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "search":
        return await search(arguments)
    if name == "deploy":
        return await deploy(load_settings(), arguments or {})
    if name in ("count", "count_all"):
        return await count(arguments)
    if name == "move":
        return await move(arguments)
    if name == "check":
        return await check(arguments)
    if name == "report":
        return await reports.report(arguments)
    if name == "close":
        return await reports.close(arguments)
    raise ValueError(name)

@loose.call_tool(validate_input=False)
async def call_loosely(name: str, arguments: dict):
    if name == "check":
        return await check(arguments)
    raise ValueError(name)
