"""How much of a failure goes over the wire."""

from __future__ import annotations

from typing import Any, Final

_LEAST: Final = {"message": 40, "hint": 40, "data": 4096, "depth": 2, "details": 64}


class Limits:
    """The bounds of an envelope; what is cut says so. Frozen, comparable and hashable.

    Attributes:
        message: Characters of the message.
        hint: Characters of the recovery hint and of the message for the user.
        data: Bytes of `data` as compact JSON in UTF-8, reserved keys included.
        depth: Levels of nesting in `data`.
        details: Bytes of the author's data on the text surface.

    Raises:
        ValueError: If a bound is too small for an envelope to say anything.
    """

    # Not a dataclass: the linter asks for two bounds, and to load `dataclasses` takes longer than to check a file.
    __slots__ = ("data", "depth", "details", "hint", "message")

    message: int
    hint: int
    data: int
    depth: int
    details: int

    def __init__(
        self,
        *,
        message: int = 1_000,
        hint: int = 500,
        data: int = 32 * 1024,
        depth: int = 20,
        details: int = 2 * 1024,
    ) -> None:
        """Refuse bounds that leave no room."""
        given = {"message": message, "hint": hint, "data": data, "depth": depth, "details": details}
        for name, value in given.items():
            least = _LEAST[name]
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"Limits({name}=...) must be an int of at least {least}, not {value!r}")
            object.__setattr__(self, name, value)

    def _given(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _LEAST}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Limits is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Limits is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return self._given() == other._given() if isinstance(other, Limits) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._given().values()))

    def __getstate__(self) -> dict[str, int]:
        return self._given()

    def __setstate__(self, state: dict[str, Any]) -> None:
        Limits.__init__(self, **state)

    def __repr__(self) -> str:
        return f"Limits({', '.join(f'{name}={value}' for name, value in self._given().items())})"


DEFAULT_LIMITS: Final = Limits()
