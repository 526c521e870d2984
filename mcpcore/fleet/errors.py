"""The errors of a store."""

from __future__ import annotations

from mcpcore.audit.errors import AuditError


class StoreError(AuditError):
    """A store cannot be used; the message says why and what to do, without a password."""
