from mcpcore import ErrorCode, FailureMode
COMMON = (FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),)
