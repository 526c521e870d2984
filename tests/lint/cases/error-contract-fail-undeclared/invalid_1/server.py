# message: the reason 'busy' is not declared: fetch calls ctx.fail with it
from typing import Any
from mcpcore import Context, ErrorCode, FailureMode, tool
from modes import BUSY

NO_ITEM = FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")
ERRORS = {KeyError: "no_itm"}

@tool(errors=[NO_ITEM])
async def fetch(ctx: Context[Any], a: str) -> str:
    if a == "1":
        raise ctx.fail(BUSY, data={"a": 1})  # here
    if a == "2":
        raise ctx.fail(NO_ITEM, data=ctx.recovery_for(BUSY))  # here
    with ctx.guard({KeyError: "no_itm", OSError: NO_ITEM}):  # here
        await load()
    async with ctx.guard(errors={(OSError, ValueError): BUSY}):  # here
        await load()

    @ctx.guard(ERRORS, operation="load")  # here
    def inner() -> None: ...

    inner()
    raise ctx.fail(NO_ITEM)
