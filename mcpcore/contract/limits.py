"""How much of a failure goes over the wire."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from mcpcore.values import bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of an envelope; what is cut says so.

    ```python
    server = Server("articles", limits=Limits(message=500, data=8 * 1024))
    ```

    Attributes:
        message: Characters of the message.
        hint: Characters of the recovery hint and of the message for the user.
        data: Bytes of `data` as compact JSON in UTF-8, reserved keys included.
        depth: Levels of nesting in `data`.
        details: Bytes of the author's data on the text surface.
        redact_secrets: Hide what is a secret by its shape alone (private keys, cloud keys, tokens with a known prefix,
            passwords in URLs) from clients. Declared texts are sent as they are. Logs and trails are always redacted.

    Raises:
        ValueError: If a bound is too small for an envelope to say anything, or if `redact_secrets` is no bool.
    """

    message: int = bounds.MESSAGE
    hint: int = bounds.HINT
    data: int = 32 * 1024
    depth: int = 20
    details: int = 2 * 1024
    redact_secrets: bool = True

    def __post_init__(self) -> None:
        """Refuse bounds that leave no room."""
        for field in fields(self):
            value = getattr(self, field.name)
            least = _LEAST.get(field.name)
            if least is None:
                if not isinstance(value, bool):
                    raise ValueError(f"Limits({field.name}=...) must be True or False, not {value!r}")
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"Limits({field.name}=...) must be an int of at least {least}, not {value!r}")


_LEAST: Final = {"message": 40, "hint": 40, "data": 4096, "depth": 2, "details": 64}

DEFAULT_LIMITS: Final = Limits()
