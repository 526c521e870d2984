# message: has fallback_arguments, but no fallback_tool
from mcpcore import ErrorCode, FailureMode, tool

MODE = FailureMode(
    "gone",
    ErrorCode.NOT_FOUND,
    when="There is no such article.",
    recovery="Search for the article first, then fetch it.",
    fallback_arguments={"query": "{name}"},  # here
)


@tool(errors=[MODE], read_only=True)
async def fetch(name: str) -> str:
    """Fetch."""
    raise LookupError(name)
