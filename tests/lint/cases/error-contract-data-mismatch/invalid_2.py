# message: the data of ctx.fail('no_row') lacks 'row'
from typing import TypedDict
from mcpcore import Context, ErrorCode, FailureMode, tool

class Row(TypedDict):
    row: int

NO_ROW = FailureMode("no_row", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Row)

@tool(errors=[NO_ROW])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise ctx.fail(NO_ROW)  # here
    if a == "2":
        raise ctx.fail(NO_ROW, data={"row": 1})
    raise ctx.fail(NO_ROW, "x", {"rw": 1})  # here
