from elsewhere import OTHER
from mcpcore import ErrorCode, FailureMode, tool

@tool
def search_articles() -> str: ...

@tool(name="list-all")
def list_everything() -> str: ...

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="search_articles"),
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="list-all"),
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool=None),
        FailureMode("d", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool=OTHER),
        FailureMode("e", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="one"),
    ]
)
def one() -> str: ...
