from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

class Other(CodedError):
    def __init__(self, key: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, key, reason="other")

class Late(CodedError):
    def __init__(self, key: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, key, reason="first")
        self.reason = "other"

class Rebound(CodedError):
    def __init__(self, reason: str) -> None:
        reason = clean(reason)
        super().__init__(ErrorCode.NOT_FOUND, "x", reason=reason)

class Mixed(ValueError, CodedError):
    def __init__(self, key: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, key, reason="mixed")

class Passed(CodedError):
    def __init__(self, **options) -> None:
        super().__init__(ErrorCode.NOT_FOUND, "x", **options)


@tool(errors=[MODE], read_only=True)
async def declared(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise Other(key)


@tool(errors=[MODE], read_only=True)
async def set_later(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise Late(key)


@tool(errors=[MODE], read_only=True)
async def rebound(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise Rebound("mine")


@tool(errors=[MODE], read_only=True)
async def mixed(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise Mixed(key)


@tool(errors=[MODE], read_only=True)
async def passed(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise Passed(**load(key))
