from mcpcore import ErrorCode, FailureMode, Retry
LATE = FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())
