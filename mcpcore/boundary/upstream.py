"""Failures of another server that a handler hands on: rebuilt as failures of this one.

The answer of another server is hostile text, so nothing of it is forwarded unchanged. Its facts are read and written
again, with an id of this server and within its limits. Fields that the other server had bound are left
out, since `error.context` says what this server and this call have bound.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from mcpcore.contract.codes import MAX_NUMBER, ErrorCode, code_named
from mcpcore.contract.errors import FrameworkError
from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import cut_text
from mcpcore.wire.envelope import CANONICAL, Envelope

UPSTREAM: Final = "upstream"
"""The key of `data` under which the id that the other server gave the failure stands."""

_CODE_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_NATIVE_CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MAX_CODE: Final = 64
"""Characters of a code of another application."""

_MAX_TEXT: Final = 128
"""Characters of an id or of a tool's name that another server sent."""


class UpstreamError(FrameworkError):
    """A failure that another server sent, on its way to becoming one of this server."""

    def __init__(self, sent: Envelope) -> None:
        """Take the code, message, reason, recovery, retry advice, effects and details out of `sent`."""
        super().__init__(
            sent.error_code or ErrorCode.INTERNAL_ERROR,
            sent.message,
            _details(sent),
            reason=sent.reason,
            recovery=sent.recovery or ...,
            retry=sent.retry,
            effects=sent.effects,
        )
        self.retry_is_declared = declares_retry(sent)
        self.sent = sent

    def identified(self, envelope: Envelope) -> Envelope:
        """`envelope`, made of this error, with the code of the other server where this program does not know it.

        The code in the words of the other server's dialect stays too, for a server of the same dialect. None of them
        stays where it is not well formed.
        """
        sent, native = self.sent, self.sent.native_code
        if not isinstance(native, str) or len(native) > _MAX_CODE or _NATIVE_CODE.fullmatch(native) is None:
            native = None
        rebuilt = replace(envelope, dialect=sent.dialect, native_code=native, inferred=sent.inferred)
        return replace(rebuilt, code=sent.code, name=sent.name) if _is_foreign(sent) else rebuilt


def declares_retry(sent: Envelope) -> bool:
    """Whether another server stated its retry advice itself, instead of sending the default of its code.

    A canonical envelope always has advice, which may be the default of a code that is known here. Only with effects was
    it decided for this very call.
    """
    if sent.dialect == CANONICAL and sent.effects is not None:
        return True
    may_be_default = sent.dialect == CANONICAL and bool(sent.correlation_id) and sent.error_code is not None
    return sent.retry_stated and not may_be_default


def _is_foreign(sent: Envelope) -> bool:
    """Whether the code is one of another application, and well formed."""
    if len(sent.name) > _MAX_CODE or _CODE_NAME.fullmatch(sent.name) is None or abs(sent.code) > MAX_NUMBER:
        return False
    return code_named(sent.name) is None


def _details(sent: Envelope) -> dict[str, Any]:
    """The data of the other server, and where the failure comes from, which is first so that it is never cut."""
    details = sent.details
    if not sent.correlation_id.strip():
        return details
    origin: dict[str, Any] = {"correlationId": _bounded(sent.correlation_id)}
    if sent.tool is not None:
        origin["tool"] = _bounded(sent.tool)
    before = details.pop(UPSTREAM, None)
    if isinstance(before, Mapping):
        origin[UPSTREAM] = before  # the other server handed the failure on too
    return {UPSTREAM: origin, **details}


def _bounded(text: str) -> str:
    # Cut before it is escaped, since it may be of any length, and after, since escapes are longer.
    return cut_text(one_line(text[: 2 * _MAX_TEXT]), _MAX_TEXT)
