"""The parts that services share: decorating functions, the contract of the running tool, and the log of failures."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from mcpcore.contract.codes import Code
from mcpcore.contract.failure_modes import FailureMode
from mcpcore.values.request_var import current

F = TypeVar("F", bound="Callable[..., Any] | classmethod[Any, ..., Any] | staticmethod[..., Any]")

LOGGER: Final = logging.getLogger("mcpcore.services")


def level_of(code: Code | None) -> int:
    """How loud a failure of a code is: what is the server's own fault is an error."""
    return logging.ERROR if code is None or code.category == "server" else logging.WARNING


def declared(reason: str) -> FailureMode[Any] | None:
    """The entry of a reason in the contract of the tool that is running."""
    request = current.get()
    return request.contract.get(reason) if request is not None else None


def decorated(
    fn: F, decorator: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]], *, generators: bool = False
) -> F:
    """`fn` as `wrap` makes it; what stands under `classmethod` and `staticmethod` is wrapped inside them.

    Raises:
        TypeError: If `fn` is no function, or a generator where `wrap` does not take those.
    """
    target: Any = fn
    if isinstance(target, classmethod | staticmethod):
        return cast("F", type(target)(decorated(target.__func__, decorator, wrap, generators=generators)))
    noun = getattr(getattr(target, "declaration", None), "noun", None)
    if isinstance(noun, str):  # a tool, a resource or a prompt of mcpcore
        raise TypeError(f"@{decorator}(...) goes below @{noun}, nearest to the function: it decorates the handler")
    if not callable(target) or isinstance(target, type):
        raise TypeError(f"@{decorator}(...) decorates functions and methods, not {target!r}")
    if not generators and (inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target)):
        raise TypeError(
            f"{decorator} cannot decorate the generator {target.__qualname__}, whose body runs after the call; "
            f"put {decorator}(...) inside it"
        )
    return cast("F", wrap(target))


def log_traced(
    level: int, exc: BaseException, message: str, *args: object, extra: Mapping[str, Any] | None = None
) -> None:
    """Log `exc` with the tracebacks of itself, its causes and its members; a traceback that cannot be had is no error.

    `message` and `args` must be without secrets already.
    """
    if not LOGGER.isEnabledFor(level):
        return
    from mcpcore.audit.traces import log_crash
    from mcpcore.boundary.crash_log import traced

    try:
        trace = traced(exc)
    except Exception as failed:  # noqa: BLE001 - formatting calls the exception's own code
        message = f"{message} (the traceback could not be formatted: %s)"
        LOGGER.log(level, message, *args, type(failed).__name__, extra=extra)
        return
    log_crash(LOGGER, level, exc, trace, message, *args, extra=extra)
