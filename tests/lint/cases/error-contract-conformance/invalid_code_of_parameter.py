# message: one can raise FORBIDDEN here (one > deny > abort)
from typing import NoReturn

from mcpcore import CodedError, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another order.")


def abort(code: ErrorCode, text: str) -> NoReturn:
    raise CodedError(code, text)


def deny(text: str, code: ErrorCode = ErrorCode.FORBIDDEN) -> NoReturn:
    abort(code, text)


@tool(errors=[GONE.on_code(ErrorCode.NOT_FOUND)])
def one(a: str) -> str:
    deny("no")  # here


@tool(errors=[GONE.on_code(ErrorCode.NOT_FOUND)])
def two(a: str) -> str:
    abort(ErrorCode.NOT_FOUND, "gone")


@tool(errors=[GONE.on_code(ErrorCode.NOT_FOUND)])
def three(a: str) -> str:
    deny("slow", code=ErrorCode.TIMEOUT)
