# message: the reason of this FailureMode is empty
from mcpcore import ErrorCode, FailureMode

def mode(code):
    return FailureMode("", code, when="x", recovery="y")  # here
