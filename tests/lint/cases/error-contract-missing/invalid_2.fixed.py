import mcpcore

server = mcpcore.Server("x")

class Tools:
    @mcpcore.tool(errors=[
        mcpcore.FailureMode(
            "queue_full",
            mcpcore.ErrorCode.INTERNAL_ERROR,
            when="TODO: say when this happens",
            recovery="TODO: next step",
        ),
    ])
    def one(self, ctx: mcpcore.Context) -> str:
        raise ctx.fail("queue_full")

    @server.tool(title="Two", errors=[
        mcpcore.FailureMode(
            "forbidden",
            mcpcore.ErrorCode.FORBIDDEN,
            when="TODO: say when this happens",
            recovery="TODO: next step",
        ),
    ])
    def two(self) -> str:
        raise mcpcore.forbidden()

    @server.tool(
        title="Three",
        errors=[
            mcpcore.FailureMode(
                "forbidden",
                mcpcore.ErrorCode.FORBIDDEN,
                when="TODO: say when this happens",
                recovery="TODO: next step",
            ),
        ],
    )
    def three(self) -> str:
        raise mcpcore.forbidden()
