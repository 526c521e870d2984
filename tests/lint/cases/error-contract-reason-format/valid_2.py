from mcpcore import ErrorCode, FailureMode

def mode(name):
    return FailureMode(name, ErrorCode.NOT_FOUND, when="x", recovery="y")

mode("NoMatch")
