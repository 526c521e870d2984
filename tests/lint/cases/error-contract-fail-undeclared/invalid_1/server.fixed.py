from typing import Any
from mcpcore import Context, ErrorCode, FailureMode, tool
from modes import BUSY

NO_ITEM = FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")
ERRORS = {KeyError: "no_itm"}

@tool(errors=[NO_ITEM])
async def fetch(ctx: Context[Any], a: str) -> str:
    if a == "1":
        raise ctx.fail(BUSY, data={"a": 1})
    if a == "2":
        raise ctx.fail(NO_ITEM, data=ctx.recovery_for(BUSY))
    with ctx.guard({KeyError: "no_item", OSError: NO_ITEM}):
        await load()
    async with ctx.guard(errors={(OSError, ValueError): BUSY}):
        await load()

    @ctx.guard(ERRORS, operation="load")
    def inner() -> None: ...

    inner()
    raise ctx.fail(NO_ITEM)
