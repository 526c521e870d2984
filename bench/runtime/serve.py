"""One peer over streamable HTTP, on a free port of 127.0.0.1: `python -m bench.runtime.serve PEER [--silent]`.

The port is the first line of standard output.
"""

from __future__ import annotations

import logging
import socket
import sys

import uvicorn

from bench.runtime.peers import PEERS


def main(name: str, *, silent: bool) -> None:
    """Serve until the process is ended."""
    if silent:
        logging.disable(logging.CRITICAL)
    # The protocol said, or asyncio leaves Nagle's algorithm on: 40 ms for each call, the same for all.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    app = PEERS[name].app()
    print(listening.getsockname()[1], flush=True)
    # The access log is the HTTP server's own; it is the same for all and left out for all.
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1], silent="--silent" in sys.argv)
