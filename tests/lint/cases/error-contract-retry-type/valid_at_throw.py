from typing import Any, Literal

from elsewhere import EFFECTS
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, timeout, tool

class Late(CodedError):
    def __init__(self, effects: int, retry: int) -> None:
        super().__init__(ErrorCode.TIMEOUT, f"{effects} {retry}")

@tool(errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y")])
def one(ctx: Context[Any], a: int, told: Literal["none", "partial"], options: dict) -> str:
    match a:
        case 1:
            raise ctx.fail("a", retry=Retry.now(), effects="none" if told else "partial")
        case 2:
            raise timeout("x", retry=None, effects=told)
        case 3:
            raise CodedError(ErrorCode.TIMEOUT, effects=EFFECTS)
        case 4:
            raise ctx.fail("a", retry=..., effects=None)
        case 5:
            raise Late(effects=3, retry=4)
    raise ctx.fail("a", **options)
