"""The errors of the audit trail."""

from __future__ import annotations


class AuditError(Exception):
    """A record could not be written, or a trail cannot be used; the message says why and what to do.

    ```python
    from mcpcore.audit import AuditError, AuditTrail

    try:
        trail = AuditTrail.open("notes.txt", policy="refuse")
    except AuditError as error:
        print(error)
    ```
    """


class RefusedError(AuditError):
    """The path of a trail must not be written: it is a link, or a file of another kind."""
