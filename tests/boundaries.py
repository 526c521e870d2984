"""Exceptions, and the boundary's answer to one, without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_types import CallToolResult

from mcpcore.boundary.outcome import FailedCall
from mcpcore.sdk.answers import ResponseWriter

if TYPE_CHECKING:
    from mcpcore.boundary.script import Boundary

E = TypeVar("E", bound=BaseException)


def caught(fails: Callable[[], object], kind: type[E] = BaseException) -> E:  # type: ignore[assignment]
    """Return the exception that a function raises."""
    try:
        fails()
    except kind as exc:
        return exc
    raise AssertionError


def chain(inner: Exception, *outer: Exception) -> Exception:
    """Return the last of some exceptions, each of which is the cause of the next."""
    for exc in outer:
        exc.__cause__ = inner
        inner = exc
    return inner


def answer_to(boundary: Boundary, exc: BaseException, **facts: Any) -> CallToolResult:
    """The result with which a `Server` would answer a call that failed with `exc`; `facts` are those of the call."""
    envelope = boundary.record_failure(exc, FailedCall(**facts)).envelope
    return CallToolResult(**ResponseWriter(boundary).result_fields(envelope))
