"""Calls that an agent repeats although they fail in the same way each time.

A model that reads the same words again has no reason to do anything else, so agents get stuck on a call that cannot
work. From the third time on, the failure therefore says how often the call was made.
"""

from __future__ import annotations

import hashlib
from typing import Final
from weakref import WeakKeyDictionary

from mcpcore.values.jsonable import compact_encoder
from mcpcore.wire.envelope import Envelope

_NOTICED: Final = 3
"""The identical call whose failure says so first. A second one may be an honest attempt."""

_MAX_CALLS: Final = 100
"""Calls of each session that are kept; the one that was made longest ago goes first."""

_MAX_SESSIONS: Final = 1_000
"""Sessions that are kept; the oldest goes first."""

_canonical_json: Final = compact_encoder(sort_keys=True)


class SessionKey:
    """Stands for a session, where nothing else does."""

    __slots__ = ("__weakref__",)


class Repeats:
    """Counts the identical calls of each session that failed finally and in the same way, by digests alone.

    A failure whose advice is to call again does not count. A success that may have changed something starts the count
    again: a test that fails as it did before an edit is no loop.
    """

    has_failures = False
    """Whether any call was counted; until then, successes need not be looked at."""

    def __init__(self, *, is_on: bool) -> None:
        """Count nothing unless `is_on`."""
        self.is_on = is_on
        self._sessions: WeakKeyDictionary[object, dict[bytes, tuple[bytes, int]]] = WeakKeyDictionary()

    def failed(self, session: object, call: object, envelope: Envelope) -> Envelope:
        """`envelope`, with which `call` failed; with the number of identical calls if there are at least three.

        Args:
            session: Any object that lives as long as the session; it is held weakly.
            call: All that makes the call what it is, as JSON.
            envelope: The failure.
        """
        calls = self._sessions.get(session)
        if envelope.retryable:
            if calls:
                calls.pop(_digest(call), None)
            return envelope
        key, failure = _digest(call), _digest([envelope.code, envelope.reason, envelope.message])
        if calls is None:
            self.has_failures = True
            if len(self._sessions) >= _MAX_SESSIONS:
                del self._sessions[next(self._sessions.keys())]
            calls = self._sessions[session] = {}
        # Taken out and put back, so that the first key is always the call that was made longest ago.
        known, count = calls.pop(key, (failure, 0))
        count = count + 1 if known == failure else 1
        calls[key] = failure, count
        if len(calls) > _MAX_CALLS:
            del calls[next(iter(calls))]
        if count < _NOTICED:
            return envelope
        # Not `replace`, which would lose the parts that the text is written from.
        values = vars(envelope)
        return Envelope.of({**values, "repeated": count}, values.get("_parts"))

    def succeeded(self, session: object, call: object, *, changes: bool) -> None:
        """Forget `call`, which succeeded, and all other calls of the session if it may have changed something."""
        calls = self._sessions.get(session)
        if calls and changes:
            calls.clear()
        elif calls:
            calls.pop(_digest(call), None)


def _digest(value: object) -> bytes:
    return hashlib.sha256(_canonical_json(value).encode()).digest()
