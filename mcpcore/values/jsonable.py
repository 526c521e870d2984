"""Converts any Python value to bounded JSON that every reader accepts.

A value that JSON cannot express is converted if that is faithful, else replaced by the name of its type. Nothing here
raises, even for hostile values.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, Final, Self, TypeAlias, TypeVar, cast
from uuid import UUID

from mcpcore.values.escaping import clean_text, one_line

T = TypeVar("T")
U = TypeVar("U")

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"
"""A JSON value."""

MAX_DIGITS: Final = 4_300
"""The digits of the longest integer that Python reads and writes by default (`sys.int_info`)."""

_SHORT: Final = 2**2_000
"""Smaller integers have fewer digits than the lowest limit that Python can be set to, which is 640."""

_MAX_ITEMS: Final = 10_000
"""Items of one container that are examined: a bound on the work; the result is bounded in bytes."""

_MAX_NODES: Final = 50_000
"""Values that are examined in all: lists that contain one another many times grow with every level."""

_CUT: Final = "…"

_name_of = type.__dict__["__name__"].__get__  # not through a metaclass, which may raise


class Cut(str):  # noqa: SLOT000 - a text with one attribute
    """The beginning of a text that was too long, or the note for a value that was too deep.

    Attributes:
        whole: The number of characters in the whole text.
    """

    whole: int

    def __new__(cls, text: str, whole: int) -> Self:
        """Keep the length of the whole text with its beginning."""
        cut = super().__new__(cls, text)
        cut.whole = whole
        return cut

    def __reduce__(self) -> tuple[type[Cut], tuple[str, int]]:
        return Cut, (str.__str__(self), self.whole)


class Note(str):  # noqa: SLOT000 - the same
    """The note at the end of a container with the number of items that were left out."""

    left_out: int | None = None
    """The number of these items; None for a container without a length."""


_WINDOW: Final = 100_000
"""Characters of a message that are read; a longer one is cut first."""


def safe_str(value: object, *, limit: int = _WINDOW) -> str:
    """`str(value)`, or the name of its type if that raises; a `Cut` of `limit` characters if it is longer."""
    if type(value) is str and len(value) <= limit and value.isprintable():
        return value  # as nearly all are
    try:
        text = text_of(value, limit)
        length = str.__len__(text)
        start = clean_text(str.__getitem__(text, slice(limit)))
        return start if length <= limit else Cut(start, length)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - an error in __str__ must not hide the original failure
        return named(value)


def text_of(value: object, limit: int) -> str:
    """`str(value)`, without copying a long text or calling the repr of a long argument of an exception."""
    kind = type(value)
    if issubclass(kind, str) and kind.__str__ is str.__str__:
        return value  # type: ignore[return-value] # kind says so
    if issubclass(kind, BaseException) and kind.__str__ in _SHOW_ARGUMENTS:
        arguments = BaseException.__getattribute__(cast("BaseException", value), "args")
        is_plain = kind.__str__ is BaseException.__str__ and len(arguments) == 1 and type(arguments[0]) is str
        if not is_plain and _is_bulky(arguments, limit):
            return dumps(to_json(arguments[0] if len(arguments) == 1 else arguments, room=limit))
    return str(value)


_SHOW_ARGUMENTS: Final = (BaseException.__str__, KeyError.__str__)
"""The methods that use the repr of the arguments of an exception."""


def _is_bulky(value: object, limit: int) -> bool:
    """Whether the built-in containers in `value` contain more than `limit` characters or items in all."""
    left = limit
    stack: list[Iterator[Any]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            kind = type(item)
            left -= len(item) + 1 if kind in _TEXTS else 1
            if left < 0:
                return True
            if kind is dict:
                stack += iter(item), iter(item.values())
                break
            if kind in _CONTAINERS:
                stack.append(iter(item))
                break
        else:
            stack.pop()
    return False


_TEXTS: Final = frozenset({str, bytes, bytearray})
_CONTAINERS: Final = frozenset({list, tuple, set, frozenset, deque})


def named(value: object) -> str:
    """The replacement for a value that JSON cannot express: its type, never its contents."""
    return f"<{clean_text(_name_of(type(value))[:200])}>"


def cut_text(text: str, limit: int) -> str:
    """`text` in at most `limit` characters; a cut says how much is gone."""
    whole = text.whole if isinstance(text, Cut) else len(text)
    if whole <= limit:
        return text
    note = f"{_CUT} (cut: {whole} characters in all)"
    # A flag that is cut in two would leave invisible tags behind.
    return text[: max(0, limit - len(note))].rstrip(_TAGS) + note


_TAGS: Final = "".join(map(chr, range(0xE0020, 0xE0080)))
"""The letters of the flags of regions; see `mcpcore.values.escaping`."""


def clean_cut(text: str, limit: int) -> str:
    """`text`, escaped, without space around it and in at most `limit` characters; only its beginning is read."""
    if text.__class__ is str and len(text) <= limit and text.isprintable():
        return text.strip()  # as nearly all are
    window = max(_WINDOW, 2 * limit)
    whole = text.whole if isinstance(text, Cut) else len(text)
    clean = clean_text(text[:window]).strip()
    return cut_text(clean if whole <= window or not clean else Cut(clean, whole), limit)


_MAX_NAME: Final = 200
"""Characters of a name from a caller that an answer or a record repeats; no tool has a name over 128."""


def shown_name(name: str) -> str:
    """The name of a tool, prompt or resource, in the caller's own words: in one line and at most 200 characters."""
    line = one_line(name[: 2 * _MAX_NAME])
    return cut_text(line if len(name) <= 2 * _MAX_NAME else Cut(line, len(name)), _MAX_NAME)


def dumps(value: JSON) -> str:
    """Compact JSON of a value that `to_json` made."""
    return _encode(value)


def compact_encoder(**options: Any) -> Callable[[Any], str]:
    """A function that writes compact JSON, with `options` of `json.JSONEncoder`."""
    encoder = json.JSONEncoder(separators=(",", ":"), **options)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # pragma: no cover - a Python without this part in C
        return encoder.encode
    # `JSONEncoder.encode` makes a new one for each value, which costs more than writing a small one.
    quote = json.encoder.encode_basestring_ascii if encoder.ensure_ascii else json.encoder.encode_basestring
    write = make(None, encoder.default, quote, None, ":", ",", encoder.sort_keys, False, encoder.allow_nan)  # noqa: FBT003 - positional only
    return lambda value: "".join(write(value, 0))


_encode: Final = compact_encoder(ensure_ascii=False, allow_nan=False)


def size(value: JSON) -> int:
    """The bytes of `value` as compact JSON in UTF-8."""
    text = dumps(value)
    return len(text) if text.isascii() else len(text.encode())


WIDEST: Final = 6
"""The most bytes of a character in JSON: a control character is escaped."""


def to_json(value: object, *, depth: int = 20, room: int | None = None) -> JSON:
    """`value` as JSON, nested at most `depth` levels; never raises, and takes a bounded time.

    Args:
        value: Any value.
        depth: The levels of nesting; deeper containers are replaced by the name of their type.
        room: The bytes to which the caller will cut the JSON with `fit`. Only the parts that fit are converted: long
            texts are cut, with their length in the note, and the items after that are counted.
    """
    try:
        return _Conversion(room).convert(value, depth, ())
    except RecursionError:  # the stack of the caller is full
        return named(value)


def plain_json(value: object, *, depth: int, room: int) -> tuple[dict[str, JSON], str] | None:
    """A small dict of plain values as JSON, and its compact text; None for any other value, which `to_json` converts.

    Plain values are what most failures have: texts without controls, numbers, and lists and dicts of them, which are
    JSON already. The text serves whoever measures, searches or writes the JSON.
    """
    if type(value) is not dict:
        return None
    room //= WIDEST
    try:
        is_flat = len(value) <= _FEW and _SCALARS.issuperset(map(type, value.values()))
        if is_flat:  # as most are; a nested one is measured before it is written
            for key, item in value.items():
                if type(key) is not str or (type(item) is str and len(item) > room):
                    return None
        elif not _is_plain(value, depth, [room]):
            return None
        text = _encode(value)
        if is_flat and len(text) > room:
            return None
    except (ValueError, RecursionError, RuntimeError):  # a NaN; another thread that changes the value
        return None
    # Escapes are in the text of what is not plain: a line feed, a quote.
    if "\\" in text or not text.isprintable():
        return None
    # A copy, since the author may go on to change the lists and dicts.
    return (value.copy() if is_flat else json.loads(text)), text


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_FEW: Final = 50
"""Items of a dict that are worth a look at each."""


def _is_plain(value: object, depth: int, left: list[int]) -> bool:
    """Whether `value` consists of the types of JSON alone, in at most `depth` levels and `left[0]` characters.

    It is no text: callers count those themselves.
    """
    kind = type(value)
    left[0] -= 1
    if kind is dict or kind is list:
        if depth <= 0 or len(value) > _MAX_ITEMS:  # type: ignore[arg-type] # kind says so
            return False
        if kind is dict:
            for key in value:  # type: ignore[attr-defined] # the same
                if type(key) is not str:
                    return False
                left[0] -= len(key)
            value = value.values()  # type: ignore[attr-defined] # the same
        for item in value:  # type: ignore[attr-defined] # the same
            if type(item) is str:  # most items are texts, and another call would cost more than the rest
                left[0] -= 1 + len(item)
            elif left[0] < 0 or not _is_plain(item, depth - 1, left):
                return False
    elif kind is int:
        return -_SHORT < value < _SHORT  # type: ignore[operator] # the same
    elif kind is not float and kind is not bool and value is not None:
        return False
    return left[0] >= 0


def to_json_object(value: object, *, depth: int = 20, room: int | None = None) -> dict[str, JSON]:
    """`value` as a JSON object; a value that is not a mapping gets the key `value`."""
    converted = to_json(value, depth=depth, room=room)
    return converted if isinstance(converted, dict) else {"value": converted}


def fit(value: JSON, limit: int) -> JSON:
    """`value` in at most `limit` bytes of compact JSON, with notes for cut parts."""
    if size(value) <= limit:
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


_TIMES: Final = 16
"""The conversion stops at this multiple of the room. In a list of long texts, `fit` shows half as much of each as of
the one before, so that it never reaches the seventeenth."""


class _Conversion:
    """The conversion of one value, and how much of it may still be examined."""

    __slots__ = ("_characters", "_left", "_window")

    def __init__(self, room: int | None) -> None:
        self._left = _MAX_NODES
        # Cleaning may shorten a text, but at most to half its length.
        self._window = sys.maxsize if room is None else 2 * room + 64
        self._characters: float = math.inf if room is None else _TIMES * self._window

    def convert(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        self._left -= 1
        kind = type(value)
        if kind is str:
            length = len(value)  # type: ignore[arg-type] # kind says so
            if length > self._window:
                return self._text(value)  # type: ignore[arg-type] # the same
            self._characters -= length
            return clean_text(value)  # type: ignore[arg-type] # the same
        if value is None or kind is bool:
            return value  # type: ignore[return-value] # kind says so
        if kind is int:
            return value if -_SHORT < value < _SHORT else self._long(value)  # type: ignore[operator,return-value,arg-type]
        if kind is float:
            return value if math.isfinite(value) else _not_finite(value)  # type: ignore[arg-type,return-value]
        try:
            if kind is dict or kind is list or kind is tuple:
                return self._container(value, depth, above)
            return self._foreign(value, depth, above)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a value whose code raises is named, and the others are converted
            return named(value)

    def _long(self, value: int) -> int | str:
        """A long integer; the name of one that is too long for JSON readers and writers in Python."""
        self._characters -= value.bit_length() / 3
        limit = min(sys.get_int_max_str_digits() or MAX_DIGITS, MAX_DIGITS)
        return value if abs(value) < 10**limit else _bits(value)

    def _text(self, value: str) -> str:
        # A subclass may override its length and its parts.
        length = str.__len__(value)
        if length <= self._window:
            self._characters -= length
            return clean_text(str.__str__(value))
        self._characters -= self._window
        start = clean_text(str.__getitem__(value, slice(self._window)))
        return Cut(start[: self._window], length)

    def _container(self, value: object, depth: int, above: tuple[int, ...], *, more: int = 0) -> JSON:
        """The items of `value`, and a note if `more` items were left out."""
        if depth <= 0:
            marker = f"{named(value)} {_CUT} (too deep)"
            return Cut(marker, len(marker))
        if id(value) in above:
            return f"{named(value)} {_CUT} (cycle)"
        above = (*above, id(value))
        if isinstance(value, Mapping):
            result: dict[str, JSON] = {}
            again: dict[str, int] = {}
            pairs: Iterable[tuple[object, object]] = value.items()
            if type(value) is dict:
                # Another thread may change the dict; other mappings may be endless.
                pairs = list(islice(pairs, _MAX_ITEMS + 1))
            for number, (key, item) in enumerate(pairs):
                if self._spent(number):
                    result[unused(_CUT, result, again)] = _more(value, number)
                    break
                result[unused(self._key(key), result, again)] = self.convert(item, depth - 1, above)
            return result
        items: list[JSON] = []
        assert isinstance(value, Iterable)
        for number, item in enumerate(value):
            if self._spent(number):
                items.append(_more(value, number, f"{_CUT} ", more))
                return items
            items.append(self.convert(item, depth - 1, above))
        if more:
            items.append(_more((), 0, f"{_CUT} ", more))
        return items

    def _spent(self, number: int) -> bool:
        return number >= _MAX_ITEMS or self._left <= 0 or self._characters <= 0

    def _key(self, key: object) -> str:
        if type(key) is str:
            return self._text(key)
        try:
            inner = key.value if isinstance(key, Enum) else key
            if isinstance(inner, Mapping | list | tuple | set | frozenset):
                return named(inner)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a key whose code raises is named
            return named(key)
        converted = self.convert(inner, 1, ())
        if isinstance(converted, str):
            return converted
        return dumps(converted) if converted is None or isinstance(converted, bool | int | float) else named(key)

    def _foreign(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        match value:
            case Enum():
                return self.convert(value.value, depth, above)
            case Cut() | Note() if len(value) <= self._window:
                return value  # converted before
            case str():
                return self._text(value)
            case int():
                return self.convert(int.__int__(value), depth, above)
            case float():
                return self.convert(float.__float__(value), depth, above)
            case datetime() | date() | time():
                return self._text(value.isoformat())
            case timedelta():
                return value.total_seconds()
            case UUID() | Decimal() | Fraction() | PurePath():
                return self._text(str(value))
            case bytes() | bytearray() | memoryview():
                return self._base64(memoryview(value))
            case Mapping() | list() | tuple() | deque():
                return self._container(value, depth, above)
            case set() | frozenset():
                some = list(islice(value, _MAX_ITEMS))
                return self._container(sorted(some, key=_order), depth, above, more=len(value) - len(some))
            case Integral():
                return self.convert(int(value), depth, above)
            case Real():
                return self.convert(float(value), depth, above)
            case _:
                return self._structured(value, depth, above)

    def _base64(self, value: memoryview) -> str:
        if value.nbytes <= self._window:
            self._characters -= value.nbytes
            return base64.b64encode(value.tobytes()).decode("ascii")
        self._characters -= self._window
        start = base64.b64encode(value.cast("B")[: self._window // 4 * 3]).decode("ascii")
        return Cut(start, -(-value.nbytes // 3) * 4)

    def _structured(self, value: object, depth: int, above: tuple[int, ...]) -> JSON:
        if isinstance(value, type):
            return named(value)
        if id(value) in above:
            return f"{named(value)} {_CUT} (cycle)"
        fields = as_mapping(value)
        return named(value) if fields is None else self.convert(fields, depth, (*above, id(value)))


def as_mapping(value: object) -> object | None:
    """The fields of a pydantic model or a dataclass, by alias; None for other values."""
    # The value can only be a pydantic model if pydantic is loaded.
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        model: Any = value
        return model.model_dump(mode="python", by_alias=True)  # type: ignore[no-any-return]
    # The check of `is_dataclass`: importing `dataclasses` would take longer than classifying an exception.
    if hasattr(type(value), "__dataclass_fields__"):
        from dataclasses import fields

        return {field.name: getattr(value, field.name) for field in fields(cast("Any", value))}
    return None


_COMPARED: Final = 1_000
"""Characters that are compared to sort the items of a set."""


def _order(item: object) -> str:
    """The sort key of an item of a set, so that equal sets have equal JSON."""
    if _is_bulky(item, _WINDOW) and not isinstance(item, str):
        return dumps(to_json(item, room=_COMPARED))[:_COMPARED]
    return safe_str(item, limit=_COMPARED)


def _more(value: Any, number: int, before: str = "", extra: int = 0) -> Note:
    """The note for the items of `value` from `number` on, and for `extra` more."""
    try:
        count = len(value) - number + extra
        note = Note(f"{before}{count} more")
        note.left_out = count
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a container may have no length
        note = Note(f"{before}more")
    return note


def unused(key: str, taken: Mapping[str, object], again: dict[str, int]) -> str:
    """`key`, with a number if another key of the value has the same text."""
    if key not in taken:
        return key
    number = again.get(key, 1)
    while (candidate := f"{key} ({number + 1})") in taken:
        number += 1
    again[key] = number + 1
    return candidate


def _bits(value: int) -> str:
    """The replacement for an integer that is not sent: its size."""
    return f"<int of {value.bit_length()} bits>"


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _shrink(value: JSON, budget: int) -> tuple[JSON, int]:
    """`value` in about `budget` bytes, and the rest of the budget."""
    if isinstance(value, str):
        room = max(budget, 0)
        length = len(value.encode())
        if length + 2 <= room:
            return value, room - length - 2
        text = cut_text(value, max(48, room // 2)) if len(value) > 48 else value
        return text, room - len(text.encode()) - 2
    if isinstance(value, dict):
        kept: dict[str, JSON] = {}
        again: dict[str, int] = {}
        for number, (key, item) in enumerate(value.items()):
            short = cut_text(key, 120)
            if budget < len(short.encode()) + 40:
                kept[unused(_CUT, kept, again)] = f"cut: {_left_out(list(value.values())[number:])}"
                return kept, budget
            shrunk, budget = _shrink(item, budget - len(short.encode()) - 4)
            kept[unused(short, kept, again)] = shrunk
        return kept, budget
    if isinstance(value, list):
        some: list[JSON] = []
        for number, item in enumerate(value):
            if budget < 40:
                some.append(f"{_CUT} (cut: {_left_out(value[number:])})")
                return some, budget
            shrunk, budget = _shrink(item, budget - 1)
            some.append(shrunk)
        return some, budget
    length = len(dumps(value))
    if isinstance(value, int) and length > max(budget, 48):
        value = f"{_bits(value)} {_CUT}"
        length = len(value) + 2
    return value, budget - length


def _left_out(items: Sequence[JSON]) -> str:
    """The note for `items`, of which the last may be such a note itself."""
    last = items[-1]
    if not isinstance(last, Note):
        return f"{len(items)} more"
    return "more" if last.left_out is None else f"{len(items) - 1 + last.left_out} more"
