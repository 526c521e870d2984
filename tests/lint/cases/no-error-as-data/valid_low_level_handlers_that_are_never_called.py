from typing import Any, Optional

from mcp.server import Server

server = Server("prices")


@server.call_tool()
async def get_price(symbol: str, options: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    if not symbol:
        return {"success": False, "error": "symbol is required"}
    return {"success": True}


@server.call_tool()
async def list_prices(symbols: Optional[list[str]] = None, markets: Optional[list[str]] = None) -> dict[str, Any]:
    if not symbols:
        return {"success": False, "error": "symbols are required"}
    return {"success": True}
