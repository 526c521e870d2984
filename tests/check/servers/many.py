"""A server without any library: 500 tools on one page or on endlessly many, or 5,000 that may change something."""

import json
import sys

COUNT, READ_ONLY = (5_000, 0) if sys.argv[1:] == ["writing"] else (500, 100)

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    result = {}
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "many", "version": "1"}}
    elif method == "tools/list":
        result["tools"] = [
            {"name": f"tool_{n}", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": n < READ_ONLY}}
            for n in range(COUNT)
        ]
        if sys.argv[1:] == ["endless"]:
            result["nextCursor"] = "more"
    elif method == "tools/call":
        result = {"content": []}
    elif method != "ping":
        result = None
    answer = {"result": result} if result is not None else {"error": {"code": -32601, "message": "none"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
