# message: fetch raises NOT_FOUND itself
from mcpcore import ErrorCode, FailureMode, not_found, tool


@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
async def fetch(pmid: str) -> str:
    try:
        return open(pmid).read()
    except OSError as error:
        raise not_found(f"no {pmid}", {"pmid": pmid}, retry=None) from error  # here
