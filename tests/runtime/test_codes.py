"""A code prints as its name and serializes as its number."""

from __future__ import annotations

import json
import logging
import pickle
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from mcpcore import CustomCode, ErrorCode, Retry
from mcpcore.contract import codes


@pytest.fixture(params=[*ErrorCode, "QUOTA_SPENT"], ids=str)
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ErrorCode | CustomCode:
    """Return each framework code and one application code, whatever else of that name another test has registered."""
    if isinstance(request.param, ErrorCode):
        return request.param
    monkeypatch.setattr(codes, "_CUSTOM_BY_NAME", {})
    monkeypatch.setattr(codes, "_CUSTOM_BY_NUMBER", {})
    return CustomCode(
        request.param, 1402, http_status=402, category="client", retry=Retry.never(), sentence="The quota is spent."
    )


def test_text_shows_the_name(code: ErrorCode | CustomCode, caplog: pytest.LogCaptureFixture) -> None:
    """F-strings, widths, `str`, `%s` and logs show the name."""
    name = code.name
    assert (name, name, name, f"{name:>24}") == (f"{code}", str(code), f"{code!s}", f"{code:>24}")
    assert (f"{name:*^30s}", f"{name:.3}", name, name) == (
        f"{code:*^30s}",
        f"{code:.3}",
        "{}".format(code),  # noqa: UP032 - one of the ways to format
        "%s" % code,  # noqa: UP031 - another
    )
    with caplog.at_level("INFO", "codes"):
        logging.getLogger("codes").info("%s is %d", code, code)
    assert f"{name} is {int(code)}" == caplog.messages[-1]


def test_the_number_is_available_on_request(code: ErrorCode | CustomCode) -> None:
    """`int`, `%d` and numeric format specifications give the number."""
    number = code.value
    assert type(int(code)) is int
    assert (number, str(number), f"{number}", f"{number:+,d}", f"{number:x}", f"{number:012.1f}") == (
        int(code),
        "%d" % code,  # noqa: UP031 - one of the ways to format
        f"{code:d}",
        f"{code:+,d}",
        f"{code:x}",
        f"{code:012.1f}",
    )


def test_json_has_the_number(code: ErrorCode | CustomCode) -> None:
    """Values and keys are numbers in compact and indented JSON from both json and pydantic."""

    class Answer(BaseModel):
        code: int
        anything: Any

    number = code.value
    for indent in (None, 2):
        assert {str(number): [number]} == json.loads(json.dumps({code: [code]}, indent=indent))
    assert {"code": number, "anything": number} == json.loads(Answer(code=code, anything=code).model_dump_json())
    assert {"code": number, "anything": number} == Answer(code=code, anything=code).model_dump(mode="json")
    assert str(number).encode() == TypeAdapter(Any).dump_json(code)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_code_is_the_same_code(code: ErrorCode | CustomCode, protocol: int) -> None:
    """This holds for every pickle protocol."""
    assert code is pickle.loads(pickle.dumps(code, protocol))
