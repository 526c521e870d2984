# message: no function is found behind `registry.call`
import asyncio

from mcp.server import Server

server = Server("x")

class Registry:
    def __init__(self):
        self._handlers = {}

    def add(self, handler):
        self._handlers[handler.__name__] = handler

    def call(self, name, arguments):
        entry = self._find(name)
        return entry(arguments)

    def _find(self, wanted):
        return next(iter(self._handlers.values()))

registry = Registry()

@server.call_tool()  # here
async def call_tool(name: str, arguments: dict):
    loop = asyncio.get_running_loop()
    answer = await loop.run_in_executor(None, lambda: registry.call(name, arguments or {}))
    return answer.text
