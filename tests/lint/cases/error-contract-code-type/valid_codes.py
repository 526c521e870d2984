from functools import partial

import mcpcore as m
from elsewhere import QUOTA
from mcpcore import CustomCode, ErrorCode as EC, FailureMode, Retry, tool

SPENT = CustomCode("SPENT", 1402, http_status=402, category="client", retry=Retry.never(), sentence="Spent.")
CODE = EC.CONFLICT
more = {"code": EC.CONFLICT, "when": "x", "recovery": "y"}
missing = partial(FailureMode, code=EC.NOT_FOUND, when="x", recovery="y")

def code(): ...

@tool(
    errors=[
        FailureMode("a", EC.NOT_FOUND, when="x", recovery="y"),
        FailureMode("b", code=CODE, when="x", recovery="y"),
        FailureMode("c", SPENT, when="x", recovery="y"),
        FailureMode("d", QUOTA, when="x", recovery="y"),
        FailureMode("e", code(), when="x", recovery="y"),
        FailureMode("f", EC(-32001), when="x", recovery="y"),
        FailureMode("g", EC["NOT_FOUND"], when="x", recovery="y"),
        FailureMode("h", **more),
        FailureMode("i", **unknown),
        FailureMode(*unknown, when="x", recovery="y"),
        missing("j"),
        FailureMode("k", m.ErrorCode.TIMEOUT if QUOTA else EC.CONFLICT, when="x", recovery="y"),
    ]
)
def one() -> str: ...

def mode(code): return FailureMode("a", code, when="x", recovery="y")
