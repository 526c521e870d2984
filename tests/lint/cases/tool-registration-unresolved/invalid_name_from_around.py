# message: no function is found behind `tool.run`
from fastmcp import FastMCP

from .backend import load_tools

mcp = FastMCP("x")

class Backend:
    def __init__(self):
        self._tools = load_tools()

    async def call(self, name, arguments):
        tool = self._tools.get(name)
        if tool is None:
            raise KeyError(name)
        return await tool.run(arguments)

def make_handler(backend: Backend, name: str):
    async def handler(**kwargs):
        return await backend.call(name, kwargs)

    return handler

def make_greeter(greeting: str):
    async def handler(**kwargs):
        return greet(greeting, kwargs)

    return handler

def greet(greeting, arguments):
    return f"{greeting} {arguments}"

for entry in load_tools():
    mcp.tool(name=entry.name)(make_handler(Backend(), entry.name))  # here
    mcp.tool(name=f"greet_{entry.name}")(make_greeter(entry.name))
