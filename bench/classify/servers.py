"""Real peers on loopback: an HTTP server that answers what a path says, servers that refuse in their own protocols."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class _Http(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        kind, _, rest = parts.path.strip("/").partition("/")
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        length = int(self.headers.get("content-length") or 0)
        if length:
            self.rfile.read(length)
        answer = self.server.answers.get(kind)  # type: ignore[attr-defined]
        if answer is not None:
            return self._send(*answer)
        if kind == "slow":
            time.sleep(float(rest.partition("/")[0] or 1))
            return self._send(200, {}, b"late")
        if kind == "hangup":
            self.close_connection = True
            return None
        if kind == "short":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"only this")
            self.close_connection = True
            return None
        if kind == "garbage":
            self.wfile.write(b"this is not HTTP\r\n\r\n")
            self.close_connection = True
            return None
        if kind == "redirect":
            return self._send(302, {"Location": "/redirect/"}, b"")
        if kind == "badgzip":
            return self._send(200, {"Content-Encoding": "gzip"}, b"this is not gzip")
        if kind == "text":
            return self._send(200, {"Content-Type": "text/html"}, b"<html>not json</html>")
        return self._send(
            int(kind),
            {"Retry-After": asked["after"]} if "after" in asked else {},
            b'{"error": {"message": "as asked"}}',
        )

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _answer  # noqa: N815


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients of this server hang up on purpose."""


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _postgres(connection: socket.socket) -> None:
    def packet(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!I", len(body) + 4) + body

    while True:
        (length,) = struct.unpack("!I", _exactly(connection, 4))
        body = _exactly(connection, length - 4)
        if struct.unpack("!I", body[:4])[0] == 80877103 or struct.unpack("!I", body[:4])[0] == 80877104:
            connection.sendall(b"N")
            continue
        break
    if b"wrong_password" in body:
        fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user\0\0"
        connection.sendall(packet(b"E", fields))
        return
    if b"too_many" in body:
        connection.sendall(packet(b"E", b"SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0"))
        return
    ready = packet(b"Z", b"I")
    settings = b"".join(
        packet(b"S", name + b"\0" + value + b"\0")
        for name, value in (
            (b"server_version", b"15.0"),
            (b"client_encoding", b"UTF8"),
            (b"standard_conforming_strings", b"on"),
            (b"integer_datetimes", b"on"),
        )
    )
    connection.sendall(packet(b"R", struct.pack("!I", 0)) + settings + packet(b"K", struct.pack("!II", 1, 1)) + ready)
    while True:
        kind = _exactly(connection, 1)
        (length,) = struct.unpack("!I", _exactly(connection, 4))
        body = _exactly(connection, length - 4)
        if kind == b"X":
            return
        if kind == b"Q":
            state, _, message = body.rstrip(b"\0").partition(b" ")
            if len(state) != 5 or not state.isalnum() or state.upper() == b"BEGIN":
                connection.sendall(packet(b"C", b"BEGIN\0") + ready)
            elif state == b"00HUP":
                return
            else:
                fields = b"SERROR\0VERROR\0C" + state + b"\0M" + (message or b"as asked") + b"\0\0"
                connection.sendall(packet(b"E", fields) + ready)


def _mysql(connection: socket.socket) -> None:
    def send(sequence: int, body: bytes) -> None:
        connection.sendall(struct.pack("<I", len(body))[:3] + bytes([sequence]) + body)

    def receive() -> tuple[int, bytes]:
        header = _exactly(connection, 4)
        return header[3], _exactly(connection, int.from_bytes(header[:3], "little"))

    def error(sequence: int, number: int, state: bytes, message: bytes) -> None:
        send(sequence, b"\xff" + struct.pack("<H", number) + b"#" + state + message)

    capabilities = 0x00000200 | 0x00008000 | 0x00000008 | 0x00080000
    greeting = (
        b"\x0a8.0.0\0" + struct.pack("<I", 1) + b"12345678\0" + struct.pack("<H", capabilities & 0xFFFF) + b"\x2d\x02\0"
        + struct.pack("<H", capabilities >> 16) + b"\x15" + b"\0" * 10 + b"123456789012\0" + b"mysql_native_password\0"
    )  # fmt: skip
    send(0, greeting)
    sequence, body = receive()
    ok = b"\0\0\0\x02\0\0\0"
    if b"wrong_password" in body:
        return error(sequence + 1, 1045, b"28000", b"Access denied for user (using password: YES)")
    if b"too_many" in body:
        return error(sequence + 1, 1040, b"08004", b"Too many connections")
    send(sequence + 1, ok)
    while True:
        sequence, body = receive()
        if body[:1] == b"\x01":
            return None
        words = body[1:].split(b" ", 1)
        if words[0].isdigit():
            error(sequence + 1, int(words[0]), b"HY000", words[1] if len(words) > 1 else b"as asked")
        elif words[0] == b"hangup":
            return None
        else:
            send(sequence + 1, ok)


def _redis(connection: socket.socket) -> None:
    reader = connection.makefile("rb")
    while True:
        line = reader.readline()
        if not line:
            return
        arguments = []
        for _ in range(int(line[1:])):
            size = int(reader.readline()[1:])
            arguments.append(reader.read(size + 2)[:-2])
        if arguments[0].upper() == b"GET":
            if arguments[1] == b"hangup":
                return
            if arguments[1] == b"slow":
                time.sleep(2)
            connection.sendall(b"-" + arguments[1] + b"\r\n")
        else:
            connection.sendall(b"+OK\r\n")


def _mongo(connection: socket.socket) -> None:
    import bson

    while True:
        length, request, _, code = struct.unpack("<iiii", _exactly(connection, 16))
        body = _exactly(connection, length - 16)
        if code == 2013:
            (size,) = struct.unpack("<i", body[5:9])
            document: dict[str, Any] = bson.decode(body[5 : 5 + size])
        else:
            end = body.index(b"\0", 4)
            document = bson.decode(body[end + 9 :])
        command = next(iter(document))
        if command in {"hello", "isMaster", "ismaster"}:
            reply: dict[str, Any] = {
                "ok": 1, "ismaster": True, "isWritablePrimary": True, "maxWireVersion": 25, "minWireVersion": 0,
                "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 1000,
            }  # fmt: skip
        elif command == "find":
            asked = document["filter"]
            reply = {
                "ok": 0,
                "code": asked["code"],
                "codeName": asked.get("name", "Asked"),
                "errmsg": asked.get("say", "as asked"),
            }
        elif command == "insert":
            reply = {
                "ok": 1,
                "n": 0,
                "writeErrors": [{"index": 0, "code": 11000, "errmsg": "E11000 duplicate key error"}],
            }
        else:
            reply = {"ok": 1}
        payload = bson.encode(reply)
        if code == 2013:
            message = struct.pack("<I", 0) + b"\0" + payload
            connection.sendall(struct.pack("<iiii", len(message) + 16, 1, request, 2013) + message)
        else:
            message = struct.pack("<iqii", 8, 0, 0, 1) + payload
            connection.sendall(struct.pack("<iiii", len(message) + 16, 1, request, 1) + message)


def _silent(_: socket.socket) -> None:
    time.sleep(3)


class Peers(contextlib.ExitStack):
    """All servers, started on first use, and a port on which nobody listens."""

    def __init__(self) -> None:
        super().__init__()
        self._ports: dict[str, int] = {}
        self._http: ThreadingHTTPServer | None = None
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        # Bound, never listening: the port stays dead, since nobody else can take it.
        self.callback(listener.close)
        self.dead_port: int = listener.getsockname()[1]

    @property
    def dead(self) -> str:
        return f"http://127.0.0.1:{self.dead_port}/"

    @property
    def http(self) -> str:
        if self._http is None:
            server = _Quiet(("127.0.0.1", 0), _Http)
            server.daemon_threads = True
            server.answers = {}  # type: ignore[attr-defined]
            self._http = server
            self._serve(server)
        return f"http://127.0.0.1:{self._http.server_address[1]}/"

    def url(self, path: object) -> str:
        return f"{self.http}{path}"

    def answering(self, status: int, body: object, **headers: str) -> str:
        """A base URL under which every path answers so."""
        base = self.http
        answers = self._http.answers  # type: ignore[union-attr]
        name = f"a{len(answers)}"
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        answers[name] = (status, {key.replace("_", "-"): value for key, value in headers.items()}, content)
        return f"{base}{name}"

    def port(self, protocol: str) -> int:
        """The port of a server that speaks `protocol`: postgres, mysql, redis, mongo, or silent."""
        if protocol not in self._ports:
            speak = {"postgres": _postgres, "mysql": _mysql, "redis": _redis, "mongo": _mongo, "silent": _silent}[
                protocol
            ]

            class Handler(socketserver.BaseRequestHandler):
                def handle(self) -> None:
                    with contextlib.suppress(EOFError, OSError, ValueError):
                        speak(self.request)

            server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
            server.daemon_threads = True
            self._serve(server)
            self._ports[protocol] = server.server_address[1]
        return self._ports[protocol]

    @property
    def grpc(self) -> str:
        if "grpc" not in self._ports:
            import grpc

            def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
                name = request.decode()
                if name == "SLOW":
                    time.sleep(1)
                context.abort(grpc.StatusCode[name], "as asked")
                return b""

            class Generic(grpc.GenericRpcHandler):
                def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
                    return grpc.unary_unary_rpc_method_handler(answer) if details.method == "/bench/Ask" else None

            server = grpc.server(ThreadPoolExecutor(2), handlers=[Generic()])
            self._ports["grpc"] = server.add_insecure_port("127.0.0.1:0")
            server.start()
            self.callback(lambda: server.stop(None).wait(2))
        return f"127.0.0.1:{self._ports['grpc']}"

    def _serve(self, server: socketserver.BaseServer) -> None:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.callback(server.server_close)
        self.callback(server.shutdown)
