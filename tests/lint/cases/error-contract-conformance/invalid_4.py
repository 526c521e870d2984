# message: fetch can throw FORBIDDEN here (fetch > fail)
from typing import Any
from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

class Failure(CodedError):
    def __init__(self, why: str, code: ErrorCode = ErrorCode.FORBIDDEN) -> None:
        super().__init__(code, why)

def made(code: ErrorCode = ErrorCode.FORBIDDEN, reason: str | None = None) -> CodedError:
    return CodedError(code, "x", reason=reason)

def fail(code: ErrorCode, reason: str | None = None) -> None:
    if reason is None:
        raise CodedError(code, "x")
    raise CodedError(code, "x", data={"reason": reason})

def of_class(code):
    raise Failure("x", code)

def later(code):
    if code:
        code = ErrorCode.NOT_FOUND
    raise CodedError(code, "x")

async def outer(code: ErrorCode) -> None:
    fail(code)

class Store:
    def _fail(self, why: str, code: ErrorCode) -> None:
        raise CodedError(code, why)

    def get(self, a: str) -> str:
        self._fail("CONFLICT", ErrorCode.RATE_LIMITED)

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
async def fetch(ctx: Context[Any], a: str) -> str:
    match a:
        case "1":
            fail(ErrorCode.FORBIDDEN)  # here
        case "2":
            fail(ErrorCode.NOT_FOUND, "gone")
        case "3":
            raise made()  # here
        case "4":
            raise made(code=ErrorCode.NOT_FOUND)
        case "5":
            of_class(ErrorCode.CONFLICT)  # here
        case "6":
            later(ErrorCode.CONFLICT)
        case "7":
            await outer(ErrorCode.CONFLICT)  # here
        case "8":
            Store().get(a)  # here
        case "9":
            fail(ErrorCode.TIMEOUT)
        case "10":
            raise made(a)
        case "11":
            raise made(*[ErrorCode.NOT_FOUND])
        case "12":
            fail(ErrorCode.CONFLICT, "undeclared-reason says it")

    def bail(code: ErrorCode) -> None:
        raise CodedError(code, "x")  # here

    if a:
        bail(ErrorCode.CONFLICT)
    bail(ErrorCode.TIMEOUT)
