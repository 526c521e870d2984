# message: the declared failure 'gone' never reaches the client: an `except` replaces it
from mcpcore import Context, ErrorCode, FailureMode, internal_error, not_found, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Look for another one by its title.")

def load(a: str) -> str:
    raise not_found("gone", reason="gone")

def fail(error: Exception):
    raise internal_error() from error

@tool(errors=[GONE])
def direct(ctx: Context, a: str) -> str:
    try:
        if not a:
            raise ctx.fail("gone")  # here
        return open(a).read()
    except Exception as error:
        raise internal_error() from error

@tool(errors=[GONE])
def called(a: str) -> str:
    try:
        return load(a)  # here
    except ValueError:
        raise
    except Exception as error:
        fail(error)
