# message: the Context of one names the reason 'typo', which errors does not declare
import typing as t
from typing import Annotated

import mcpcore
from mcpcore import Context as C, ErrorCode, FailureMode, Server

server = Server("x")
A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y")

class Tools:
    @mcpcore.tool(errors=[A, B])
    def one(self, ctx: mcpcore.Context[t.Literal['b', 'typo'], dict[str, int]]) -> str:  # here
        raise ctx.fail('b')

@server.tool(errors=(A, B))
def two(ctx: C[t.Literal["b"]]) -> str:  # here
    raise ctx.fail("a" if ctx else "b")

@mcpcore.tool(errors=[A, B])
def three(
    ctx: C[
        t.Literal[  # here
            "aa",
            "b",
        ],
        int,
    ],
) -> str: ...

@mcpcore.tool(errors=[A])
def four(ctx: "C") -> str: ...  # here

@mcpcore.tool(errors=[A, B])
def five(ctx: "mcpcore.Context[t.Literal['c'], int]") -> str: ...  # here

@mcpcore.tool(errors=[A, B])
def six(ctx: Annotated[C, "the context"], x: int) -> str: ...  # here

@mcpcore.tool(errors=[A, B])
def seven(ctx: C[t.Never]) -> str:  # here
    return ctx.recovery_for("a")

@mcpcore.tool(errors=[B])
def eight(
    ctx: C[
        t.Literal[  # here
            # what is not there
            "a",
        ]
    ],
) -> str: ...

@mcpcore.tool(errors=[A, B])
def nine(
    ctx: C[
        t.Literal["a",]  # here
    ],
    other: C[t.Any],
) -> str:
    raise ctx.fail("b")

@mcpcore.tool(errors=[A, B])
def ten(
    ctx: C[t.Literal[  # here
        "a",  # not there
    ]],
) -> str:
    raise ctx.fail("b")
