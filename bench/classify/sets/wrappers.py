"""Exceptions inside other exceptions: causes, groups and retries."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005
from __future__ import annotations

from typing import TYPE_CHECKING

from bench.classify.case import Case, case
from bench.classify.raising import UpstreamError, throw, wrapped
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from bench.classify.servers import Peers


# Wrappers.


def _tool_timeout(peers: Peers) -> None:
    import httpx
    from fastmcp.exceptions import ToolError

    wrapped(ToolError("Error calling tool 'list_issues'"), httpx.ConnectTimeout("timed out"))


def _retries(peers: Peers) -> None:
    import requests
    import tenacity

    def call() -> None:
        requests.get(peers.url("429"), timeout=2).raise_for_status()

    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(call)


CASES: list[Case] = [
    case(E.TIMEOUT, "tool error around a connect timeout", _tool_timeout, "fastmcp"),
    case(E.RATE_LIMITED, "retries used up on 429", _retries, "tenacity"),
    case(
        E.FORBIDDEN,
        "vague outside, refusal inside",
        lambda peers: wrapped(UpstreamError("Could not save the sheet"), PermissionError(13, "Permission denied")),
    ),
    case(
        E.INTERNAL_ERROR,
        "vague outside, cause suppressed",
        lambda peers: wrapped(
            RuntimeError("Export failed"), FileNotFoundError(2, "No such file or directory"), suppress=True
        ),
    ),
    case(
        E.SERVICE_UNAVAILABLE,
        "group of refused connections",
        lambda peers: throw(
            ExceptionGroup(
                "unhandled errors in a TaskGroup (2 sub-exceptions)",
                [ConnectionRefusedError(111, "refused"), ConnectionResetError(104, "reset")],
            )
        ),
    ),
    case(
        E.INTERNAL_ERROR,
        "group that does not agree",
        lambda peers: throw(
            ExceptionGroup("2 of 5 uploads failed", [TimeoutError("late"), PermissionError(13, "Permission denied")])
        ),
    ),
]
