from mcp.server import Server
from pydantic import create_model

server = Server("library")

async def find(arguments):
    return [await read(arguments.shelf)]

def lister(shelf):
    async def run(arguments):
        return [await read(shelf)]

    return run

TOOLS = {"find": {"run": find, "model": create_model("Find", shelf=(str, ...))}}

def add(shelves):
    for shelf in shelves:
        TOOLS[f"list_{shelf}"] = {"run": lister(shelf), "model": create_model(shelf)}

def checked(arguments, model):
    return model(**arguments)

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    tool = TOOLS[name]
    parsed = checked(arguments, tool["model"])
    result = await tool["run"](parsed)
    return result
