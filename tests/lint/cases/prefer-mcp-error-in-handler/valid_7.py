from mcpcore import tool

class Gone(Exception): ...

@tool
def fetch(pmid: str) -> str:
    raise Gone(pmid)
