from fastmcp import FastMCP

mcp = FastMCP("x")

class NotHeld(Exception):
    def as_answer(self) -> dict:
        return {"ok": False, "error": str(self)}  # here

def load(key: str) -> dict:
    if not key.isalnum():
        raise NotHeld("the key has other characters")
    return fetch(key)

@mcp.tool
def read(key: str) -> dict:
    try:
        return load(key)
    except Exception as exc:
        if isinstance(exc, (NotHeld, KeyError)):
            return exc.as_answer()
        raise
