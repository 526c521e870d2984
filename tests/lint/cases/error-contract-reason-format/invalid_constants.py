# message: the reason 'No Match' is not snake_case
from enum import StrEnum
from typing import Literal

import mcpcore as m

NO_MATCH = "No Match"
Reasons = Literal["No Match", "Gone"]

class Reason(StrEnum):
    GONE = "Gone"

MODES = [
    m.FailureMode(NO_MATCH, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
    m.FailureMode(Reason.GONE, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
]

@m.tool(errors=MODES)
def one(ctx: m.Context[Reasons], ids: list[str]) -> str:
    raise ctx.fail(NO_MATCH if ids else Reason.GONE)
