from mcpcore import not_found, tool

@tool
def fetch(pmid: str) -> str:
    if not pmid:
        raise not_found("no such article")
    assert pmid.isdigit()
    raise AssertionError("unreachable")
