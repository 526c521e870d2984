"""A log of the tool calls that a server answered, for tests of agents; `mcpcore fail-report` reads it."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import object_in, quietly
from mcpcore.wire.envelope import Envelope


class CallLog:
    """Appends a line of JSON to a file for each tool call of a server.

    A line has `time`, `session` (a number; 0 where requests belong to no session), `tool`, `outcome` and `arguments`,
    which is a digest, since arguments may hold secrets. For a failure, the line also has `code`, `reason`, `advice`,
    `retry`, `effects`, `fallbackTool`, `injected` and `id`, where known.
    """

    def __init__(self, path: Path) -> None:
        """Open `path` for appending.

        Raises:
            OSError: If it cannot be opened.
        """
        self._path = path
        # Buffered by line: hosts kill a server over stdio, and the lines until then must be in the file.
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()
        self._sessions: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        # Not the size of the table: it shrinks when a session ends, and the next would take the number of a live one.
        self._numbers = itertools.count(1)

    def write(self, params: object, session: object | None, answer: object) -> None:
        """Add the line of a call; never raises.

        Args:
            params: The parameters of the request, as JSON.
            session: An object that lives as long as the session, or None.
            answer: The result, the JSON-RPC response, or the error that was raised instead.
        """
        call = params if isinstance(params, dict) else {}
        line: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "session": 0 if session is None else self._number(session),
            "tool": str(call.get("name", ""))[:_MAX_NAME],
            "arguments": digest_of(object_in(call, "arguments")),
            **outcome_of(answer),
        }
        try:
            with self._lock:
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        # A name or a reason may hold a lone surrogate, which UTF-8 does not have; that is a ValueError.
        except (OSError, ValueError) as exc:
            LOGGER.error("a call could not be written to %s: %s", self._path, exc)  # noqa: TRY400 - it says it all

    def _number(self, session: object) -> int:
        if session not in self._sessions:
            self._sessions[session] = next(self._numbers)
        return self._sessions[session]


_MAX_NAME: Final = 200


def digest_of(arguments: object) -> str:
    """16 hex digits by which equal arguments are known again."""
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def outcome_of(answer: object) -> dict[str, Any]:
    """The part of a line that says how a call ended, from its result or from the error that it raised."""
    envelope = quietly(lambda: Envelope.from_result(answer), None)
    if envelope is None:
        return {"outcome": "success"}
    facts: dict[str, Any] = {
        "outcome": "failure",
        "code": envelope.name,
        "reason": envelope.reason,
        "advice": envelope.advice,
        "retry": envelope.retry.to_json(),
        "effects": envelope.effects,
        "fallbackTool": envelope.fallback_tool,
        "injected": envelope.injected or None,
        "id": envelope.correlation_id or None,
    }
    return {name: value for name, value in facts.items() if value is not None}
