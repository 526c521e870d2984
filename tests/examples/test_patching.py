"""The changes that `patch_file` makes to a text."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import assume, given, strategies as st

from examples.workspace.patching import PatchError, apply_diff, apply_edits

TEXT = "one\ntwo\nthree\nfour\nfive\n"

lines = st.lists(st.text(alphabet="ab-+@ \\\u2028\x0c", max_size=5), max_size=12)


@given(lines, lines, st.integers(0, 3), st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_what_difflib_writes_is_applied_as_it_was_meant(old, new, context, old_open, new_open, end):
    """A diff between any two texts turns the one into the other, whatever their line ends."""
    before, after = _text(old, old_open, "\n"), _text(new, new_open, "\n")
    assume(before != after)
    made = list(difflib.unified_diff(before.split("\n"), after.split("\n"), "a", "b", lineterm="", n=context))
    # The lines of a text that ends with a line end are followed by an empty one, here as in what is compared.
    diff = "\n".join(made) + "\n"
    assume(not any(line.startswith("--- ") for line in made[2:]))
    if context == 3:
        assert _text(new, new_open, end) + end == apply_diff(_text(old, old_open, end) + end, diff)
    else:
        try:
            apply_diff(before + "\n", diff)
        except PatchError as exc:
            assert "ambiguous" == exc.problem  # noqa: PT017


def _text(parts, ends_open, end):
    return end.join(parts) + ("" if ends_open or not parts else end)


def test_a_hunk_goes_to_the_nearest_place_and_counts_are_not_read():
    """Line numbers that are off by some, and counts that are wrong, do not matter."""
    assert "one\n2\nthree\nfour\nfive\n" == apply_diff(TEXT, "@@ -9,99 +9 @@\n one\n-two\n+2\n three\n")
    assert "a\nb\nc\na\nB\nc\n" == apply_diff("a\nb\nc\na\nb\nc\n", "@@ -4,2 +4,2 @@\n a\n-b\n+B\n")


@pytest.mark.parametrize(
    ("before", "diff", "after"),
    [
        ("a\n", "@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n", "x"),
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+x\n", "x\n"),
        ("a\n", "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+b\n", "a\nb\n"),
        ("a\n", "@@ -1 +0,0 @@\n-a\n", ""),
        ("", "@@ -0,0 +1 @@\n+a\n", "a\n"),
    ],
)
def test_the_end_of_the_file_is_as_the_diff_says(before, diff, after):
    """`\\ No newline at end of file` is followed both ways."""
    assert after == apply_diff(before, diff)


@pytest.mark.parametrize(
    ("diff", "problem", "line", "actual"),
    [
        ("", "malformed", None, None),
        ("just words", "malformed", None, None),
        ("@@ -1 +1 @@\n-one\nnonsense\n", "malformed", None, "nonsense"),
        ("--- a\n+++ a\n@@ -1 +1 @@\n-one\n+1\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "malformed", None, None),
        ("@@ -2,2 +2 @@\n two\n-drei\n+3\n", "not_found", 3, "three"),
        ("@@ -99 +99 @@\n-nothing\n+x\n", "not_found", 6, None),
        ("@@ -1 +1 @@\n-one\n+1\n@@ -1 +1 @@\n-one\n+1\n", "not_found", 2, "two"),
    ],
)
def test_a_diff_that_does_not_apply_says_where(diff, problem, line, actual):
    """The failure names the first line of the hunk that does not match, and the line that is there."""
    with pytest.raises(PatchError) as caught:
        apply_diff(TEXT, diff)
    assert (problem, line, actual) == (caught.value.problem, caught.value.line, caught.value.found)


def test_edits_are_exact_and_in_order():
    """Each edit sees what the one before it made."""
    assert "2\ntwo\n" == apply_edits("one\ntwo\n", [("one", "1", False), ("1", "2", False)])
    assert "b b" == apply_edits("a a", [("a", "b", True)])


@pytest.mark.parametrize(
    ("old", "problem", "line", "actual"),
    [
        ("", "malformed", None, None),
        ("e", "ambiguous", 1, None),
        ("six", "not_found", None, None),
        ("  two", "not_found", 2, "two"),
    ],
)
def test_an_edit_that_does_not_apply_says_what_is_near(old, problem, line, actual):
    """A text that differs in spaces only is pointed out."""
    with pytest.raises(PatchError) as caught:
        apply_edits(TEXT, [("three", "3", False), (old, "x", False)])
    assert (problem, 2, line, actual) == (
        caught.value.problem,
        caught.value.index,
        caught.value.line,
        caught.value.found,
    )


@given(st.text(), st.text())
def test_any_diff_is_applied_or_refused(text, diff):
    """Nothing but PatchError comes out, whatever is sent."""
    try:
        assert isinstance(apply_diff(text, "@@ -1 +1 @@\n" + diff), str)
    except PatchError as exc:
        assert exc.problem in ("malformed", "not_found", "ambiguous")  # noqa: PT017
