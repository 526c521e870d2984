from mcpcore import ErrorCode, FailureMode

SHARED = [FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')]
