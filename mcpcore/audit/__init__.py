"""The audit trail: every failure is recorded before the client gets it, in a chain that shows later changes.

Each name is loaded on first use: code that only catches `AuditError` does not load the writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore import loaded_on_use

if TYPE_CHECKING:
    from mcpcore.audit.chain import AuditError as AuditError, Head as Head
    from mcpcore.audit.diagnosis import Problem as Problem, Report as Report
    from mcpcore.audit.listeners import Sink as Sink
    from mcpcore.audit.trail import AuditPolicy as AuditPolicy, AuditTrail as AuditTrail
    from mcpcore.audit.verification import verify as verify
    from mcpcore.audit.writer import AuditFlush as AuditFlush

_HOME_OF: Final = {
    "AuditError": "chain",
    "AuditFlush": "writer",
    "AuditPolicy": "trail",
    "AuditTrail": "trail",
    "Head": "chain",
    "Problem": "diagnosis",
    "Report": "diagnosis",
    "Sink": "listeners",
    "verify": "verification",
}

if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = list(_HOME_OF)
    __getattr__, __dir__ = loaded_on_use(globals(), _HOME_OF)
