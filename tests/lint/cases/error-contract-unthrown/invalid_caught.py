# message: the reason 'lost' is declared, but two catches it before the client sees it
from mcpcore import CodedError, Context, ErrorCode, FailureMode, internal_error, not_found, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another order.")
LOST = FailureMode("lost", ErrorCode.NOT_FOUND, when="It is lost.", recovery="Look for another order.")  # here


def load(a: str) -> str:
    raise not_found("no", reason="gone")


def quietly(c: Context, a: str) -> str:
    try:
        raise c.fail("lost")
    except Exception as error:
        raise internal_error("no") from error


@tool(errors=[GONE])  # here
def one(a: str) -> str:
    try:
        return load(a)
    except CodedError:
        return "none"


@tool(errors=[LOST])
def two(ctx: Context, a: str) -> str:
    return quietly(ctx, a)


@tool(errors=[GONE])
def three(a: str) -> str:
    return load(a)
