# message: no_row
from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

class NoRow(CodedError):
    def __init__(self, key: str, reason: str = "no_row") -> None:
        super().__init__(ErrorCode.NOT_FOUND, f"no {key}", reason=reason)

class NoOldRow(NoRow):
    def __init__(self, key: str) -> None:
        super().__init__(key, "no_old_row")

class NoTable(NoRow): ...

class Named(CodedError):
    kind = "named_by_the_class"
    def __init__(self, key: str) -> None:
        super().__init__(code=ErrorCode.NOT_FOUND, message=key, reason=self.kind)

class InData(CodedError):
    def __init__(self, key: str) -> None:
        super().__init__(ErrorCode.NOT_FOUND, key, {"reason": "in_data", "key": key})

def deep(key: str) -> str:
    raise NoOldRow(key)


@tool(errors=[MODE], read_only=True)
async def direct(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise NoRow(key)  # here


@tool(errors=[MODE], read_only=True)
async def argument(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise NoRow(key, "given")  # here


@tool(errors=[MODE], read_only=True)
async def through(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return deep(key)  # here


@tool(errors=[MODE], read_only=True)
async def inherited(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise NoTable(key)  # here


@tool(errors=[MODE], read_only=True)
async def attribute(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise Named(key)  # here


@tool(errors=[MODE], read_only=True)
async def data(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise InData(key)  # here
