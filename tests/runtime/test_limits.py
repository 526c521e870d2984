"""`Limits` is a value: validated, frozen, comparable, and equal after a copy."""

import copy
import pickle
from typing import Annotated

import pytest
from pydantic import AfterValidator

from mcpcore import Limits, Server, not_found, tool


def refuse(text):
    raise ValueError(f"not {text[:6]}")


def test_limits_are_equal_if_all_bounds_are():
    """Equal limits are the same dictionary key, and other types are never equal."""
    assert Limits(message=100) == Limits(message=100)
    assert Limits(message=100) != Limits()
    assert Limits() != (1_000, 500, 32 * 1024, 20, 2 * 1024)
    assert {Limits(): 1, Limits(depth=20): 2} == {Limits(): 2}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_has_the_same_bounds(again):
    """Limits can be passed to other processes."""
    assert again(Limits(hint=99)) == Limits(hint=99)


def test_repr_shows_the_constructor_call():
    """The repr is valid source."""
    assert (
        repr(Limits(depth=3))
        == "Limits(message=1000, hint=500, data=32768, depth=3, details=2048, redact_secrets=True)"
    )


def test_bounds_cannot_be_changed():
    """The bounds of a server never change while it runs."""
    limits = Limits()
    with pytest.raises(AttributeError, match="cannot assign to field 'hint'"):
        limits.hint = 3
    with pytest.raises(AttributeError, match="cannot delete field 'hint'"):
        del limits.hint


@pytest.mark.parametrize("value", [True, 39, -1, 40.0, "40", None])
def test_a_bound_that_is_too_small_is_refused(value):
    """The message names the bound and its minimum."""
    with pytest.raises(ValueError, match=r"Limits\(hint=\.\.\.\) must be an int of at least 40, not"):
        Limits(hint=value)


@pytest.mark.usefixtures("door")
def test_a_hint_that_is_blank_up_to_the_bound_is_left_out(call):
    """The recovery is left out, too, because it would be empty."""

    @tool
    def look() -> None:
        raise not_found("It left.", recovery=" " * 300_000 + "Wait.")

    result = call(Server("s", tools=[look]), "look")
    assert result.structured_content["error"]["data"] == {"retryable": False}
    assert "Recovery" not in result.content[0].text


@pytest.mark.usefixtures("door")
def test_a_text_too_long_to_be_searched_is_not_quoted_by_a_validator(call):
    """The validator's message is left out, since it may quote the text."""

    @tool
    def look(text: Annotated[str, AfterValidator(refuse)]) -> None:
        """Do nothing; this is never called."""

    result = call(Server("s", tools=[look]), "look", {"text": "secret" * 20_000})
    assert "words are left out" in result.content[0].text
    assert "secret" not in result.content[0].text
