"""Who is told of a failure beside the trail's own file: the logger, and sinks such as OpenTelemetry."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol

from mcpcore import provided
from mcpcore.audit.kinds import is_lost
from mcpcore.codes import ErrorCode
from mcpcore.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

LOGGER: Final = logging.getLogger("mcpcore.audit")

FILED: Final = "mcpcore_filed"
"""The attribute of a log record that only points to a record in the file, for those who ask for such lines."""

_SHOWN: Final = 200
_SERVER_FAULTS: Final = frozenset(code.name for code in ErrorCode if code.category == "server")


class Sink(Protocol):
    """Another place that every record goes to."""

    def failure(self, record: Mapping[str, Any], line: str) -> None:
        """Take one failure: the record without secrets, and its line as it stands in the trail.

        A sink that has a method `listens()` is asked it first; where nobody listens, no record is made.
        """


def listens(sink: Sink) -> bool:
    """Whether a sink wants to be told."""
    asked = getattr(sink, "listens", None)
    try:
        return asked is None or bool(asked())
    except Exception:  # noqa: BLE001 - a sink that cannot say is told, and `record` says what is wrong with it
        return True


def level_of(code: object) -> int:
    """The level at which a failure of a code is logged."""
    return logging.ERROR if isinstance(code, str) and code in _SERVER_FAULTS else logging.INFO


def summary_of(record: Mapping[str, Any]) -> str:
    """One line that says what failed or lost a failure, how, and under which id the record is found."""
    surface = record.get("surface")
    target = record.get(surface) if isinstance(surface, str) else record.get("tool")
    how = record.get("reason") or record.get("name") or "unknown"
    verb = "lost a failure" if is_lost(record) else "failed"
    return one_line(
        f"{str(target)[:_SHOWN]!r} {verb}: {str(how)[:_SHOWN]} (id {str(record.get('correlationId'))[:64]})"
    )


def is_heard() -> bool:
    """Whether anything would become of a record of the logger's: to make one takes longer than to hash it."""
    if LOGGER.filters or type(LOGGER) is not logging.Logger:
        return True
    silent = False
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        for handler in logger.handlers:
            if type(handler) is not logging.NullHandler:
                return True
            silent = True
        logger = logger.parent if logger.propagate else None
    # Without any handler at all the last resort has it, or whatever looks on in its place.
    return not silent


def default_sinks() -> tuple[Sink, ...]:
    """OpenTelemetry, where it is installed."""
    try:
        sinks: tuple[Sink, ...] = provided("otel_sinks")()
    except ImportError:
        return ()
    return sinks


def logs_to_stderr() -> bool:
    """Whether an error that is logged comes out on standard error anyway, as it does without any handler."""
    if not LOGGER.hasHandlers():
        return True
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream in (sys.stderr, sys.__stderr__):
                return True
        logger = logger.parent if logger.propagate else None
    return False
