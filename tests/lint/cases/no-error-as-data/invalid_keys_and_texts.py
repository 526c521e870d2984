# message: failed() returns {"error": ...}; the client sees a successful call (tool: fetch)
import json
from mcp import types
from pydantic import BaseModel
from mcpcore import tool

class Result(BaseModel):
    success: bool
    error: str | None = None

def failed(why):
    return {"error": why, "code": 1}  # here

@tool
def fetch(a: str, bad: bool) -> dict:
    if a == "1":
        return {"ok": False, "why": a}  # here
    if a == "2":
        return {"error": a}  # here
    if a == "3":
        return f"Error: no {a}"  # here
    if a == "4":
        return types.CallToolResult(content=[], is_error=True)  # here
    if a == "5":
        return json.dumps({"error": "no"}, indent=2)  # here
    if a == "6":
        return [types.TextContent(type="text", text="Failed to fetch " + a)]  # here
    if a == "7":
        return {"status": "error", "message": "no"}  # here
    if a == "8":
        return Result(success=False, error="no")  # here
    if a == "9":
        return failed(a)
    if a == "10":
        return {"error": "no"} if bad else {"rows": []}  # here
    answer = dict(isError=True)
    return answer  # here
