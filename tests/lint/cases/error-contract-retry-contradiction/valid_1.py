from elsewhere import ADVICE, CODE, HINT
from mcpcore import CustomCode, ErrorCode as EC, FailureMode as FM, Retry, tool

MINE = CustomCode("MINE", 1402, http_status=402, category="client", retry=Retry.never(), sentence="Spent.")

@tool(
    errors=[
        FM("a", EC.NOT_FOUND, when="x", recovery="Call search_articles for valid PMIDs."),
        FM("b", EC.NOT_FOUND, when="x", recovery="Check the PMID and try again with a valid one."),
        FM("c", EC.NOT_FOUND, when="x", recovery="Do not wait 30 seconds: it will not come back."),
        FM("d", EC.RATE_LIMITED, when="x", recovery="Wait 30 seconds and retry."),
        FM("e", EC.RATE_LIMITED, when="x", recovery="Wait 60 seconds.", retry=Retry.after(seconds=60)),
        FM("f", EC.RATE_LIMITED, when="x", recovery="Wait a minute.", retry=Retry.after(seconds=60)),
        FM("g", EC.RATE_LIMITED, when="x", recovery="Wait at least 5 seconds and retry."),
        FM("h", EC.RATE_LIMITED, when="x", recovery="Wait 10 to 60 seconds and retry."),
        FM("i", EC.RATE_LIMITED, when="x", recovery="Wait 60 s.", retry=ADVICE),
        FM("j", CODE, when="x", recovery="Wait 60 seconds."),
        FM("k", EC.NOT_FOUND, when="x", recovery=HINT),
        FM("l", MINE, when="x", recovery="Wait 60 seconds."),
        FM("m", EC.CONFLICT, when="x", recovery="Read it again first, then retry.", retry=Retry.now()),
        FM("n", EC.DATABASE_ERROR, when="x", recovery="Wait 2 seconds.", retry=Retry.after(seconds=2)),
        FM("o", EC.RATE_LIMITED, when="x", recovery="Ask for a smaller batch.", retry=Retry.never()),
        FM("p", EC.TIMEOUT, when="x", recovery="Do not retry more than three times; ask for less."),
        FM("q", EC.TIMEOUT, when="x", recovery="Wait a moment and retry."),
        FM("r", EC.TIMEOUT, when="x", recovery="Retry with a timeout of 60 seconds."),
        FM("s", EC.RATE_LIMITED, when="x", recovery="Do not retry before 30 seconds are over."),
        FM("t", EC.NOT_FOUND, when="x", recovery="Wait for the user to name another file."),
        FM("u", EC.RATE_LIMITED, when="x", recovery="Wait 30 s.", retry=Retry.after(seconds=ADVICE)),
        FM("v", EC.RATE_LIMITED, when="x", recovery="Wait half an hour.", retry=Retry.after(seconds=1800)),
        FM("w", EC.NOT_FOUND, when="x", recovery="y", strategy="check_input"),
        FM("x", EC.TIMEOUT, when="x", recovery="y", strategy="retry_later"),
        FM("z", EC.RATE_LIMITED, when="x", recovery="Wait 2 seconds, then 30 seconds the second time."),
        FM("ab", EC.RATE_LIMITED, when="x", recovery="Wait as long as the advice says, then call again."),
    ]
)
def one() -> str: ...
