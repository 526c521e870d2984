from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode(  # the name
            "no_match",
            ErrorCode.NOT_FOUND, when="x", recovery="y"
        ),
        FailureMode(
            ("not_here"),  # in two parts, for a reason
            ErrorCode.NOT_FOUND, when="x", recovery="y"
        ),
        FailureMode("private", ErrorCode.CONFLICT, when="x", recovery="y"),
        FailureMode("two", ErrorCode.CONFLICT, when="x", recovery="y"),
        FailureMode(
            "a_very_long_reason_that_goes_on_and_on_without_any_end_in_sight",
            ErrorCode.CONFLICT, when="x", recovery="y",
        ),
    ]
)
def one() -> str: ...
