# message: 'no_mach' is not declared
import enum
from mcpcore import Context, ErrorCode, FailureMode, tool

LOST = "lost"

class Reason(enum.Enum):
    LEFT = "left"

ERRORS = [
    FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    *[FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y")],
]

class Tools:
    @tool(errors=ERRORS)
    async def fetch(self, c: Context, a: str) -> str:
        if a == "1":
            raise c.fail('no_mach', "x")  # here
        if a == "2":
            raise c.fail(reason="qeue_full")  # here
        if a == "3":
            raise c.fail(LOST)  # here
        if a == "4":
            raise c.fail(Reason.LEFT.value)  # here
        if a == "5":
            raise c.fail("no_match" if a else "nowhere")  # here
        alias = c
        def inner():
            return alias.recovery_for("no_matchs")  # here
        raise c.fail("no_match", data=inner())
