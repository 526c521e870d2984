"""Exceptions that applications define for themselves, and ways to import and to raise in an expression."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn


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


def named(path: str) -> Any:
    """Import the module or the member of a module that a dotted path names."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


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


class StatusError(Exception):
    """The usual wrapper of an HTTP answer."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code
