from typing import Any

from mcp.server import Server

server = Server("prices")
servers = [server]


@server.call_tool()
async def get_price(name: str, arguments: str | dict[str, Any]) -> list:
    return []


server = Server("orders")
servers.append(server)


@server.call_tool()
async def get_order(name: str, arguments: dict[str, Any]) -> list:
    return []
