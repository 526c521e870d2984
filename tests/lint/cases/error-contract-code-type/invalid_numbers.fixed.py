import mcpcore as m

LOST = -32001
CODE = m.ErrorCode.TIMEOUT

@m.tool(
    errors=[
        m.FailureMode("a", m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
        m.FailureMode("b", code=(m.ErrorCode.CONFLICT), when="x", recovery="y"),
        m.FailureMode("c", m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
        m.FailureMode("d", m.ErrorCode.TIMEOUT, when="x", recovery="y"),
        m.FailureMode("e", -32003 if LOST else CODE, when="x", recovery="y"),
    ]
)
def one() -> str: ...
