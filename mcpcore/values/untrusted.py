"""Objects that this package did not make: their methods may raise anything, and their JSON may have any form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


def quietly(ask: Callable[[], T], otherwise: U) -> T | U:
    """Return `ask()`, or `otherwise` if it raises.

    For calls into foreign objects, whose methods may raise anything, even SystemExit or CancelledError. `ask` awaits
    nothing, so a cancellation that it raises is never the task's own. A KeyboardInterrupt passes, since Ctrl+C may
    come at any time.
    """
    try:
        return ask()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - as described
        return otherwise


def object_in(value: object, key: str) -> dict[str, Any]:
    """The object under `key` in the JSON of a stranger, or an empty object."""
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, dict) else {}


def list_in(value: object, key: str) -> list[Any]:
    """The list under `key` in the JSON of a stranger, or an empty list."""
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, list) else []


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object in a text of a stranger; None for any other text, and for one that is nested too deeply."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether calling `fn`, a function, a partial or a callable object, makes a coroutine, as far as its type tells."""
    import functools
    import inspect

    while isinstance(fn, functools.partial):
        fn = fn.func
    call: Any = type(fn).__call__
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(call)
