# message: fetch raises NOT_FOUND
from mcpcore import Context, Server, not_found

server = Server("x")

@server.tool()
def fetch(a: str, ctx: Context) -> str:  # here
    raise not_found("x")

class Tools:
    @server.tool()
    def load(self, a: str, *, ctx: Context) -> str:  # here
        raise not_found("x")
