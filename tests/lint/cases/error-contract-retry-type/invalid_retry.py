# message: the retry of 'a' is the bool True, not a Retry
from datetime import timedelta

from mcpcore import ErrorCode as EC, FailureMode as FM, Retry as R, tool

SECONDS = 30

@tool(
    errors=[
        FM("a", EC.RATE_LIMITED, when="x", recovery="y", retry=True),  # here
        FM("b", EC.RATE_LIMITED, when="x", recovery="y", retry=SECONDS),  # here
        FM("c", EC.RATE_LIMITED, when="x", recovery="y", retry="later"),  # here
        FM("d", EC.RATE_LIMITED, when="x", recovery="y", retry={"kind": "not_retryable"}),  # here
        FM("e", EC.RATE_LIMITED, when="x", recovery="y", retry=R.never),  # here
        FM("f", EC.RATE_LIMITED, when="x", recovery="y", retry=R),  # here
        FM("g", EC.RATE_LIMITED, when="x", recovery="y", retry=timedelta(seconds=30)),  # here
        FM("h", EC.RATE_LIMITED, when="x", recovery="y", retry=EC.TIMEOUT),  # here
        FM("i", EC.RATE_LIMITED, when="x", recovery="y", retry=R.now() if SECONDS else False),  # here
    ]
)
def one() -> str: ...
