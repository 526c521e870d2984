import mcpcore

server = mcpcore.Server("x")

class Tools:
    @mcpcore.tool(errors=[
        mcpcore.FailureMode(
            "queue_full",
            mcpcore.ErrorCode.INTERNAL_ERROR,
            when="TODO: say when this happens",
            recovery=mcpcore.TODO,
        ),
    ])
    def one(self, ctx: mcpcore.Context) -> str:
        raise ctx.fail("queue_full")

    @server.tool(title="Two", errors=[
        mcpcore.FailureMode(
            "forbidden",
            mcpcore.ErrorCode.FORBIDDEN,
            when="TODO: say when this happens",
            recovery=mcpcore.TODO,
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
                recovery=mcpcore.TODO,
            ),
        ],
    )
    def three(self) -> str:
        raise mcpcore.forbidden()
