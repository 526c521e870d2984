"""Any Python value as JSON that every reader accepts, within bounds.

What JSON cannot say is converted where that is faithful and named where it is not; nothing here raises, whatever the
value does when it is looked at.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, Final, TypeAlias
from uuid import UUID

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
"""A value that JSON can say."""

_EXACT: Final = 2**53 - 1
"""Beyond this, readers whose numbers are doubles round an integer (RFC 8259, section 6)."""

_MAX_ITEMS: Final = 10_000
"""Items of one container that are looked at: a bound on the work, not on the answer, which bytes bound."""

_MAX_NODES: Final = 50_000
"""Values looked at in all: lists that hold one another many times over grow with every level."""

_CUT: Final = "…"

# C0 controls other than tab, line feed and carriage return: a terminal that shows the text must not obey them.
_CONTROLS: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, *range(0x80, 0xA0)))

_name_of = type.__dict__["__name__"].__get__  # past a metaclass, which may raise


def clean_text(text: str) -> str:
    """`text` without control characters and without half of a surrogate pair."""
    if text.isascii():
        return text if text.isprintable() else text.translate(_CONTROLS)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text if text.isprintable() else text.translate(_CONTROLS)


def safe_str(value: object, *, limit: int = 100_000) -> str:
    """`str(value)`, or the name of its type where that raises; at most `limit` characters."""
    try:
        text = str(value)
        return clean_text(str.__str__(text)[:limit])
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever __str__ raises, the failure that is being told must not be lost
        return named(value)


def named(value: object) -> str:
    """The stand-in for a value that JSON cannot say: its type, never its contents."""
    return f"<{clean_text(_name_of(type(value))[:200])}>"


def cut_text(text: str, limit: int) -> str:
    """`text` in at most `limit` characters; a cut says how much is gone."""
    if len(text) <= limit:
        return text
    note = f"{_CUT} (cut: {len(text)} characters in all)"
    return text[: max(0, limit - len(note))] + note


def dumps(value: JSON) -> str:
    """Compact JSON of a value that `to_json` made."""
    return _encode(value)


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def size(value: JSON) -> int:
    """The bytes of `value` as compact JSON in UTF-8."""
    return _bytes(dumps(value))


def fits(value: JSON, limit: int) -> bool:
    """Whether `value` has at most `limit` bytes as compact JSON; small values are told without making it."""
    left = limit
    stack = [value]
    while stack and left >= 0:
        item = stack.pop()
        if item.__class__ is str:
            left -= WIDEST * len(item) + 3  # pyright: ignore[reportArgumentType] - the class says so
        elif item.__class__ is dict:
            left -= 2
            for key, inner in item.items():  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue] - the same
                left -= WIDEST * len(key) + 4
                stack.append(inner)
        elif item.__class__ is list:
            left -= 2 + len(item)  # pyright: ignore[reportArgumentType]
            stack.extend(item)  # pyright: ignore[reportArgumentType]
        else:
            left -= _LONGEST_NUMBER
    return left >= 0 or size(value) <= limit


WIDEST: Final = 6
"""Bytes of a character in JSON at most: a control character is written as an escape."""

_LONGEST_NUMBER: Final = 26
"""Bytes of a number, a bool or null at most, with the comma after it."""


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def to_json(value: object, *, depth: int = 20) -> JSON:
    """`value` as JSON, nested at most `depth` levels; never raises and never calls out for long."""
    try:
        return _Conversion().convert(value, depth, ())
    except RecursionError:  # the caller left no room at all
        return named(value)


def to_json_object(value: object, *, depth: int = 20) -> dict[str, JSON]:
    """`value` as a JSON object; what is not a mapping stands under the key `value`."""
    converted = to_json(value, depth=depth)
    return converted if isinstance(converted, dict) else {"value": converted}


def fit(value: JSON, limit: int) -> JSON:
    """`value` in at most `limit` bytes of compact JSON; what was cut says so."""
    if fits(value, limit):
        return value
    budget = limit
    while True:
        cut, _ = _shrink(value, budget)
        if size(cut) <= limit or budget < 16:
            return cut
        budget = budget * 3 // 4


def fit_object(value: dict[str, JSON], limit: int) -> dict[str, JSON]:
    """`value` in at most `limit` bytes of compact JSON, still an object."""
    fitted = fit(value, limit)
    return fitted if isinstance(fitted, dict) else {_CUT: fitted}


class _Conversion:
    """One value on its way to JSON, and how much of it may still be looked at."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _MAX_NODES

    def convert(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        self._left -= 1
        kind = type(value)
        if kind is str:
            return clean_text(value)  # type: ignore[arg-type] # kind says so
        if value is None or kind is bool:
            return value  # type: ignore[return-value] # kind says so
        if kind is int:
            return value if -_EXACT <= value <= _EXACT else _big(value)  # type: ignore[operator,return-value,arg-type]
        if kind is float:
            return value if math.isfinite(value) else _not_finite(value)  # type: ignore[arg-type,return-value]
        try:
            if kind is dict or kind is list or kind is tuple:
                return self._container(value, depth, above)
            return self._foreign(value, depth, above)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a value whose own code raises is named, and the rest is told
            return named(value)

    def _container(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        if depth <= 0:
            return f"{named(value)} {_CUT} (too deep)"
        if id(value) in above:
            return f"{named(value)} {_CUT} (cycle)"
        above = (*above, id(value))
        if isinstance(value, Mapping):
            result: dict[str, JSON] = {}
            again: dict[str, int] = {}
            # A dict may change meanwhile, in another thread; anything else may have no end.
            pairs: Iterable[tuple[object, object]] = list(value.items()) if type(value) is dict else value.items()
            for number, (key, item) in enumerate(pairs):
                if self._spent(number):
                    result[_unused(_CUT, result, again)] = _more(value, number)
                    break
                result[_unused(_key(key), result, again)] = self.convert(item, depth - 1, above)
            return result
        items: list[JSON] = []
        assert isinstance(value, Iterable)
        for number, item in enumerate(value):
            if self._spent(number):
                items.append(f"{_CUT} {_more(value, number)}")
                break
            items.append(self.convert(item, depth - 1, above))
        return items

    def _spent(self, number: int) -> bool:
        return number >= _MAX_ITEMS or self._left <= 0

    def _foreign(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        match value:
            case Enum():
                return self.convert(value.value, depth, above)
            case str():
                return clean_text(str.__str__(value))
            case int():
                return self.convert(int.__int__(value), depth, above)
            case float():
                return self.convert(float.__float__(value), depth, above)
            case datetime() | date() | time():
                return clean_text(value.isoformat())
            case timedelta():
                return value.total_seconds()
            case UUID() | Decimal() | Fraction() | PurePath():
                return clean_text(str(value))
            case bytes() | bytearray() | memoryview():
                return base64.b64encode(bytes(value)).decode("ascii")
            case Mapping() | list() | tuple() | deque():
                return self._container(value, depth, above)
            case set() | frozenset():
                return self._container(sorted(value, key=safe_str), depth, above)
            case Integral():
                return self.convert(int(value), depth, above)
            case Real():
                return self.convert(float(value), depth, above)
            case _:
                return self._structured(value, depth, above)

    def _structured(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        if isinstance(value, type):
            return named(value)
        if id(value) in above:
            return f"{named(value)} {_CUT} (cycle)"
        found = as_mapping(value)
        if found is None:
            return named(value)
        return self.convert(found, depth, (*above, id(value)))


def as_mapping(value: object) -> object | None:
    """The fields of a pydantic model or a dataclass, as its author would send them; None for anything else."""
    # Only where pydantic is loaded can the value be one of its models.
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        model: Any = value
        return model.model_dump(mode="python", by_alias=True)  # type: ignore[no-any-return]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return None


def _key(key: object) -> str:
    if type(key) is str:
        return clean_text(key)
    try:
        inner = key.value if isinstance(key, Enum) else key
    except Exception:  # noqa: BLE001 - a key whose own code raises is named
        return named(key)
    converted = to_json(inner, depth=1)
    if isinstance(converted, str):
        return converted
    return dumps(converted) if converted is None or isinstance(converted, bool | int | float) else named(key)


def _more(value: Any, number: int) -> str:
    try:
        return f"{len(value) - number} more"
    except Exception:  # noqa: BLE001 - a container may not know its length
        return "more"


def _unused(key: str, taken: Mapping[str, object], again: dict[str, int]) -> str:
    """`key`, or the key with a number where two keys of the value read the same as text."""
    if key not in taken:
        return key
    number = again.get(key, 1)
    while (candidate := f"{key} ({number + 1})") in taken:
        number += 1
    again[key] = number + 1
    return candidate


def _big(value: int) -> str:
    """A number that a double would round, as text; past the interpreter's limit for that, its size."""
    if value.bit_length() > 4_096:
        return f"<int of {value.bit_length()} bits>"
    return str(value)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _shrink(value: JSON, budget: int) -> tuple[JSON, int]:
    """`value` in about `budget` bytes, and what is left of them."""
    if isinstance(value, str):
        room = max(budget, 0)
        if len(value.encode()) + 2 <= room:
            return value, room - len(value.encode()) - 2
        text = cut_text(value, max(48, room // 2)) if len(value) > 48 else value
        return text, room - len(text.encode()) - 2
    if isinstance(value, dict):
        kept: dict[str, JSON] = {}
        again: dict[str, int] = {}
        for number, (key, item) in enumerate(value.items()):
            short = cut_text(key, 120)
            if budget < len(short.encode()) + 40:
                kept[_unused(_CUT, kept, again)] = f"cut: {len(value) - number} more"
                return kept, budget
            shrunk, budget = _shrink(item, budget - len(short.encode()) - 4)
            kept[_unused(short, kept, again)] = shrunk
        return kept, budget
    if isinstance(value, list):
        some: list[JSON] = []
        for number, item in enumerate(value):
            if budget < 40:
                some.append(f"{_CUT} (cut: {len(value) - number} more)")
                return some, budget
            shrunk, budget = _shrink(item, budget - 1)
            some.append(shrunk)
        return some, budget
    return value, budget - len(dumps(value))
