"""A server over streamable HTTP without any library, whose tool `dies` ends it. It prints its port."""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, result = message["method"], None
        if method == "tools/call":
            os._exit(3)
        if method == "initialize":
            info = {"name": "http", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        elif method == "tools/list":
            tool = {"name": "dies", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
            result = {"tools": [tool, {**tool, "name": "other"}]}
            # Since 2026-07-28, a list says for how long it may be kept.
            result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if "id" not in message:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        error = {"code": -32601, "message": "none"}
        body = {"jsonrpc": "2.0", "id": message["id"], **({"error": error} if result is None else {"result": result})}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
