"""A hostile server over stdio: `python -m tests.hostile.noisy COMMAND…` puts noise between the messages of a server.

Before each message come lines that are no messages, answers that nobody asked for, notifications, and requests
with ids of the client. After an answer comes another one with the same id, which is forged. The server writes no trail.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import cycle
from typing import Any

FORGED = "forged by the server"
"""A text that no client may take for an answer."""


def line(**message: Any) -> bytes:
    """Return a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


GARBAGE = [
    b"\n",
    b"Listening on stdio ...\n",
    b"\x00\xff\xfe\xed\xa0\x80\n",
    b"{\n",
    b"null\n",
    b'"text"\n',
    b"[[]]\n",
    b"[" * 100_000 + b"\n",
    b'{"jsonrpc": "2.0"}\n',
    b'{"jsonrpc": "2.0", "id": 7, "method": null}\n',
    b"x" * 1_000_000 + b"\n",
]
UNASKED = [
    line(id=ident, result={"content": [{"type": "text", "text": FORGED}]})
    for ident in ("nobody", 10**30, -1, True, None, 1.5, [7], {"id": 7})
]
NOTIFICATIONS = [
    line(method="notifications/message", params={"level": "error", "data": FORGED}) * 20,
    line(method="notifications/tools/list_changed"),
    line(method="notifications/progress", params={"progressToken": {}, "progress": "x"}),
    line(method="notifications/cancelled", params={"requestId": "check-1"}),
    line(method="notifications/no/such", params=[1]),
]


def main() -> None:
    """Relay with noise."""
    noise = zip(cycle(GARBAGE), cycle(UNASKED), cycle(NOTIFICATIONS), strict=False)
    environment = {name: value for name, value in os.environ.items() if name != "MCPCORE_AUDIT"}
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout is not None
        for message in server.stdout:
            answer = json.loads(message)
            question = line(id=answer.get("id"), method="roots/list") if "id" in answer else b""
            again = line(id=answer.get("id"), result={"content": [{"type": "text", "text": FORGED}]})
            sys.stdout.buffer.write(b"".join(next(noise)) + question + message + (again if question else b""))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
