# message: the reason 'no_visa' is declared, but nothing that one calls raises it
from functools import partial

from mcpcore import Context, ErrorCode, FailureMode, tool

NO_VISA = FailureMode("no_visa", ErrorCode.FORBIDDEN, when="There is no visa.", recovery="Ask for a visa first.")
command = partial(tool, read_only=False)


def query(*errors, **options):
    return tool(errors=[*errors], read_only=True, **options)


@query(NO_VISA)  # here
def one(a: str) -> str:
    return a


@command(errors=[NO_VISA])  # here
def two(a: str) -> str:
    return a


@query(NO_VISA)
def three(ctx: Context, a: str) -> str:
    raise ctx.fail(NO_VISA)
