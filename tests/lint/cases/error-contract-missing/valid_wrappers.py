import os
from functools import partial

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

BUSY = FailureMode("busy", ErrorCode.TIMEOUT, when="It is busy.", recovery="Ask the user for another one.")


def modes():
    return [BUSY]


def query(*errors, **options):
    if not errors:
        return tool(read_only=True, **options)
    return tool(errors=[*errors], read_only=True, **options)


def listed(errors=None):
    if errors is None:
        return tool(read_only=True)
    else:
        return tool(errors=errors, read_only=True)


def chosen(*errors, form):
    if form.startswith("a"):
        return tool(read_only=True)
    return tool(errors=[*errors])


class Api:
    def read(self, *errors):
        return tool(errors=[*errors], read_only=True)


api = Api()
common = partial(tool, errors=[BUSY])
short = lambda *errors: tool(errors=[*errors])


safely = partial(common, idempotent=True)


def either(*errors, plain=False):
    return tool(read_only=True) if plain else tool(errors=[*errors])


def around(*errors):
    def decorate(function):
        if not errors:
            return tool(function)
        return tool(errors=[*errors])(function)

    return decorate


@query(BUSY)
async def one(ctx: Context) -> str:
    raise ctx.fail("busy")


@listed([BUSY])
async def two(ctx: Context) -> str:
    raise ctx.fail("busy")


@chosen(BUSY, form=os.environ["FORM"])
async def three(ctx: Context) -> str:
    raise ctx.fail("busy")


@api.read(BUSY)
async def four(ctx: Context) -> str:
    raise ctx.fail("busy")


@common(read_only=True)
async def five(ctx: Context) -> str:
    raise ctx.fail("busy")


@short(BUSY)
async def six(ctx: Context) -> str:
    raise ctx.fail("busy")


@safely(read_only=True)
async def seven(ctx: Context) -> str:
    raise ctx.fail("busy")


@either(BUSY)
async def eight(ctx: Context) -> str:
    raise ctx.fail("busy")


@around(BUSY)
async def nine(ctx: Context) -> str:
    raise ctx.fail("busy")


@around(*modes())
async def ten(ctx: Context) -> str:
    raise ctx.fail("busy")


server = Server("s", tools=[one, two, three, four, five, six, seven, eight, nine, ten])
