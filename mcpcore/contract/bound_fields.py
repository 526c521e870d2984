"""Fields of every envelope and record of a server or of a call: who acts, where, in which phase."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Final

from mcpcore.values.request_var import call_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpcore.values.jsonable import JSON

FIELDS: Final = ("session_id", "role", "workspace_root", "phase_id", "plan_hash", "invariant_id")
"""The fields, by the names of the governance specification that they come from (document 000, section 1)."""

TRACE_FIELD: Final = "trace_id"
"""The trace that the caller is in, as W3C Trace Context has it; read from the request, never bound."""

_bound: Final[ContextVar[Mapping[str, str | None]]] = ContextVar("mcpcore_bound", default=MappingProxyType({}))


def checked(fields: Mapping[str, Any], where: str) -> dict[str, str | None]:
    """`fields`, whose names and values are such as can be bound.

    Raises:
        TypeError: If a name is not one of `FIELDS`, or a value is neither a string nor None.
    """
    for name, value in fields.items():
        if name not in FIELDS:
            raise TypeError(f"{where}: {name!r} is not a field that can be bound; they are {', '.join(FIELDS)}")
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{where}: {name} must be a string or None, not {type(value).__name__}")
    return dict(fields)


class bind:  # noqa: N801 - used as `with bind(...)`, as `contextlib.suppress` is
    """Bind fields for the work done inside: they are in `error.context` and in the record of each failure of it.

    An exception that leaves the block takes them along, so that a `with` inside a handler counts too; a block further
    in has the last word, and a field that is None there is bound no more. Tasks and worker threads that are started
    inside have the fields too; a thread that was started by hand has not.

    ```python
    with bind(session_id="550e8400", phase_id="PHASE_5A"):
        ...  # a failure in here has both fields in its context
    ```

    Args:
        **fields: The fields by name; None removes one.

    Raises:
        TypeError: If a name is not one of `FIELDS`, or a value is neither a string nor None.
    """

    def __init__(self, **fields: str | None) -> None:
        """Name the fields; they are bound when the block is entered."""
        self._own = checked(fields, "bind(…)")

    def __enter__(self) -> None:
        """Bind."""
        _bound.set(_Block(self._own, _bound.get()))

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Bind no more."""
        try:
            if exc is not None:
                carry(exc, self._own)
        finally:
            left = _bound.get()
            # A generator may be closed elsewhere than where it was begun; this block must not undo what is bound there.
            if isinstance(left, _Block) and left.own is self._own:
                _bound.set(left.outer)


class _Block(dict[str, "str | None"]):
    """What is bound within a block, and what was bound around it."""

    __slots__ = ("call", "outer", "own")

    def __init__(self, own: Mapping[str, str | None], outer: Mapping[str, str | None]) -> None:
        super().__init__({**outer, **own})
        self.own = own
        self.outer = outer
        self.call = call_number()


def carry(exc: BaseException, fields: Mapping[str, Any]) -> None:
    """Have `exc` take `fields` along; those that it has already have the last word.

    Raises:
        TypeError: If a name is not one of `FIELDS`, or a value is neither a string nor None.
    """
    taken = {**checked(fields, type(exc).__name__), **carried(exc)}
    with suppress(Exception):  # past the class, which may refuse attributes; a metaclass may refuse even that
        BaseException.__setattr__(exc, _CARRIED, (call_number(), taken))


def hand_on(exc: BaseException, to: BaseException) -> None:
    """Copy the fields of `exc` to `to`, which is raised instead of it."""
    fields = carried(exc)
    if fields:
        carry(to, fields)


def bound() -> Mapping[str, JSON]:
    """The fields that are bound now."""
    return _present(_bound.get())


def carried(exc: BaseException) -> Mapping[str, str | None]:
    """The fields that `exc` took along from the blocks that it left; None where one was unbound.

    An exception that is made once and raised in many calls brings nothing from one call to another, and keeps what it
    was given outside any.
    """
    try:
        taken = _namespace(exc).get(_CARRIED)
        if taken is None:
            return {}
        number, fields = taken
    except Exception:  # noqa: BLE001 - somebody put anything else there
        return {}
    return fields if number in (None, call_number()) and isinstance(fields, dict) else {}


def in_force(
    server: Mapping[str, str | None], call: Mapping[str, str | None], failures: Sequence[BaseException]
) -> dict[str, JSON]:
    """The fields of a failure: the server's, the call's and those of the blocks around it; the innermost one counts.

    `failures` are the exception that left the handler, and then the exceptions in it that answer for it. A member of
    a group has the fields that its own task had bound.
    """
    around = _bound.get()
    if not (server or around or call):
        try:
            for exc in failures:
                if _CARRIED in _namespace(exc):
                    break
            else:
                return {}  # as it is where nothing is bound
        except Exception:  # noqa: BLE001 - somebody gave an exception a namespace of another kind
            return {}
    number, inside = call_number(), []
    while isinstance(around, _Block) and number is not None and around.call == number:
        inside.append(around.own)
        around = around.outer
    fields = {**server, **around, **call}
    for own in reversed(inside):
        fields.update(own)
    fields.update(_carried_by(failures))
    return _present(fields)


def _carried_by(failures: Iterable[BaseException]) -> dict[str, str | None]:
    fields: dict[str, str | None] = {}
    seen: set[int] = set()
    for exc in failures:
        if id(exc) not in seen:
            seen.add(id(exc))
            fields.update(carried(exc))
    return fields


def _present(fields: Mapping[str, str | None]) -> dict[str, JSON]:
    return {name: value for name, value in fields.items() if value is not None}


_CARRIED: Final = "__mcpcore_bound__"

_namespace: Final = BaseException.__dict__["__dict__"].__get__  # past the class, whose own code may raise
