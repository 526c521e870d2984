"""Serves over real HTTP in tests: ASGI applications, handlers of the standard library, and commands."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import uvicorn


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Return the URL of an MCP application on a local port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Return the address of a server that answers with the handler and logs nothing, without a path."""
    # By Nagle's algorithm, a body waits 40 ms for the acknowledgement of its header.
    silent = type(handler.__name__, (handler,), {"log_message": lambda *_: None, "disable_nagle_algorithm": True})
    with ThreadingHTTPServer(("127.0.0.1", 0), silent) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running(command: Sequence[str], place: str, *, stop: int, code: int) -> Iterator[re.Match[str]]:
    """Run a command that says where it serves; it ends with `code` by the signal `stop`.

    The pattern `place` is searched in each line of standard error; the match is returned.
    """
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if match := re.search(place, line):
                    break
            else:
                pytest.fail("the command did not say where it serves")
            yield match
            process.send_signal(stop)
            process.stderr.read()
            assert process.wait(timeout=20) == code
        finally:
            process.kill()
