# message: the data that the guard gives to 'no_row' lacks 'row'
from typing import Any
from pydantic import BaseModel
from mcpcore import Context, ErrorCode, FailureMode, guard, tool
from store import load

class NoRow(BaseModel):
    row: int

ROWS = {}
NO_ROW = FailureMode("no_row", ErrorCode.NOT_FOUND, when="x", recovery="y", data=NoRow)
BUSY = FailureMode("busy", ErrorCode.CONFLICT, when="x", recovery="y")

@tool(errors=[NO_ROW, BUSY])
@guard(errors={ZeroDivisionError: NO_ROW})  # here
def fetch(ctx: Context[Any], a: int) -> str:
    with ctx.guard({KeyError: NO_ROW, OSError: BUSY}):  # here
        load(a)  # here
    with guard(errors={KeyError: "no_row"}, data={"rw": a}):  # here
        load(a)
    with guard(errors={KeyError: "no_row"}, data=lambda exc: {"row": a, "at": exc.args}):  # here
        load(a)

    @ctx.guard({KeyError: "no_row"})  # here
    def inner() -> str:
        return ROWS[a]

    with ctx.guard({KeyError: NO_ROW}, data=lambda exc: NoRow(row=a)), guard(errors={OSError: BUSY}):
        inner()
    with ctx.guard({KeyError: NO_ROW}, data=lambda exc: {"row": a}), ctx.guard({OSError: "busy"}):
        inner()
    with guard(errors={KeyError: NO_ROW}, error_mapper=mapped):
        inner()
    with guard(errors={OSError: NO_ROW}, data=given()):
        return inner()
