from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("no_row", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

class NoRow(CodedError):
    def __init__(self, key: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, f"no {key}", reason="no_row")


@tool(errors=[MODE], read_only=True)
async def fetch(ctx: Context[Literal["no_row"]], key: str) -> str:
    """Fetch."""
    raise NoRow(key)
