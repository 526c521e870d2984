"""The audit trail: every failure recorded before it is answered, in a chain that shows what was done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpcore.audit.chain import Head
from mcpcore.audit.trail import AuditError, AuditFlush, AuditPolicy, AuditTrail, Sink

if TYPE_CHECKING:
    from mcpcore.audit.verification import Problem, Report, verify

__all__ = [
    "AuditError",
    "AuditFlush",
    "AuditPolicy",
    "AuditTrail",
    "Head",
    "Problem",
    "Report",
    "Sink",
    "verify",
]


def __getattr__(name: str) -> Any:
    # A server only writes: what reads a trail is loaded by those who read one.
    if name in {"Problem", "Report", "verify"}:
        from importlib import import_module

        return getattr(import_module("mcpcore.audit.verification"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
