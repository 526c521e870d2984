"""Serves the tool `find_NAME` with any output schema: `python shapes.py NAME SCHEMA`.

It writes its messages itself, since the SDK for Python refuses to send some schemas. The answers of the tool are the same
for every schema.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

PLACE: Final = "Hamburg"
FOUND: Final = f"RX-9 is in {PLACE}."
LOST: Final = "RX-9 is lost."


def answers(request: dict[str, Any], name: str, schema: object) -> dict[str, Any]:
    """The results of all methods, for one request."""
    parameters = request.get("params", {})
    lost = parameters.get("arguments", {}).get("lost", False)
    arguments = {"type": "object", "properties": {"lost": {"type": "boolean"}}, "required": ["lost"]}
    error = {"code": -32001, "message": LOST, "retry": {"kind": "not_retryable"}}
    return {
        "initialize": {
            "protocolVersion": parameters.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": "1"},
        },
        "ping": {},
        "tools/list": {
            "tools": [
                {"name": f"find_{name}", "description": "Find.", "inputSchema": arguments, "outputSchema": schema}
            ]
        },
        "tools/call": {
            "content": [{"type": "text", "text": f"Error: {LOST}" if lost else FOUND}],
            "structuredContent": {"error": error} if lost else {"number": "RX-9", "place": PLACE},
            "isError": lost,
        },
    }


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answers(message, sys.argv[1], json.loads(sys.argv[2])).get(message["method"])
            outcome = (
                {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
            )
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
