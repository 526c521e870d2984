"""The audit trail: every failure is recorded before the client gets it, in a chain that shows later changes.

Each name is loaded on first use: code that only catches `AuditError` does not load the writer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mcpcore.audit.chain import Head
    from mcpcore.audit.diagnosis import Problem, Report
    from mcpcore.audit.errors import AuditError
    from mcpcore.audit.listeners import Sink
    from mcpcore.audit.trail import AuditPolicy, AuditTrail
    from mcpcore.audit.verification import verify
    from mcpcore.audit.writer import AuditFlush

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

_HOMES: Final = {
    "chain": ("Head",),
    "errors": ("AuditError",),
    "listeners": ("Sink",),
    "trail": ("AuditPolicy", "AuditTrail"),
    "diagnosis": ("Problem", "Report"),
    "verification": ("verify",),
    "writer": ("AuditFlush",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # to a type checker, every misspelt name would be there

    def __getattr__(name: str) -> Any:
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
