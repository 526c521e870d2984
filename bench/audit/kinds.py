"""Each kind of failure, from the exception to the record in the trail, and what plain logging of a crash costs."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING, Any, Final

from mcpcore import ErrorCode, not_found
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.script import Boundary
from mcpcore.contract.errors import FrameworkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpcore.audit import AuditTrail

_URL: Final = "postgresql://app:hunter2@db/main"


def _descend(frames: int) -> None:
    """Fail so many frames further down, each second one at another line, as the frames of real programs do."""
    if frames <= 1:
        raise OSError(f"{_URL} refused, api_key=abc")
    if frames % 2:
        _descend(frames - 1)
    _descend(frames - 1)


def _chained() -> None:
    try:
        _descend(5)
    except OSError as exc:
        try:
            raise RuntimeError("token=abc was refused") from exc
        except RuntimeError as again:
            raise LookupError("no answer") from again


def _abroad() -> None:
    raise OSError(f"Verbindung zu {_URL} ungültig, api_key=abc")


def fail_at_length() -> None:
    """Fail with a text as long as what a database says of a statement that it refuses."""
    columns = ", ".join(f"column_{number} = %(value_{number})s" for number in range(46))
    raise OSError(f"could not execute UPDATE articles SET {columns} on {_URL}: the server closed the connection")


def _caught(fails: Callable[[], None]) -> BaseException:
    try:
        fails()
    except Exception as exc:
        return exc
    raise AssertionError("it did not fail")


def kinds() -> Mapping[str, BaseException]:
    """A failure of each kind."""
    issues = [{"path": "n", "problem": "is missing"}, {"path": "m", "problem": "must be a string"}]
    many = {f"field_{number}": f"value {number}" for number in range(50)}
    abroad = {f"feld_{number}": f"Größe {number}" for number in range(50)}
    return {
        "declared": not_found("Nothing matched.", reason="no_match"),
        "bad arguments": FrameworkError(ErrorCode.INVALID_PARAMS, "2 arguments do not fit", {"issues": issues}),
        "crash, 5 frames, secrets": _caught(lambda: _descend(5)),
        "crash, 30 frames, secrets": _caught(lambda: _descend(30)),
        "crash with two causes, secrets": _caught(_chained),
        "crash beyond ASCII, secrets": _caught(_abroad),
        "crash with a long text, secrets": _caught(fail_at_length),
        "data with 50 keys": not_found("Nothing matched.", data=many),
        "data with 50 keys, beyond ASCII": not_found("Nichts gefunden für 1.", data=abroad),
        "data with 50 keys, secrets": not_found("refused: password=abc", data={"token": "x", "url": _URL, **many}),
    }


def measured(
    trail: AuditTrail, clock: Callable[[Callable[[], object]], float]
) -> Iterator[tuple[str, float, float | None]]:
    """Name, microseconds in the trail, and microseconds that plain logging of the same crash takes."""
    boundary = Boundary(server="bench", audit=trail)
    plain = logging.getLogger("bench.plain")
    plain.propagate = False
    stream = io.StringIO()
    plain.addHandler(logging.StreamHandler(stream))

    def logged(exc: BaseException) -> None:
        plain.error("failed", exc_info=exc)
        stream.seek(0)
        stream.truncate()

    for name, exc in kinds().items():
        context = {"session_id": "550e8400-e29b", "role": "WINDSURF"}
        outcome: Any = boundary.mapper.outcome(exc, FailedCall(name="fetch", context=context))
        cost = clock(lambda outcome=outcome: trail.record(boundary._record_of(outcome, "tool")))  # type: ignore[misc] # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        other = None if outcome.expected else clock(lambda exc=exc: logged(exc))  # type: ignore[misc]
        yield name, cost, other
