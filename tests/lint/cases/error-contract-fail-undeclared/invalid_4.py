# message: 'gone' is not declared
from mcpcore import Context, tool

@tool(errors=[])
def fetch(ctx: Context) -> str:
    raise ctx.fail("gone")  # here
