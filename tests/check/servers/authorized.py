"""A server over streamable HTTP that wants a token, and sends it back wherever it can. It prints its port."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_DELETE(self):
        self.answer(200, b"")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token, key = self.headers["Authorization"], self.headers["X-Key"]
        if token is None:
            self.answer(401, b"who are you?")
            return
        said = f"{token} and {key}"
        method, result = message["method"], None
        if method == "initialize":
            info = {"name": f"http {said}", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        elif method == "tools/list":
            tool = {"name": "find", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
            result = {"tools": [{**tool, "description": said, "_meta": {"dev.mcpcore/errors": [{"reason": said}]}}]}
        elif method == "tools/call":
            result = {"isError": True, "content": [{"type": "text", "text": said}], "structuredContent": {said: [said]}}
        elif method == "ping":
            result = {}
        if "id" not in message:
            self.answer(202, b"")
            return
        reply = {"error": {"code": -32601, "message": said}} if result is None else {"result": result}
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}).encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
