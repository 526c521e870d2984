# message: the fallback_arguments of 'b' do not fit 'find': it takes no argument 'name'
from mcpcore import ErrorCode, FailureMode, tool

@tool(read_only=True)
def find(customer: str, limit: int = 10) -> str: ...

@tool
def archive(order_id: int) -> str: ...

B = FailureMode(
    "b", ErrorCode.NOT_FOUND, when="x", recovery="y",
    fallback_tool="find", fallback_arguments={"customer": "{customer}", "name": 1},  # here
)

@tool(
    errors=[
        FailureMode(
            "a", ErrorCode.NOT_FOUND, when="x", recovery="y",
            fallback_tool="find", fallback_arguments={},  # here
        ),
        B,
        FailureMode(
            "c", ErrorCode.TIMEOUT, when="x", recovery="y",
            fallback_tool="archive", fallback_arguments={"order_id": "{order_id}"},  # here
        ),
    ]
)
def book(customer: str, order_id: int) -> str: ...
