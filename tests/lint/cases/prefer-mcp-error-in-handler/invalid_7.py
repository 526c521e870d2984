# message: ValueError
from mcpcore import tool

def bad(why: str) -> Exception:
    return ValueError(why)

@tool
def fetch(pmid: str) -> str:
    raise bad("no")  # here
