from typing import NoReturn
from mcpcore import tool

def fail(why: str) -> NoReturn: ...

@tool
def fetch(a: str) -> dict:
    fail(a)
    return {"error": a}
