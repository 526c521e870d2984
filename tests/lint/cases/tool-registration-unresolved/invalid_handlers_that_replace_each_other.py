# message: no function that stays registered is found behind `server.call_tool()`
from mcp.server import Server

server = Server("prices")


@server.call_tool()  # here
async def get_price(name: str, arguments: dict) -> list:
    return [{"error": "no price"}]


@server.call_tool()  # here
async def list_prices(symbols: list[str] | None = None, markets: list[str] | None = None) -> dict:
    return {"success": False, "error": "no prices"}


@server.call_tool()  # here
async def list_markets() -> dict:
    return {"success": False, "error": "no markets"}


if __name__ == "__main__":

    @server.call_tool()
    async def call_tool(name: str, arguments: dict) -> list:
        return []
