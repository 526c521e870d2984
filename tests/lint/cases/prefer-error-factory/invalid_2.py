# message: timeout(...)
import mcpcore
from mcpcore import ErrorCode as E

@mcpcore.tool
def fetch(a: str) -> str:
    if a:
        error = mcpcore.CodedError(code=E.TIMEOUT, message="slow")  # here
        raise error
    raise mcpcore.CodedError(E["CONFLICT"])  # here
