"""The class of all dialects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore.contract.limits import Limits
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
