"""Fields that stand in every envelope and record of a server or of a call: who acts, where, in which phase."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore.jsonable import JSON

FIELDS: Final = ("session_id", "role", "workspace_root", "phase_id", "plan_hash", "invariant_id")
"""The fields, by the names of the governance specification that they come from (document 000, section 1)."""

TRACE_FIELD: Final = "trace_id"
"""The trace that the caller is in, as W3C Trace Context has it; read from the request, never bound."""

_bound: Final[ContextVar[Mapping[str, JSON]]] = ContextVar("mcpcore_bound", default=MappingProxyType({}))


def checked(fields: Mapping[str, Any], where: str) -> dict[str, JSON]:
    """`fields`, without those that are None.

    Raises:
        TypeError: If a name is not one of `FIELDS`, or a value is not a string.
    """
    for name, value in fields.items():
        if name not in FIELDS:
            raise TypeError(f"{where}: {name!r} is not a field that can be bound; they are {', '.join(FIELDS)}")
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{where}: {name} must be a string or None, not {type(value).__name__}")
    return {name: value for name, value in fields.items() if value is not None}


@contextmanager
def bind(**fields: str | None) -> Iterator[None]:
    """Bind fields for the work done inside: they stand in `error.context` and in the record of every failure of it.

    An exception that leaves the block takes them along, so that a `with` inside a handler counts too; a block further
    in has the last word.

    >>> with bind(session_id="550e8400", phase_id="PHASE_5A"):
    ...     dict(bound())
    {'session_id': '550e8400', 'phase_id': 'PHASE_5A'}

    Raises:
        TypeError: If a name is not one of `FIELDS`, or a value is not a string.
    """
    own = checked(fields, "bind(…)")
    token = _bound.set({**_bound.get(), **own})
    try:
        yield
    except BaseException as exc:
        carry(exc, own)
        raise
    finally:
        _bound.reset(token)


def carry(exc: BaseException, fields: Mapping[str, Any]) -> None:
    """Have `exc` take `fields` along; those that it has already have the last word.

    Raises:
        TypeError: If a name is not one of `FIELDS`, or a value is not a string.
    """
    taken = {**checked(fields, type(exc).__name__), **carried(exc)}
    with suppress(Exception):  # an exception may refuse attributes
        setattr(exc, _CARRIED, taken)


def bound() -> Mapping[str, JSON]:
    """The fields that are bound now."""
    return _bound.get()


def carried(exc: BaseException) -> Mapping[str, JSON]:
    """The fields that `exc` took along from the blocks that it left."""
    try:
        found = getattr(exc, _CARRIED, None)
    except Exception:  # noqa: BLE001 - an exception may raise whatever it is asked
        return {}
    return found if isinstance(found, dict) else {}


_CARRIED: Final = "__mcpcore_bound__"
