from mcpcore import ErrorCode, FailureMode

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="x", recovery="y")
