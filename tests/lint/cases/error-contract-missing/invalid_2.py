# message: one raises 'queue_full'
import mcpcore

server = mcpcore.Server("x")

class Tools:
    @mcpcore.tool()
    def one(self, ctx: mcpcore.Context) -> str:  # here
        raise ctx.fail("queue_full")

    @server.tool(title="Two")
    def two(self) -> str:  # here
        raise mcpcore.forbidden()

    @server.tool(
        title="Three",
        errors=None,
    )
    def three(self) -> str:  # here
        raise mcpcore.forbidden()
