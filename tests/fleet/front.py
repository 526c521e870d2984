"""A ClickHouse server for tests: its HTTP interface in front of the real engine, embedded in this process.

`python front.py FOLDER USER PASSWORD` prints its port. It speaks the part of the HTTP interface that clickhouse-connect
uses; parsing, types, formats, queries and errors are those of ClickHouse.
"""

from __future__ import annotations

import base64
import re
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import chdb.session

_CODE = re.compile(r"Code: (\d+)\.")
_SETTINGS = {"database", "query", "query_id", "session_id", "default_format"}


class Front(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: str, user: str, password: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.session = chdb.session.Session(folder)
        self.turn = threading.Lock()
        self.login = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def run(self, query: str, data: bytes, options: dict[str, str]) -> bytes:
        parameters = {key[6:]: value for key, value in options.items() if key.startswith("param_")}
        with self.turn:
            database = options.get("database", "default").replace("`", "")
            self.session.query(f"USE `{database}`")
            if data:
                with tempfile.NamedTemporaryFile() as file:
                    file.write(data)
                    file.flush()
                    insert, _, kind = query.strip().rpartition(" FORMAT ")
                    query = f"{insert} FROM INFILE '{file.name}' FORMAT {kind}"
                    return self.session.query(query, "TabSeparated", params=parameters).bytes() or b""
            format_ = options.get("default_format", "TabSeparated")
            return self.session.query(query, format_, params=parameters).bytes() or b""


class Handler(BaseHTTPRequestHandler):
    server: Front
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the acknowledgement of its header

    def do_POST(self) -> None:
        options = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.headers.get("Authorization") != self.server.login:
            user = options.get("user", "default")
            text = f"Code: 516. DB::Exception: {user}: Authentication failed: password is incorrect (AUTHENTICATION_FAILED)"
            self.answer(403, text.encode(), code="516")
            return
        if "query" in options:
            query, data = options["query"], body
        elif body.startswith(b"INSERT"):
            # The data follows the statement.
            statement, _, data = body.partition(b"\n")
            query = statement.decode()
        else:
            query, data = body.decode(), b""
        try:
            answer = self.server.run(query, data, options)
        except Exception as exc:
            code = _CODE.search(str(exc))
            self.answer(500, str(exc).encode("utf-8", "replace"), code=code[1] if code else "1001")
        else:
            self.answer(200, answer)

    do_GET = do_POST  # noqa: N815 - the name that the base class looks for

    def answer(self, status: int, body: bytes, code: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-ClickHouse-Timezone", "UTC")
        self.send_header("X-ClickHouse-Summary", "{}")
        if code:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: the tests read this process's output."""


if __name__ == "__main__":
    front = Front(*sys.argv[1:])
    print(front.server_port, flush=True)
    front.serve_forever()
