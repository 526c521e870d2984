from mcpcore import ErrorCode, FailureMode, TODO, conflict, not_found, timeout, tool


@tool(errors=[
    FailureMode(
        "not_found",
        ErrorCode.NOT_FOUND,
        when="No PMID was given.",
        recovery=TODO,
    ),
    FailureMode(
        "too_slow",
        ErrorCode.TIMEOUT,
        when="slow",
        recovery=TODO,
    ),
    FailureMode(
        "in_use",
        ErrorCode.CONFLICT,
        when="TODO: raised by load",
        recovery=TODO,
    ),
])
async def fetch(pmid: str) -> str:
    if not pmid:
        raise not_found("No PMID was given.")
    if pmid == "1":
        raise timeout("slow", reason="too_slow")
    if pmid == "2":
        raise not_found(f"no article {pmid}")
    return await load(pmid)


async def load(pmid: str) -> str:
    raise conflict("x", data={"reason": "in_use"})
