# message: no function is found behind `self._handlers[name]`
import asyncio

from mcp.server import Server

server = Server("x")

class Registry:
    def __init__(self):
        self._handlers = {}

    def add(self, handler):
        self._handlers[handler.__name__] = handler

    def call(self, name, arguments):
        return self._handlers[name](**arguments)

registry = Registry()

@server.call_tool()  # here
async def call_tool(name: str, arguments: dict):
    return await asyncio.wait_for(asyncio.to_thread(registry.call, name, arguments), timeout=5)
