# message: fetch raises NOT_FOUND, TIMEOUT and CONFLICT
from mcpcore import conflict, not_found, timeout, tool


@tool
async def fetch(pmid: str) -> str:  # here
    if not pmid:
        raise not_found("No PMID was given.")
    if pmid == "1":
        raise timeout("slow", reason="too_slow")
    if pmid == "2":
        raise not_found(f"no article {pmid}")
    return await load(pmid)


async def load(pmid: str) -> str:
    raise conflict("x", data={"reason": "in_use"})
