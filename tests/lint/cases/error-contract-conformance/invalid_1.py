# message: fetch raises CONFLICT
import mcpcore as m
from functools import partial
from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict as clash, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
Full = partial(CodedError, ErrorCode.RATE_LIMITED)

def made(why: str) -> CodedError:
    return m.forbidden(why)

async def made_later(why: str) -> CodedError:
    return m.unauthorized(why)

@tool(errors=[GONE])
async def fetch(ctx: Context, a: str) -> str:
    match a:
        case "1":
            raise clash("x")  # here
        case "2":
            raise CodedError(ErrorCode["FORBIDDEN"], "x")  # here
        case "3":
            raise Full("x")  # here
        case "4":
            error = m.unauthorized("x")  # here
            raise error
        case "5":
            raise made("x")  # here
        case "6":
            raise await made_later("x")  # here
        case "7":
            raise CodedError(ErrorCode.CONFLICT if a else ErrorCode.NOT_FOUND, "x")  # here
        case "8":
            raise ExceptionGroup("both", [clash("x")])  # here
        case "9":
            if (late := m.database_error("x")) and a:  # here
                raise late
    try:
        return await other()
    except Exception as problem:
        raise CodedError(-32008, "x") from problem  # here

@tool(errors=[GONE])
def second(a: str) -> str:
    def inner():
        raise clash("x")  # here
    return inner()
