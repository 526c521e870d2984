"""The call that is running: one context variable, at the bottom of the package, so that every layer can read it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcpcore.boundary.request import Request

current: Final[ContextVar[Request | None]] = ContextVar("mcpcore_request", default=None)
"""The request that a handler is answering in this task; None outside a call."""


def call_number() -> int | None:
    """The number of the running call; None outside a call."""
    request = current.get()
    return None if request is None else request.number
