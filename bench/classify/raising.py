"""Exceptions that applications define for themselves, and ways to import and to raise in an expression."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn, cast


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
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            value = getattr(value, name)
        return value
    raise ModuleNotFoundError(path)


UpstreamError, ToolExecutionError, IntegrationError, GitError, WorkflowError, BatchJobError, SyncError = (
    cast("type[Exception]", type(name, (base,), {}))
    for base, names in (
        (
            Exception,
            ("UpstreamError", "ToolExecutionError", "IntegrationError", "GitError", "WorkflowError", "BatchJobError"),
        ),
        (RuntimeError, ("SyncError",)),
    )
    for name in names
)


class StatusError(Exception):
    """The usual wrapper of an HTTP answer."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code
