from mcpcore import Server

server = Server("shop")


class Shop:
    def again(self):
        return self.again()


shop = Shop()


@server.tool()
async def status() -> dict:
    """Say how the shop is."""
    try:
        return shop.again()
    except Exception as exc:
        return {"error": str(exc)}  # here
