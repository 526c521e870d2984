"""A handler's docstring is cleaned as `inspect.getdoc` cleans it."""

from __future__ import annotations

import inspect

from hypothesis import example, given, strategies as st
from mcpcore_lint.model import _trimmed


@given(st.text(alphabet=" \tab\n", max_size=60))
@example("")
@example("One line.\n\n    Args:\n        x: A thing.\n    ")
@example("\n\ttabs\n\t\tand more\n")
def test_docstrings_are_dedented_as_by_inspect(text):
    """This holds for any indentation and for empty lines before and after the text."""
    assert inspect.cleandoc(text) == _trimmed(text)
