from elsewhere import HINT
from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="Call search_articles for valid PMIDs."),
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery=HINT),
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery=f"Call {HINT}"),
        FailureMode("d", ErrorCode.NOT_FOUND, when="x", recovery=""),
        FailureMode("e", ErrorCode.NOT_FOUND, when="x", recovery="Call "
                    "list_items to see " + "them."),
        FailureMode("f", ErrorCode.NOT_FOUND, when="x"),
        FailureMode("g", ErrorCode.NOT_FOUND, when="x", recovery="TODO items are listed by list_todos."),
    ]
)
def one() -> str: ...
