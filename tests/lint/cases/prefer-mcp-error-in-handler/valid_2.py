from mcpcore import Context, ErrorCode, FailureMode, guard, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")

@tool(errors=[GONE])
@guard(errors={OSError: "gone"})
def fetch(ctx: Context, pmid: str) -> str:
    with ctx.guard({LookupError: GONE}), guard(code=ErrorCode.TIMEOUT):
        if pmid == "1":
            raise KeyError(pmid)
        raise RuntimeError(pmid)
    raise FileNotFoundError(pmid)
