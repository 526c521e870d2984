"""Reporting a failure takes bounded time and memory, and the answer has a bounded size."""

from __future__ import annotations

import asyncio
import gc
import logging
import pickle
import sys
import tracemalloc
from collections import UserDict
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from bench.runtime.bounds import measure
from mcpcore import CodedError, ErrorCode, Server, not_found, tool
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.values.jsonable import Cut, clean_cut, cut_text, fit, safe_str, size, to_json
from mcpcore.wire.envelope_builder import build_envelope
from tests.answers import envelope_of

_FEW = [
    "a text in data",
    "a hostile text in data",
    "a text listed often",
    "many rows",
    "bytes",
    "a kind of text",
    "a model",
    "a mapping that makes its items",
    "long keys",
    "many keys",
    "long numbers",
    "a set of tuples",
    "a hostile message",
    "a hint",
    "a custom recovery",
    "a recovery with many keys",
    "a date with a long text",
    "a long path",
    "a reason in data",
    "a crash with arguments",
    "a crash with a key",
]


@pytest.mark.server_only("it measures the boundary, which is the same")
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc")
@pytest.mark.parametrize("case", _FEW)
def test_a_failure_with_a_huge_value_takes_little_time_and_memory(case: str, caplog: pytest.LogCaptureFixture) -> None:
    """The benchmark allows half a second for each case; this test allows ten times as much for busy machines."""
    with caplog.at_level(logging.CRITICAL, "mcp"):
        cost = asyncio.run(measure(case))
    assert cost.seconds < 5
    assert cost.kib <= 50 * 1024
    assert 0 < cost.answered < 200_000
    assert 0 < cost.recorded < 300_000


def _sent(data: Any) -> dict[str, Any]:
    made = build_envelope(ErrorCode.NOT_FOUND, "Nothing.", retry=ErrorCode.NOT_FOUND.retry, tool="t", data=data)
    assert size(dict(made.data or {})) <= DEFAULT_LIMITS.data
    return dict(made.data or {})


def test_a_long_text_is_cut_and_its_note_gives_the_full_length() -> None:
    """Short values next to the long text stay unchanged."""
    sent = _sent({"body": "x" * 3_000_000, "id": 7})
    assert sent["body"].startswith("xxx")
    assert sent["body"].endswith("… (cut: 3000000 characters in all)")
    assert sent["id"] == 7


def test_the_note_for_items_left_out_counts_all_of_them() -> None:
    """The count includes items that were never converted."""
    pages = _sent({"pages": ["y" * 1_000_000] * 2_000})["pages"]
    shown = len(pages) - 1
    assert 2 <= shown < 20
    assert pages[-1] == f"… (cut: {2_000 - shown} more)"
    assert pages[0].endswith("(cut: 1000000 characters in all)")
    rows = _sent({f"row {number}": "z" * 100_000 for number in range(500)})
    shown = sum(key.startswith("row") for key in rows)
    assert rows["…"] == f"cut: {500 - shown} more"


def test_items_of_a_mapping_without_a_length_are_left_out_without_a_count() -> None:
    """Such a mapping may be infinite."""

    class Endless(UserDict[str, str]):
        def items(self) -> Any:
            return ((str(number), "w" * 10_000) for number in iter(int, 1))

        def __len__(self) -> int:
            raise NotImplementedError

    assert _sent({"all": Endless()})["all"]["…"] == "cut: more"


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (b"\x00" * 3_000_000, 4_000_000),
        (bytearray(3_000_000), 4_000_000),
        (memoryview(bytes(3_000_001)), 4_000_004),
    ],
    ids=["bytes", "bytearray", "memoryview"],
)
def test_long_bytes_are_cut(value: object, whole: int) -> None:
    """The note gives the length of the base64 text."""
    sent = _sent({"image": value})["image"]
    assert sent.startswith("AAAA")
    assert sent.endswith(f"… (cut: {whole} characters in all)")


def test_long_bytes_that_are_not_contiguous_are_named() -> None:
    """Joining them would take as much memory as they occupy."""
    assert _sent({"image": memoryview(bytes(3_000_000))[::2]}) == {"image": "<memoryview>", "retryable": False}


def test_the_hint_of_a_recovery_with_many_keys_is_sent() -> None:
    """The hint is sent even if it is the last key."""
    recovery = {**{f"k{number}": "x" * 100 for number in range(20_000)}, "hint": "Wait."}
    assert not_found("Nothing.", recovery=recovery).recovery["hint"] == "Wait."  # type: ignore[index]


def test_a_short_path_is_sent_and_a_long_one_is_cut() -> None:
    """A path is a text like any other."""
    sent = _sent({"short": PurePosixPath("a/b"), "long": PurePosixPath("a/" * 100_000)})
    assert sent["short"] == "a/b"
    assert sent["long"].endswith("characters in all)")


def test_a_long_key_is_cut() -> None:
    """Two long keys with the same beginning remain distinct."""
    sent = _sent({"k" * 1_000_000: 1, "k" * 1_000_001: 2})
    first, second = [key for key in sent if key.startswith("k")]
    assert first.endswith("… (cut: 1000000 characters in all)")
    assert first != second


def test_a_key_that_is_a_container_is_named() -> None:
    """The items of a container used as a key are not read."""

    class Broken(tuple[int, ...]):
        __slots__ = ()

        def __iter__(self) -> Any:
            raise AssertionError

    assert to_json({Broken((1, 2)): 1, (3, 4): 2}) == {"<Broken>": 1, "<tuple>": 2}


def test_large_sets_are_sorted_and_count_omitted_items() -> None:
    """The order also holds for sets of large tuples."""
    numbers = to_json({f"{number:05}" for number in range(12_000)})
    assert isinstance(numbers, list)
    assert numbers[-1] == "… 2000 more"
    assert numbers[:-1] == sorted(map(str, numbers[:-1]))
    tuples = to_json({(letter, letter * 200_000) for letter in "cab"}, room=1_000)
    assert isinstance(tuples, list)
    assert [item[0] for item in tuples if isinstance(item, list)] == ["a", "b", "c"]


@pytest.mark.parametrize("lead", ["", " \n"])
def test_a_long_message_is_cut_at_the_same_place_as_before(lead: str) -> None:
    """The note gives the full length."""
    text = lead + "m" * 1_000_000
    message = build_envelope(ErrorCode.NOT_FOUND, text, retry=ErrorCode.NOT_FOUND.retry, tool="t").message
    assert len(message) == DEFAULT_LIMITS.message
    assert message.endswith(f"… (cut: {len(text)} characters in all)")


def test_a_failure_keeps_the_length_of_its_whole_message() -> None:
    """A failure remembers the length of its whole message, even after pickling."""
    failure = pickle.loads(pickle.dumps(not_found("m" * 1_000_000)))
    assert isinstance(failure.message, Cut)
    assert failure.message.whole == 1_000_000
    assert len(failure.message) == 100_000


def test_a_long_blank_message_becomes_the_sentence_of_the_code() -> None:
    """A million spaces are replaced by the default sentence."""
    assert not_found(" " * 1_000_000).message == ErrorCode.NOT_FOUND.sentence


def test_the_text_of_an_exception_with_long_arguments_is_bounded() -> None:
    """By itself, Python would build the repr of every argument."""
    text = safe_str(ValueError("wrong", {"rows": [("r" * 300_000, {1, 2})]}), limit=10_000)
    assert text.startswith('["wrong",{"rows":[["rrr')
    assert len(text) <= 10_000
    assert safe_str(KeyError("k" * 300_000), limit=1_000).startswith('"kkk')
    assert safe_str(KeyError("k")) == "'k'"
    assert safe_str(ValueError("wrong", {"row": (1, b"2")})) == "('wrong', {'row': (1, b'2')})"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50) | st.binary(max_size=50),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20) | st.integers(), inner) | st.tuples(inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(_VALUES)
def test_small_values_are_converted_as_without_a_bound(value: object) -> None:
    """A bound that is large enough changes nothing."""
    unbounded = to_json(value)
    assert to_json(value, room=32 * 1024) == unbounded
    assert fit(to_json(value, room=4096), 4096) == fit(unbounded, 4096)


@settings(deadline=None)
@given(st.text(), st.integers(40, 200))
def test_a_short_text_is_escaped_and_then_cut(text: str, limit: int) -> None:
    """The order of escaping and cutting stays the same for short texts."""
    from mcpcore.values.escaping import clean_text

    assert clean_cut(text, limit) == cut_text(clean_text(text).strip(), limit)


@settings(deadline=None)
@given(_VALUES, st.integers(1, 200))
def test_a_value_converted_within_a_bound_fits_it(value: object, times: int) -> None:
    """A list that contains the same list many times fits, too."""
    assert size(fit(to_json([value, "long " * 1_000] * times, room=2_000), 2_000)) <= 2_000


@pytest.mark.usefixtures("door")
def test_arguments_with_very_many_errors_are_counted(call: Callable[..., Any]) -> None:
    """Listing all errors would take more memory than the arguments."""

    @tool
    def add(numbers: list[int]) -> int:
        return sum(numbers)

    error = call(Server("s", tools=[add]), "add", {"numbers": ["x"] * 10_001}).structured_content["error"]
    assert error["message"] == "10001 invalid arguments for add"
    assert error["data"]["issues"] == [{"path": "", "type": "more", "message": "10001 errors"}]
    assert error["data"]["reason"] == "invalid_arguments"


def test_a_reason_that_no_contract_can_declare_is_cut() -> None:
    """A short reason that no contract can declare is kept as text."""
    assert CodedError(ErrorCode.NOT_FOUND, reason="r" * 5_000).reason == "r" * 1_000
    assert type(CodedError(ErrorCode.NOT_FOUND, data={"reason": "gone"}).reason) is str


@pytest.mark.server_only("the texts are kept in the same place for both")
def test_nothing_of_a_caller_or_an_upstream_stays_in_memory(call: Any) -> None:
    """What is kept for the next failure is short, whoever chose the names."""

    @tool
    def find(name: str) -> str:
        """Find."""
        return name

    server = Server("s", tools=[find])

    def failures(count: int) -> None:
        for number in range(count):
            huge = f"{number}" + "x" * 200_000
            call(server, "find", {"name": "a", huge: 1})
            data = {"reason": huge, "recovery": {"hint": "Try it.", "fallbackTool": huge}}
            error = {"code": -32001, "name": "NOT_FOUND", "message": "m", "data": data}
            read = envelope_of({"isError": True, "structuredContent": {"error": error}, "content": []})
            read.text()

    failures(2)
    gc.collect()
    tracemalloc.start()
    try:
        failures(20)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
