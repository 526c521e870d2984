"""The payment service: a small HTTP server that answers, stalls, limits and fails on demand.

`POST /charges` charges a card, once for each `Idempotency-Key`. `POST /refunds` refunds a charge, once.
`GET /charges/KEY` looks a charge up. A stalled request is carried out, and its answer comes late, as happens.
`PUT /admin` sets a fault and `GET /admin` shows the books.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import httpx2

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[2]

Answer = tuple[int, dict[str, Any]]
Kind = Literal["answer", "stall", "limit", "fail"]


@dataclass
class Fault:
    """What goes wrong.

    Attributes:
        kind: "answer": nothing. "stall": answers come late. "limit": 429 with a Retry-After. "fail": 503.
        seconds: How late an answer is; or how long requests are limited or fail, from the first of them.
        after: The number of requests that are answered first.
        times: The number of requests that stall, or None for all.
    """

    kind: Kind = "answer"
    seconds: float = 0.0
    after: int = 0
    times: int | None = None
    until: float | None = None

    def next(self) -> Kind:
        """What happens to the next request."""
        if self.kind == "answer" or self.times == 0:
            return "answer"
        if self.after:
            self.after -= 1
            return "answer"
        if self.kind == "stall":
            self.times = None if self.times is None else self.times - 1
            return "stall"
        if self.until is None:
            self.until = time.monotonic() + self.seconds
        return self.kind if time.monotonic() < self.until else "answer"


@dataclass
class Books:
    """The charges of the service, and its fault."""

    charges: dict[str, dict[str, Any]] = field(default_factory=dict)
    fault: Fault = field(default_factory=Fault)
    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def charge(self, key: str, asked: dict[str, Any]) -> Answer:
        """Charge a card, once for each key."""
        known = self.charges.get(key)
        if known is not None:
            return 200, known
        if asked.get("card") == "expired":
            return 402, {"error": "card_declined"}
        charge = {"id": f"ch_{len(self.charges) + 1}", "status": "paid", **asked}
        self.charges[key] = charge
        return 201, charge

    def refund(self, charge_id: str) -> Answer:
        """Refund a charge; a refunded one stays refunded."""
        charge = next((charge for charge in self.charges.values() if charge["id"] == charge_id), None)
        if charge is None:
            return 404, {"error": "no_such_charge"}
        charge["status"] = "refunded"
        return 200, charge


class _Service(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # by default, more than 5 clients at a time are kept waiting

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.books = Books()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that no longer waits for a late answer is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_GET  # noqa: N815

    def _answer(self) -> None:
        assert isinstance(self.server, _Service)
        books = self.server.books
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        kind: Kind = "answer"
        wait = 0.0
        with books.lock:
            if self.path == "/admin":
                status, content = self._administer(books, body)
            else:
                books.requests += 1
                kind = books.fault.next()
                if kind == "limit":
                    assert books.fault.until is not None
                    wait = books.fault.until - time.monotonic()
                    status, content = 429, {"error": "rate_limited"}
                elif kind == "fail":
                    status, content = 503, {"error": "unavailable"}
                else:
                    status, content = self._carry_out(books, body)
                    wait = books.fault.seconds
            sent = json.dumps(content).encode()
        if kind == "stall":
            time.sleep(wait)
        self.send_response(status)
        if kind == "limit":
            self.send_header("Retry-After", str(max(1, math.ceil(wait))))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def _administer(self, books: Books, body: dict[str, Any]) -> Answer:
        if self.command == "PUT":
            books.fault = Fault(**body)
        return 200, {"charges": list(books.charges.values()), "requests": books.requests}

    def _carry_out(self, books: Books, body: dict[str, Any]) -> Answer:
        match self.command, self.path.strip("/").split("/"):
            case "POST", ["charges"]:
                return books.charge(self.headers["Idempotency-Key"], body)
            case "POST", ["refunds"]:
                return books.refund(body["charge"])
            case "GET", ["charges", key] if key in books.charges:
                return 200, books.charges[key]
        return 404, {"error": "not_found"}

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
        """Log nothing."""


class PaymentService:
    """The service from the outside: its address, its faults and its books."""

    def __init__(self, url: str) -> None:
        """Administer the service at `url`."""
        self.url = url

    def set_fault(self, kind: Kind, *, seconds: float = 0.0, after: int = 0, times: int | None = None) -> None:
        """Set what goes wrong from now on; see `Fault`."""
        fault = {"kind": kind, "seconds": seconds, "after": after, "times": times}
        httpx2.put(f"{self.url}/admin", json=fault).raise_for_status()

    def charges(self, customer: str | None = None) -> list[dict[str, Any]]:
        """The charges of a customer, or all."""
        charges: list[dict[str, Any]] = httpx2.get(f"{self.url}/admin").raise_for_status().json()["charges"]
        return [charge for charge in charges if customer in (None, charge["customer"])]

    def requests(self) -> int:
        """The number of requests that reached the service."""
        return int(httpx2.get(f"{self.url}/admin").raise_for_status().json()["requests"])


@contextmanager
def payment_service() -> Iterator[PaymentService]:
    """Run the service as a separate process, until the block ends."""
    command = [sys.executable, "-m", "examples.orders.payments", "--while-stdin-is-open"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:  # noqa: S603
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield PaymentService(process.stdout.readline().strip())
        finally:
            process.stdin.close()


def main() -> None:
    """Serve, and print the address."""
    parser = argparse.ArgumentParser(prog="python -m examples.orders.payments", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="the port, by default a free one")
    parser.add_argument("--while-stdin-is-open", action="store_true", help="end with the process that started this one")
    options = parser.parse_args()
    service = _Service(options.port)
    print(f"http://127.0.0.1:{service.server_address[1]}", flush=True)
    if options.while_stdin_is_open:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        sys.stdin.read()
    else:
        service.serve_forever()


if __name__ == "__main__":
    main()
