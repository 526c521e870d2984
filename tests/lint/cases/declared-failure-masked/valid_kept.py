from mcpcore import CodedError, Context, ErrorCode, FailureMode, internal_error, not_found, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Look for another one by its title.")

def load(a: str) -> str:
    raise not_found("gone", reason="gone")

@tool(errors=[GONE])
def passed_on(ctx: Context, a: str) -> str:
    try:
        raise ctx.fail("gone")
    except CodedError:
        raise
    except Exception as error:
        raise internal_error() from error

@tool(errors=[GONE])
def answered(ctx: Context, a: str) -> str:
    try:
        return load(a)
    except CodedError as error:
        if a:
            raise ctx.fail("gone") from error
        return "nothing"
    except Exception as error:
        raise internal_error() from error

@tool(errors=[GONE])
def outside(ctx: Context, a: str) -> str:
    try:
        text = open(a).read()
    except Exception as error:
        raise internal_error() from error
    if not text:
        raise ctx.fail("gone")
    return text

@tool(errors=[GONE])
def narrow(ctx: Context, a: str) -> str:
    try:
        raise ctx.fail("gone")
    except OSError as error:
        raise internal_error() from error

@tool
def undeclared(a: str) -> str:
    try:
        return load(a)
    except Exception as error:
        raise internal_error() from error
