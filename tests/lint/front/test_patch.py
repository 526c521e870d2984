"""The patch of `--diff` turns one text into the other, whatever their line ends."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st
from mcpcore_lint.runner.patch import unified

LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "\n", "try:\n", "c\r\n", "d\r", "one\n", "two\n", "three\n"]), max_size=30
)
TEXTS = st.tuples(LINES, st.sampled_from(["", "end", "other"])).map(lambda parts: "".join(parts[0]) + parts[1])


def lines_of(text):
    """The lines of a text with their line ends."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def applied(patch, text):
    """Apply a patch to a text; each line that it names must be at the given place."""
    old, new, place = lines_of(text), [], 0
    for line in lines_of(patch.replace("\n\\ No newline at end of file\n", "\0\n"))[2:]:
        if line.startswith("@@"):
            start, count = re.match(r"@@ -(\d+)(?:,(\d+))? ", line).groups()
            start = int(start) - (count != "0")
            new += old[place:start]
            place = start
            continue
        body = line[1:].replace("\0\n", "")
        if line[0] in " -":
            assert body == old[place]
            place += 1
        if line[0] in " +":
            new.append(body)
    return "".join(new + old[place:])


@given(TEXTS, TEXTS)
def test_a_patch_turns_one_text_into_the_other(before, after):
    """This holds for any line ends, and for a last line without one."""
    patch = unified(before, after, "a/x.py", "b/x.py")
    assert bool(patch) == (before != after)
    assert after == (applied(patch, before) if patch else before)


def test_hunks_show_three_lines_around_a_change():
    """This is the usual context of a unified diff."""
    before = "".join(f"{number}\n" for number in range(20))
    expected = "--- a/x\n+++ b/x\n@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    assert expected == unified(before, before.replace("\n5\n", "\nfive\n"), "a/x", "b/x")


def test_lines_that_both_texts_have_equally_often_stay():
    """A change in each of many equal blocks is a hunk for each line that changes, however many there are."""
    before = "".join(
        f"def t{number}():\n    try:\n        go()\n    except OSError:\n        raise\n" for number in range(500)
    )
    patch = unified(before, before.replace("        raise\n", "        raise x\n"), "a/x", "b/x")
    assert ["-        raise", "+        raise x"] * 500 == [line for line in patch.splitlines()[2:] if line[0] in "+-"]
