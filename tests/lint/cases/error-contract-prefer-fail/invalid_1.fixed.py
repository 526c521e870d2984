from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool


@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
async def fetch(ctx: Context[Literal["gone"]], pmid: str) -> str:
    try:
        return open(pmid).read()
    except OSError as error:
        raise ctx.fail("gone", f"no {pmid}", {"pmid": pmid}, retry=None) from error
