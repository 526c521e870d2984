"""Exceptions that applications define for themselves, and ways to raise an exception in an expression."""

from __future__ import annotations

from typing import NoReturn


def throw(failure: BaseException) -> NoReturn:
    """Raise `failure`."""
    raise failure


def wrapped(outside: BaseException, inside: BaseException, *, suppress: bool = False) -> NoReturn:
    try:
        raise inside
    except BaseException as cause:
        if suppress:
            raise outside from None
        raise outside from cause


class UpstreamError(Exception):
    pass


class ToolExecutionError(Exception):
    pass


class IntegrationError(Exception):
    pass


class SyncError(RuntimeError):
    pass


class GitError(Exception):
    pass


class WorkflowError(Exception):
    pass


class BatchJobError(Exception):
    pass


class IamClientError(Exception):
    pass


class StatusError(Exception):
    """The usual wrapper of an HTTP answer."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code
