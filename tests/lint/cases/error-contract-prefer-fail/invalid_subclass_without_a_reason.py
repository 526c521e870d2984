from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

MODE = FailureMode("no_row", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

class NoReason(CodedError):
    def __init__(self, key: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, f"no {key}")

@tool(errors=[MODE], read_only=True)
async def fetch(ctx: Context, key: str) -> str:
    """Fetch."""
    raise NoReason(key)  # here
