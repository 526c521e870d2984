# message: 'a' sends the caller to the tool 'search_item', which the project does not define
from mcpcore import ErrorCode, FailureMode, tool

OTHER = "search"

@tool(name="list-all")
def list_all_it() -> str: ...

@tool
def search_items() -> str: ...

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="search_item"),  # here
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="list_all_it"),  # here
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool=OTHER),  # here
    ]
)
def one() -> str: ...
