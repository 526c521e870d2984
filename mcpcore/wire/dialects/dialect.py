"""The class of all dialects, and the `details` field, which holds the facts that a dialect has no other field for."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any, Final

from mcpcore.contract.codes import Code, ErrorCode
from mcpcore.contract.limits import Limits
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import dumps
from mcpcore.wire.envelope import Envelope


class Dialect(ABC):
    """A way to write a failure down.

    ```python
    from mcpcore.wire.dialects import dialect_named

    structured, text = dialect_named("taxonomy").write(failed.envelope, limits=limits)
    ```
    """

    name: str
    """What `Server(dialect=...)` and `Envelope.dialect` call it."""

    is_error = True
    """Whether the result says `isError`; one pattern hides its failures in successes."""

    schema: Mapping[str, Any]
    """The JSON schema of a failure's structured content, for the advertised output schema."""

    @abstractmethod
    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:
        """The structured content and the text block of a failed call.

        Args:
            envelope: The failure.
            limits: The bounds of the envelope.
        """

    def render_item(self, structured: dict[str, Any], envelope: Envelope) -> dict[str, Any]:  # noqa: ARG002
        """The failure alone, as an item of a batch has it, out of the structured content of a failed call.

        Args:
            structured: The structured content.
            envelope: The envelope that it was made of.
        """
        return structured

    @abstractmethod
    def read(self, structured: Mapping[str, Any], *, is_error: bool) -> Envelope | None:
        """The failure in the structured content of a call; None if it is not of this dialect.

        Args:
            structured: The structured content.
            is_error: Whether the result says `isError`.
        """


CONSTANT: Final = re.compile(r"[A-Z]{3,}(?:_[A-Z0-9]+)*\Z")
"""A code as such envelopes write it; `E501` and `F401`, which linters report, are not such codes."""

KEY: Final = "mcpcore"
"""The key of `details` under which the envelope's own facts stand."""


def json_text(written: dict[str, Any], *, indent: int | None = None) -> str:
    """The structured content as the text of a result; characters that could forge or reorder lines are escaped."""
    if indent is None:
        return clean_text(dumps(written))
    return clean_text(json.dumps(written, indent=indent, ensure_ascii=False, allow_nan=False))


def details_of(envelope: Envelope) -> dict[str, Any]:
    """The author's data and, under the key `KEY`, the other facts of the envelope."""
    data = dict(envelope.data or {})
    own = envelope.to_json()
    for name in ("message", "data", "advice"):  # the dialect has fields for the first two, and other texts
        own.pop(name, None)
    # `details` is an object in any case, so no data and empty data would look the same.
    own["hasData"] = envelope.data is not None
    if KEY in data:
        # The author's data may have this key too.
        own["shadowed"] = data.pop(KEY)
    return {**data, KEY: own}


def envelope_from(
    details: object, *, message: str, native_code: str | int, code: Code, dialect: str, **otherwise: Any
) -> Envelope:
    """The envelope of `details_of`; for details that mcpcore did not write, one of the fields of the dialect."""
    data = dict(details) if isinstance(details, Mapping) else {} if details is None else {"value": details}
    own = data.pop(KEY, None)
    if isinstance(own, Mapping):
        if "shadowed" in own:
            data[KEY] = own["shadowed"]
        try:
            read = Envelope.from_json({**own, "message": message, "data": data if own.get("hasData") else None})
        # Another program may use the key for something else.
        except ValueError:
            pass
        else:
            return replace(read, dialect=dialect, native_code=native_code)
    stated = otherwise.pop("retry", None)
    retry = stated or code.retry
    recovery = otherwise.pop("recovery", None)
    if recovery is not None:
        data.setdefault("recovery", recovery)
    if data:
        data.setdefault("retryable", retry.retryable)
    return Envelope(
        code=int(code),
        name=code.name,
        message=message,
        retry=retry,
        retry_stated=stated is not None,
        data=data or None,
        dialect=dialect,
        native_code=native_code,
        **otherwise,
    )


def own_code(envelope: Envelope, dialect: str, codes: Container[str], *, prefix: str = "") -> str | None:
    """The code that a dialect has for this very failure, before any table: None where it has none.

    That is the one that it was read with, a reason of that name, or an application's own code of that name.
    """
    if envelope.dialect == dialect and isinstance(envelope.native_code, str):
        return envelope.native_code
    reason = (envelope.reason or "").upper()
    named = [reason, f"{prefix}{reason}"]
    if not isinstance(envelope.error_code, ErrorCode):
        named.append(envelope.name)
    return next((name for name in named if name in codes), None)


def known(envelope: Envelope) -> Code:
    """The code of an envelope as this program knows it; UNKNOWN_ERROR for one of another application."""
    code = envelope.error_code
    return ErrorCode.UNKNOWN_ERROR if code is None else code
