# message: no function is found behind `Registry.call`
import logging

from mcp.server import Server

server = Server("x")

class Registry:
    _handlers = {}

    @classmethod
    def register(cls, kind, handler):
        cls._handlers[kind] = handler

    @classmethod
    def call(cls, kind, *args):
        return cls._handlers.get(kind)(*args)

def logged(name, answer):
    if name in ["fetch", "search"]:
        logging.info("%s: %s", name, len(answer))

@server.call_tool()  # here
async def call_tool(name: str, arguments: dict):
    answer = await Registry.call("tools", name, arguments)
    logged(name, answer)
    return answer
