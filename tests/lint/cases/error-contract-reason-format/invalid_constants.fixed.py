from enum import StrEnum
from typing import Literal

import mcpcore as m

NO_MATCH = "no_match"
Reasons = Literal["no_match", "gone"]

class Reason(StrEnum):
    GONE = "gone"

MODES = [
    m.FailureMode(NO_MATCH, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
    m.FailureMode(Reason.GONE, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
]

@m.tool(errors=MODES)
def one(ctx: m.Context[Reasons], ids: list[str]) -> str:
    raise ctx.fail(NO_MATCH if ids else Reason.GONE)
