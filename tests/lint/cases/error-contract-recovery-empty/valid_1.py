from elsewhere import HINT
from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="Call search_articles for valid PMIDs."),
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery=f"{HINT}"),
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="" + HINT),
        FailureMode("d", ErrorCode.NOT_FOUND, when="x"),
        FailureMode("e", ErrorCode.NOT_FOUND, when="x", recovery=None),
        FailureMode("f", ErrorCode.NOT_FOUND, when="", recovery="Ask."),
    ]
)
def one() -> str: ...
