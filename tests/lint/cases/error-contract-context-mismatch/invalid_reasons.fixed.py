import typing as t
from typing import Annotated

import mcpcore
from mcpcore import Context as C, ErrorCode, FailureMode, Server

server = Server("x")
A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y")

class Tools:
    @mcpcore.tool(errors=[A, B])
    def one(self, ctx: mcpcore.Context[t.Literal["a", "b"], dict[str, int]]) -> str:
        raise ctx.fail('b')

@server.tool(errors=(A, B))
def two(ctx: C[t.Literal["a", "b"]]) -> str:
    raise ctx.fail("a" if ctx else "b")

@mcpcore.tool(errors=[A, B])
def three(
    ctx: C[
        t.Literal["a", "b"],
        int,
    ],
) -> str: ...

@mcpcore.tool(errors=[A])
def four(ctx: "C") -> str: ...

@mcpcore.tool(errors=[A, B])
def five(ctx: "mcpcore.Context[t.Literal['c'], int]") -> str: ...

@mcpcore.tool(errors=[A, B])
def six(ctx: Annotated[C[t.Literal["a", "b"]], "the context"], x: int) -> str: ...

@mcpcore.tool(errors=[A, B])
def seven(ctx: C[t.Never]) -> str:
    return ctx.recovery_for("a")

@mcpcore.tool(errors=[B])
def eight(
    ctx: C[
        t.Literal[
            # what is not there
            "a",
        ]
    ],
) -> str: ...

@mcpcore.tool(errors=[A, B])
def nine(
    ctx: C[
        t.Literal["a", "b"]
    ],
    other: C[t.Any],
) -> str:
    raise ctx.fail("b")

@mcpcore.tool(errors=[A, B])
def ten(
    ctx: C[t.Literal[
        "a",  # not there
    ]],
) -> str:
    raise ctx.fail("b")
