# message: the code of 'a' is the number -32001, not an ErrorCode
import mcpcore as m

LOST = -32001
CODE = m.ErrorCode.TIMEOUT

@m.tool(
    errors=[
        m.FailureMode("a", -32001, when="x", recovery="y"),  # here
        m.FailureMode("b", code=(-32002), when="x", recovery="y"),  # here
        m.FailureMode("c", LOST, when="x", recovery="y"),  # here
        m.FailureMode("d", m.ErrorCode.TIMEOUT.value, when="x", recovery="y"),  # here
        m.FailureMode("e", -32003 if LOST else CODE, when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...
