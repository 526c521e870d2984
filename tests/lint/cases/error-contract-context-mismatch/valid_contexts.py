from typing import Any, Literal, Never, Optional

import mcpcore as m
from elsewhere import MODES, Reasons as Theirs
from mcpcore import Context, ErrorCode, FailureMode, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y")
Reasons = Literal["a", "b"]

@tool(errors=[A, B])
def one(ctx: Context[Literal["a", "b"]]) -> str:
    raise ctx.fail("a")

@tool(errors=[A, B])
def two(ctx: Context[Reasons]) -> str:
    raise ctx.fail("a")

# Fewer than declared: the others come from services.
@tool(errors=[A, B])
def three(ctx: m.Context[Literal["a"], Any]) -> str:
    raise ctx.fail("a")

@tool
def four(ctx: Context) -> str: ...

@tool(errors=[A])
def five(ctx: Context[Any]) -> str: ...

@tool(errors=[A])
def six(ctx: Context[str, int]) -> str: ...

@tool(errors=[A, *MODES])
def seven(ctx: Context) -> str: ...

@tool(errors=MODES)
def eight(ctx: Context[Literal["what"]]) -> str: ...

@tool(errors=[A])
def nine(ctx: Context[Theirs]) -> str: ...

@tool(errors=[A])
def ten(ctx: "Context[Literal['a']]") -> str: ...

@tool(errors=[A, B])
def eleven(ctx: Context[Literal["a"] | Literal["b"]]) -> str:
    raise ctx.fail("b")

@tool(errors=[])
def twelve(ctx: Context) -> str: ...

@tool(errors=[A])
def thirteen() -> str: ...

@tool(errors=[A])
def fourteen(ctx: Context[Never]) -> str: ...

@tool(errors=[A])
def fifteen(ctx: Context[Literal["a"]]) -> str:
    raise ctx.fail("b")

@tool(errors=[A] if MODES else [B])
def sixteen(ctx: Context) -> str: ...
