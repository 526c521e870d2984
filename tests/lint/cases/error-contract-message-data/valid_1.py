from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

LIMIT = 10

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, pmid: str, pmids: list[str], item, more: dict) -> str:
    if pmid == "1":
        raise ctx.fail("gone", f"no {pmid}", data={"pmid": pmid})
    if pmid == "2":
        raise ctx.fail("gone", f"none of {len(pmids)}", data={"pmids": pmids})
    if pmid == "3":
        raise ctx.fail("gone", f"no {item.id}", data={"id": item.id})
    if pmid == "4":
        raise ctx.fail("gone", f"no {pmid}", data=more)
    if pmid == "5":
        raise ctx.fail("gone", f"no {pmid}", data={**more})
    if pmid == "6":
        raise ctx.fail("gone", f"at most {LIMIT}")
    if pmid == "7":
        raise ctx.fail("gone", "a constant")
    data = {"pmid": pmid}
    raise not_found(f"no {pmid}", data)

@tool
def other(pmid: str) -> str:
    raise not_found(f"no {pmid}")
