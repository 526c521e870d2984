# message: fetch can raise the reason 'no_items' here (fetch > gone)
from mcpcore import Context, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str) -> str:
    if a:
        raise gone(ctx)  # here
    return load(ctx, a)  # here

def load(ctx: Context, a):
    with ctx.guard({KeyError: "no_itm", OSError: "for_another_tool"}):
        return {}[a]

def gone(ctx: Context):
    return ctx.fail("no_items")
