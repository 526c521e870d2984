"""The bounds of an envelope are a value: checked, frozen, comparable, and the same after a copy."""

from __future__ import annotations

import copy
import pickle

import pytest

from mcpcore import Limits


def test_bounds_are_equal_where_each_is():
    """Equal bounds are one key; other things are not bounds."""
    assert Limits(message=100) == Limits(message=100)
    assert Limits(message=100) != Limits()
    assert Limits() != (1_000, 500, 32 * 1024, 20, 2 * 1024)
    assert {Limits(): 1, Limits(depth=20): 2} == {Limits(): 2}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_has_the_same_bounds(again):
    """Bounds are handed to other processes as they are."""
    assert again(Limits(hint=99)) == Limits(hint=99)


def test_bounds_show_themselves_as_they_are_made():
    """What is shown is what would be written."""
    assert repr(Limits(depth=3)) == "Limits(message=1000, hint=500, data=32768, depth=3, details=2048)"


def test_bounds_cannot_be_changed():
    """A server can go by them for as long as it runs."""
    limits = Limits()
    with pytest.raises(AttributeError, match="cannot assign to field 'hint'"):
        limits.hint = 3
    with pytest.raises(AttributeError, match="cannot delete field 'hint'"):
        del limits.hint


@pytest.mark.parametrize("value", [True, 39, -1, 40.0, "40", None])
def test_a_bound_that_leaves_no_room_is_refused(value):
    """The message names the bound, and the least that it can be."""
    with pytest.raises(ValueError, match=r"Limits\(hint=\.\.\.\) must be an int of at least 40, not"):
        Limits(hint=value)
