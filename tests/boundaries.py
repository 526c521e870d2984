"""The boundary's answer to an exception, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult

from mcpcore.boundary.outcome import FailedCall
from mcpcore.sdk.answers import ResponseWriter

if TYPE_CHECKING:
    from mcpcore.boundary.script import Boundary


def answer_to(boundary: Boundary, exc: BaseException, **facts: Any) -> CallToolResult:
    """The result with which a `Server` would answer a call that failed with `exc`; `facts` are those of the call."""
    envelope = boundary.record_failure(exc, FailedCall(**facts)).envelope
    return CallToolResult(**ResponseWriter(boundary).result_fields(envelope))
