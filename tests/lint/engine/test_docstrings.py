"""A handler's docstring is what `inspect` makes of it."""

from __future__ import annotations

import inspect

from hypothesis import example, given
from hypothesis import strategies as st
from mcpcore_lint.model import _trimmed


@given(st.text(alphabet=" \tab\n", max_size=60))
@example("")
@example("One line.\n\n    Args:\n        x: A thing.\n    ")
@example("\n\ttabs\n\t\tand more\n")
def test_the_margin_is_taken_as_inspect_takes_it(text):
    """Whatever the indentation is, with empty lines before and after."""
    assert inspect.cleandoc(text) == _trimmed(text)
