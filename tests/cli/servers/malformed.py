"""A server that writes its answers itself, and one of them wrongly: the one that its argument names."""

from __future__ import annotations

import json
import sys
from typing import Any

ANSWERS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "malformed", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}
WRONG: dict[str, dict[str, Any]] = {
    "list": {"tools/list": {"tools": 5}},
    "no-list": {"tools/list": None},
    "call": {"tools/call": {"content": "done"}},
}

for line in sys.stdin:
    asked = json.loads(line)
    answer = (ANSWERS | WRONG[sys.argv[1]]).get(asked["method"], {})
    if "id" in asked and answer is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
