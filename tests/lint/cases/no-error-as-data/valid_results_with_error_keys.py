import json
from mcpcore import tool

@tool
def fetch(a: str, error: str | None) -> dict:
    if a == "1":
        return {"ok": True, "error": None}
    if a == "2":
        return {"valid": False, "error": "line 3: unexpected token"}
    if a == "3":
        return {"rows": [], "error": error}
    if a == "4":
        return {"mean": 1.5, "error": 0.03}
    if a == "5":
        return {"job": a, "status": "failed"}
    if a == "5b":
        return {"job": a, "state": "error", "retries": 3}
    if a == "6":
        return {"success": bool(a)}
    if a == "7":
        return "Error codes of HTTP are 4xx and 5xx"
    if a == "8":
        return json.dumps({"errors": [], "items": [1]})
    result = {"ok": False}
    result["ok"] = True
    return result

@tool
def health_check() -> dict:
    try:
        ping()
    except OSError as error:
        return {"status": "unhealthy", "error": error.strerror}
    return {"status": "healthy"}

@tool
def test_connection() -> dict:
    return {"success": False, "error": "refused"}

@tool
def validate_settings(text: str) -> dict:
    if "=" not in text:
        return {"ok": False, "problems": ["nothing is set"]}
    return {"ok": True, "problems": []}
