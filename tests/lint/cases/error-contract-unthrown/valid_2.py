from mcpcore import Context, ErrorCode, FailureMode, tool

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
B = FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")

def load(ctx, x):
    with ctx.guard({KeyError: "a"}):
        return {}[x]

async def later(c, x):
    guarded = c.guard({KeyError: A})({}.__getitem__)
    return guarded(x)

@tool(errors=[A])
async def guarded(ctx: Context, x: str) -> str:
    return load(ctx, x)

@tool(errors=[A])
async def wrapped(ctx: Context, x: str) -> str:
    return await later(ctx, x)

def gone(ctx, x):
    return ctx.fail("a", f"no {x}")

def check(ctx, x):
    fail = ctx.fail
    if x:
        return fail(B)
    return None

@tool(errors=[A, B])
def checked(ctx: Context, x: str) -> str:
    error = check(ctx, x)
    if error is not None:
        raise error
    raise gone(ctx, x)

class Store:
    def __init__(self, ctx):
        self.ctx = ctx
        self.safe = ctx.guard({OSError: "b"})

    def gone(self):
        return self.ctx.fail("a")

    def get(self, x):
        with self.safe:
            if x:
                raise self.gone()
            return x

class Typed:
    def __init__(self, ctx: Context):
        self.ctx = ctx

    def safe(self):
        return self.ctx.guard({OSError: "b"})

    def get(self, x):
        guard = self.ctx.guard
        with guard({KeyError: "a"}), self.safe():
            return {}[x]

@tool(errors=[A, B])
def kept_on_an_object(ctx: Context, x: str) -> str:
    return Store(ctx).get(x)

@tool(errors=[A, B])
def typed(ctx: Context, x: str) -> str:
    return Typed(ctx).get(x)
