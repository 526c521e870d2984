# message: the reason 'no_Match' is not snake_case
from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode(  # the name
            "no_" "Match",  # here
            ErrorCode.NOT_FOUND, when="x", recovery="y"
        ),
        FailureMode(
            ("Not "  # here
             "Here"),  # in two parts, for a reason
            ErrorCode.NOT_FOUND, when="x", recovery="y"
        ),
        FailureMode("_private", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
        FailureMode("two__", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
        FailureMode(
            "a_very_long_reason_that_goes_on_and_on_without_any_end_in_sight_at_all",  # here
            ErrorCode.CONFLICT, when="x", recovery="y",
        ),
    ]
)
def one() -> str: ...
