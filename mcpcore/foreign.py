"""Calls into objects that this package did not make, whose methods may raise anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

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
