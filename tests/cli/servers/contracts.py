"""A low-level server whose lists hold what no honest server would send; the first argument chooses the mischief."""

from __future__ import annotations

import json
import sys

ENTRY = {"reason": "gone", "name": "NOT_FOUND", "code": -32001, "when": "It is gone.", "recovery": "Look elsewhere."}
KEY = "dev.mcpcore/errors"
SCHEMA = {"type": "object"}
TOOLS = {
    "good": [
        {"name": "fetch", "inputSchema": SCHEMA, "_meta": {KEY: [ENTRY]}},
        {"name": "\u001b[2Jforged\n::error::x", "inputSchema": SCHEMA, "_meta": {KEY: [{**ENTRY, "code": "x"}, 7]}},
        {"name": "fetch", "inputSchema": SCHEMA},
        {"name": "", "inputSchema": SCHEMA},
    ],
    "types": [{"name": 7, "inputSchema": []}],
    "broken": [{"name": 7, "inputSchema": []}],
    "many": [{"name": f"t{number}", "inputSchema": SCHEMA} for number in range(50)],
}
MODE = sys.argv[1]


def answer(method, request):
    if method == "initialize":
        listed = {"tools": {}, "prompts": {}, "resources": {}}
        info = {"name": "wild", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": listed, "serverInfo": info}
    if method == "tools/list":
        if MODE == "ends":
            sys.exit(3)
        if MODE == "sleeps":
            return None
        if MODE in {"many", "endless"}:
            return {"tools": TOOLS["many"], "nextCursor": "again"}
        return {"tools": TOOLS[MODE]}
    if method == "prompts/list" and MODE != "broken":
        return {"prompts": [{"name": "ask", "_meta": {KEY: "no list"}}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message)
    body = {"result": result}
    if result is None:
        if message["method"] == "tools/list":
            continue
        code = -32000 if message["method"] == "resources/list" and MODE == "good" else -32601
        body = {"error": {"code": code, "message": "no\nsuch method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
