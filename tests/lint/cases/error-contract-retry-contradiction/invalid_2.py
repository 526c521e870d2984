# message: the hint of 'a' says 'Wait 30 seconds', but NOT_FOUND is not retryable
import mcpcore
from mcpcore import ErrorCode as EC, FailureMode as FM, Retry, tool

SOON = Retry.after(seconds=5)
HINT = "Wait 30 seconds and try again."

@tool(
    idempotent=True,
    errors=[
        FM("a", EC.NOT_FOUND, when="x", recovery="Wait 30 seconds and try again."),  # here
        FM("b", EC.NOT_FOUND, when="x", recovery="Call list_items.", retry=Retry.now()),  # here
        FM("c", EC.INVALID_PARAMS, when="x", recovery="y", retry=SOON),  # here
        FM("d", EC.RATE_LIMITED, when="x", recovery=HINT, retry=SOON),  # here
        FM("e", EC.RATE_LIMITED, when="x", recovery="Wait 60 seconds."),  # here
        FM("f", EC.RATE_LIMITED, when="x", recovery="Wait a minute.", retry=Retry.never()),  # here
        FM("g", EC.CONFLICT, when="x", recovery="Another call runs: try again later."),  # here
        FM("h", EC.TIMEOUT, when="x", recovery="Wait 30 seconds and retry."),  # here
        FM("i", EC.SERVICE_UNAVAILABLE, when="x", recovery="Do not retry; tell the user."),  # here
        FM("j", EC.TIMEOUT, when="x", recovery="Do not retry immediately."),  # here
        FM("k", EC.RATE_LIMITED, when="x", recovery="Wait up to 10 seconds and retry."),
        FM("l", EC.NOT_FOUND, when="x", recovery="y", strategy="retry_later"),  # here
        FM("m", EC.FORBIDDEN, when="x", recovery="y", retry=mcpcore.Retry.after(seconds=1.5)),  # here
        FM("n", EC.SERVICE_UNAVAILABLE, when="x", recovery="Retry in 2 minutes."),  # here
        FM("o", EC.SERVICE_UNAVAILABLE, when="x", recovery="Retrying will not help; ask the user."),  # here
        FM("p", EC(-32001), when="x", recovery="Please wait a few seconds."),  # here
        FM("q", EC.RATE_LIMITED, when="x", recovery="Wait thirty seconds.", retry=Retry.now()),
        FM("r", EC.NOT_FOUND, when="x", recovery=f"Wait 30 seconds, then read {HINT.x}."),  # here
    ]
)
def one() -> str: ...
