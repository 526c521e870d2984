# message: fetch raises NOT_FOUND itself
from typing import Any

import mcpcore
from mcpcore import CodedError, Context, ErrorCode, FailureMode

ERRORS = (
    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    FailureMode("slow", ErrorCode.TIMEOUT, when="x", recovery="y"),
)

class Tools:
    @mcpcore.tool(errors=[*ERRORS])
    def fetch(
        self,
        pmid: str,
    ) -> str:
        if pmid == "1":
            raise mcpcore.not_found()  # here
        if pmid == "2":
            raise CodedError(ErrorCode.TIMEOUT, "x")  # here
        if pmid == "3":
            raise CodedError(message="x", code=ErrorCode.TIMEOUT)  # here
        if pmid == "4":
            raise mcpcore.not_found("x", data={"reason": "gone", "pmid": pmid})  # here
        if pmid == "5":
            raise mcpcore.not_found("x", {"reason": "gone"})  # here
        if pmid == "6":
            raise mcpcore.not_found(message="x", reason="gone")  # here
        raise mcpcore.not_found("x", reason="gone", retry=None)  # here

@mcpcore.tool(errors=ERRORS)
def other(context: Context[Any]) -> str:
    error = mcpcore.not_found("a")  # here
    if context:
        error = mcpcore.timeout("b")  # here
    raise error
