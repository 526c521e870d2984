"""What the audit trail raises."""

from __future__ import annotations


class AuditError(Exception):
    """A record could not be written, or a trail cannot be used as asked; the text says what, where and what next."""


class RefusedError(AuditError):
    """The path of a trail names something that must not be written: a link, or a file of another kind."""
