"""Any value becomes bounded JSON: converted if that is faithful, and otherwise replaced by its type name."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import BaseModel, Field, SecretStr

from mcpcore.values.jsonable import cut_text, dumps, fit, fit_object, safe_str, size, to_json, to_json_object


class Hostile:
    """Raises on every operation."""

    def __init__(self, kind: type[BaseException]) -> None:
        object.__setattr__(self, "kind", kind)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "kind")(name)

    def __str__(self) -> str:
        raise object.__getattribute__(self, "kind")("str")

    __repr__ = __str__


class Endless(Mapping[str, int]):
    """An endless mapping."""

    def __getitem__(self, key: str) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            yield f"k{number}"
            number += 1

    def __len__(self) -> int:
        return sys.maxsize


class Raising(Mapping[str, int]):
    """A mapping whose items raise."""

    def __getitem__(self, key: str) -> int:
        raise SystemExit(1)

    def __iter__(self) -> Iterator[str]:
        raise SystemExit(1)

    def __len__(self) -> int:
        raise OSError


class Colour(enum.Enum):
    RED = "red"


class Model(BaseModel):
    when: date = Field(alias="on")
    secret: SecretStr = SecretStr("hunter2")
    hidden: str = Field(default="hunter3", exclude=True)


@dataclasses.dataclass
class Point:
    x: int
    inner: Any = None


class Lying:
    """Claims to be a string."""

    @property
    def __class__(self) -> Any:
        return str

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


class Meta(type):
    @property
    def __name__(cls) -> str:
        raise RuntimeError("no name")


class Nameless(metaclass=Meta): ...


# Each value is in a list because Hypothesis inspects the values that it draws.
HOSTILE = [Colour.RED, Hostile(ValueError), Hostile(SystemExit), Raising(), object(), Lying(), Nameless()]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(1, 4_400).map(lambda digits: 10**digits - 1)
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs", "Cc"]))
    | st.binary(max_size=30)
    | st.datetimes()
    | st.timedeltas()
    | st.decimals()
    | st.fractions()
    | st.uuids()
    | st.complex_numbers()
    | st.sampled_from(range(7)).map(lambda number: [HOSTILE[number]])
    | st.builds(Point, st.integers(), st.text()),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text() | st.integers() | st.floats() | st.none() | st.binary(max_size=3), inner, max_size=5
        )
        | st.frozensets(st.integers() | st.text(), max_size=4)
        | st.builds(Point, st.integers(), inner)
    ),
    max_leaves=15,
)


def strict(text: str) -> Any:
    return json.loads(text, parse_constant=pytest.fail)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


@given(VALUES, st.integers(min_value=1, max_value=20))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_anything_is_strict_json_within_its_depth(value: Any, depth: int) -> None:
    """The result encodes as UTF-8, has no NaN, respects the depth, and reads back as it was."""
    converted = to_json(value, depth=depth)
    assert converted == strict(dumps(converted).encode().decode())
    assert depth_of(converted) <= depth


@given(VALUES, st.integers(min_value=64, max_value=3_000))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_fit_cuts_only_oversized_values(value: Any, limit: int) -> None:
    """The result of `fit` never exceeds the limit in bytes, and smaller values are unchanged."""
    converted = to_json_object({"value": value, "more": "x" * 100})
    fitted = fit_object(converted, limit)
    assert size(fitted) <= limit
    assert strict(dumps(fitted)) == fitted
    assert (fitted == converted) == (size(converted) <= limit)
    if fitted != converted:
        assert "…" in dumps(fitted)


@given(st.text(max_size=400), st.integers(min_value=40, max_value=300))
def test_a_cut_text_says_how_much_was_removed(text: str, limit: int) -> None:
    """The text never exceeds its limit, and is whole if it fits."""
    cut = cut_text(text, limit)
    assert len(cut) <= limit
    assert cut == text if len(text) <= limit else cut.endswith(f"(cut: {len(text)} characters in all)")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(seconds=90), 90.0),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        (Decimal("NaN"), "NaN"),
        (Fraction(1, 3), "1/3"),
        (Colour.RED, "red"),
        (PurePosixPath("/a/b"), "/a/b"),
        (b"\xff\x00", "/wA="),
        (bytearray(b"a"), "YQ=="),
        (memoryview(b"a"), "YQ=="),
        (Model(on=date(2026, 1, 2)), {"on": "2026-01-02", "secret": "<SecretStr>"}),
        (Point(1, (2, 3)), {"x": 1, "inner": [2, 3]}),
        ({3, 1, 2}, [1, 2, 3]),
        (deque([1]), [1]),
        (OrderedDict(a=1), {"a": 1}),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**53, 2**53),
        pytest.param(1 - 10**4300, 1 - 10**4300, id="as long as Python reads"),
        pytest.param(10**4300, "<int of 14285 bits>", id="too long"),
        pytest.param(-(10**5000), "<int of 16610 bits>", id="huge"),
        ("\ud83d\ude00", "😀"),
        ("a\ud800b", "a\ufffdb"),
        ("\x1b[31mred\x07", "\\u001b[31mred\\u0007"),
        ("tab\tline\n", "tab\tline\n"),
        (
            {1: "int", "1": "text", None: 0, False: 1, 1.5: 2, b"k": 3},
            {"1": "int", "1 (2)": "text", "null": 0, "false": 1, "1.5": 2, "aw==": 3},
        ),
        ({(1, 2): 1}, {"<tuple>": 1}),
        ({Colour.RED: 1}, {"red": 1}),
        (object(), "<object>"),
        (int, "<type>"),
        (ValueError("hunter2"), "<ValueError>"),
        (lambda: 1, "<function>"),
        (1j, "<complex>"),
        pytest.param(Hostile(ValueError), "<Hostile>", id="Hostile(ValueError)"),
        pytest.param(Hostile(SystemExit), "<Hostile>", id="Hostile(SystemExit)"),
        pytest.param(Raising(), "<Raising>", id="Raising()"),
        pytest.param(Lying(), "<Lying>", id="Lying()"),
        pytest.param(Nameless(), "<Nameless>", id="Nameless()"),
    ],
)
def test_values_are_converted_or_named(value: Any, expected: Any) -> None:
    """Faithful conversions are made; secrets and values that JSON cannot represent are replaced by a name."""
    assert expected == to_json(value)


def test_cycles_are_replaced_where_they_close() -> None:
    """This holds in lists, mappings and objects, over any distance."""
    ring: list[Any] = [1]
    ring.append({"again": ring})
    assert [1, {"again": "<list> … (cycle)"}] == to_json(ring)
    point = Point(1)
    point.inner = [point]
    assert {"x": 1, "inner": ["<Point> … (cycle)"]} == to_json(point)
    assert [[1], [1]] == to_json([[1]] * 2)


def test_shared_lists_do_not_grow_with_every_level() -> None:
    """Ten lists that share the same ten lists, twenty levels deep, take moderate time and space."""
    value: list[Any] = ["x"] * 10
    for _ in range(20):
        value = [value] * 10
    assert size(to_json(value)) < 5_000_000


def test_an_endless_mapping_ends() -> None:
    """Only ten thousand items of one container are read, and the rest is counted."""
    converted = to_json(Endless())
    assert isinstance(converted, dict)
    assert 10_001 == len(converted)
    assert str(converted["…"]).endswith(" more")
    many = to_json(list(range(10_005)))
    assert isinstance(many, list)
    assert "… 5 more" == many[-1]


def test_keys_that_read_alike_remain_distinct() -> None:
    """Thousands of keys with the same text take no longer than others."""
    converted = to_json({object(): number for number in range(9_000)})
    assert isinstance(converted, dict)
    assert 9_000 == len(converted)


def test_values_nested_too_deep_are_replaced() -> None:
    """A value nested a hundred thousand times does not exhaust the stack."""
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert 3 == depth_of(to_json(value, depth=3))
    assert "too deep" in dumps(to_json(value, depth=3))


def test_near_the_end_of_the_stack_a_value_is_still_replaced() -> None:
    """With little stack left, only the caller's own frames may raise."""

    def descend(left: int) -> Any:
        return to_json({"a": [{"b": [1]}]}) if left == 0 else descend(left - 1)

    limit = sys.getrecursionlimit()
    for left in range(limit - 200, limit - 20, 3):
        try:
            assert descend(left) is not None
        except RecursionError:
            break


def test_safe_str_survives_exceptions_of_str() -> None:
    """A text that raises is replaced, an endless text is cut, and an interrupt propagates."""
    assert "<Hostile>" == safe_str(Hostile(ValueError))
    assert "<Hostile>" == safe_str(Hostile(SystemExit))
    assert 10 == len(safe_str("x" * 100, limit=10))
    with pytest.raises(KeyboardInterrupt):
        safe_str(Hostile(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        to_json({"a": Endless2()})


class Endless2(Endless):
    def __iter__(self) -> Iterator[str]:
        raise KeyboardInterrupt


def test_fit_keeps_the_beginning() -> None:
    """The end is cut, with a note about the omitted amount."""
    fitted = fit({"first": 1, "second": "y" * 500, "third": [1] * 500}, 200)
    assert isinstance(fitted, dict)
    assert 1 == fitted["first"]
    assert "…" in dumps(fitted)
