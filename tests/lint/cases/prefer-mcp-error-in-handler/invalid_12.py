# message: raises ValueError, which becomes a JSON-RPC error
# settings: {"select": null}
from mcp.server.lowlevel import Server

async def call(ctx, params):
    raise ValueError("no such article: call search first")  # here

server = Server("x", on_call_tool=call)
