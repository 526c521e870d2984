"""A server without any library that fails in every bad way, one for each tool.

`python hostile.py [NAME ...]` has only these tools. The file in HOSTILE_LOG gets the id of each process, and each call
of a tool that may change something.
"""

import json
import os
import subprocess
import sys

LOG = os.environ.get("HOSTILE_LOG", os.devnull)
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2}},
    "required": ["text"],
    "additionalProperties": False,
}
ENTRY = {
    "reason": "no_match",
    "code": -32001,
    "name": "NOT_FOUND",
    "when": "Nothing matches.",
    "recovery": "Search first.",
    "retry": {"kind": "not_retryable"},
    "dataSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}
UNKNOWN = json.loads(os.environ.get("HOSTILE_UNKNOWN", '{"content": []}'))
WITH_CONTRACT = ("undeclared", "wrong_code", "wrong_data", "as_declared")
ODD = "\x1b]0;owned\x07</testcase>|@everyone`x`\u202e"


def failed(text):
    return {"content": [{"type": "text", "text": text}], "isError": True}


def canonical(reason, *, name="NOT_FOUND", code=-32001, retry="not_retryable", **more):
    data = {
        "reason": reason,
        "retryable": retry != "not_retryable",
        "recovery": {"hint": "Search first.", **more.pop("recovery", {})},
    }
    data |= more.pop("data", {})
    error = {"code": code, "name": name, "message": "No.", "retry": {"kind": retry}, "data": data, **more}
    error |= {"correlationId": "0123456789abcdef", "timestamp": "2026-01-01T00:00:00.000Z"}
    return {"content": [{"type": "text", "text": "No."}], "structuredContent": {"error": error}, "isError": True}


def dies(arguments):
    if arguments.get("count") != 2:
        os._exit(3)
    return {"content": []}


def noisy(_):
    print("\nDebug: \x1b[31mstarting", flush=True)
    return {"content": []}


def writes(arguments):
    with open(LOG, "a") as log:
        log.write(f"called {json.dumps(arguments)}\n")
    return {"content": []}


TOOLS = {
    "leaks_environment": lambda _: failed(f"env: {dict(os.environ)}"),
    "leaks_traceback": lambda _: failed('Traceback (most recent call last):\n  File "/srv/app/x.py", line 3, in f'),
    "leaks_exception": lambda _: failed("KeyError: 'text'"),
    "leaks_secret": lambda _: failed("postgres://admin:hunter22@db.internal/prod refused"),
    "leaks_path": lambda _: failed("cannot open /home/alice/secret/app.db"),
    "dies": dies,
    "hangs": lambda _: ...,
    "noisy": noisy,
    "malformed": lambda _: {"content": "text"},
    "as_success": lambda _: {"content": [{"type": "text", "text": "Error: it broke"}]},
    "accepts": lambda _: {"content": []},
    "as_protocol_error": lambda _: {"code": -32603, "message": "It broke"},
    "forges": lambda arguments: failed(f"There is no {arguments.get('text')}"),
    "repeats": lambda arguments: failed(f"No {str(arguments.get('text')).replace(chr(10), ' ')}"),
    "echoes": lambda arguments: failed(f"text: {json.dumps(arguments)} is wrong"),
    "contradicts": lambda _: canonical("invalid_arguments", retry="retryable_immediate"),
    "unsafe": lambda _: canonical("lost", retry="retryable_immediate", effects="unknown"),
    "read_only_effects": lambda _: canonical("lost", effects="partial"),
    "unknown_fallback": lambda _: canonical("lost", recovery={"fallbackTool": "nowhere"}),
    "undeclared": lambda _: canonical("other"),
    "wrong_code": lambda _: canonical("no_match", name="FORBIDDEN", code=-32005, data={"word": "a"}),
    "wrong_data": lambda _: canonical("no_match", data={"word": 3}),
    "as_declared": lambda _: canonical("no_match", data={"word": "text"}),
    "broken_contract": lambda _: canonical("no_match"),
    "contract_without_list": lambda _: canonical("no_match"),
    "declares_fallback": lambda _: {"content": []},
    "breaks_on_cancel": lambda _: {"content": []},
    "json_advice": lambda _: failed(json.dumps({"error": "no", "retryable": False, "suggestion": "Use another text."})),
    "writes": writes,
    "contradictory_hints": writes,
    "remote_schema": lambda _: failed("No."),
    "hard_schema": lambda _: failed("No."),
    "huge_schema": lambda _: failed("No."),
    ODD: lambda _: failed(f"{ODD} is wrong; use another"),
}


def listed(name):
    tool = {"name": name, "description": ODD, "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
    if name in {"writes", "unsafe"}:
        tool["annotations"] = {"readOnlyHint": False, "idempotentHint": False}
    if name == "contradictory_hints":
        tool["annotations"]["destructiveHint"] = True
    entries = {
        "broken_contract": [ENTRY, {"reason": 7}],
        "contract_without_list": "none",
        "declares_fallback": [{**ENTRY, "fallbackTool": "nowhere"}],
        **{name: [{**ENTRY, "fallbackTool": "accepts"}] for name in WITH_CONTRACT},
    }
    if name in entries:
        tool["_meta"] = {"dev.mcpcore/errors": entries[name]}
    schemas = {
        "remote_schema": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}, "required": ["a"]},
        "hard_schema": {
            "type": "object",
            "properties": {"text": {"type": "string", "pattern": "^(a+)+b{7}$"}},
            "required": ["text"],
        },
        "huge_schema": {"type": "object", "description": "x" * 200_000},
    }
    return tool | ({"inputSchema": schemas[name]} if name in schemas else {})


def main():
    names = sys.argv[1:] or list(TOOLS)
    again = os.environ.get("HOSTILE_AGAIN") if os.path.exists(LOG) else None
    if again == "ends":
        sys.exit(1)
    with open(LOG, "a") as log:
        log.write(f"pid {os.getpid()}\n")
    if "HOSTILE_CHILD" in os.environ:
        child = subprocess.Popen(["sleep", "600"])
        with open(LOG, "a") as log:
            log.write(f"pid {child.pid}\n")
    sys.stderr.write("flood " * 100_000)
    calls, held, deaf = 0, None, False
    for line in sys.stdin:
        message = json.loads(line)
        method, ident = message.get("method"), message.get("id")
        if method == "notifications/cancelled" and message["params"]["requestId"] == held:
            deaf = True
        if ident is None or deaf:
            continue
        if method == "initialize":
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": ODD, "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [listed(name) for name in names]}
            if len(names) > 3:
                result["tools"].append(listed(names[0]))
        elif method == "tools/call":
            name = message["params"]["name"]
            calls += name == "breaks_on_cancel"
            if name == "breaks_on_cancel" and calls == 9:
                held = ident
                continue
            result = TOOLS[name](message["params"]["arguments"]) if name in TOOLS else UNKNOWN
        elif method == "ping":
            result = ... if again == "deaf" else {}
        else:
            result = {"code": -32601, "message": "no such method"}
        if result is ...:
            continue
        key = "error" if "code" in result else "result"
        print(json.dumps({"jsonrpc": "2.0", "id": ident, key: result}), flush=True)


main()
