"""The patch of `--diff`: it leads from the one text to the other, and takes no longer where lines repeat."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st
from mcpcore_lint.runner.patch import unified

LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "\n", "try:\n", "c\r\n", "d\r", "one\n", "two\n", "three\n"]), max_size=30
)
TEXTS = st.tuples(LINES, st.sampled_from(["", "end", "other"])).map(lambda each: "".join(each[0]) + each[1])


def lines_of(text):
    """The lines of a text with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def applied(patch, text):
    """What a patch makes of a text; each line that it names has to be where it says."""
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
def test_it_leads_from_one_text_to_the_other(before, after):
    """Whatever the texts, their line ends and whether the last line has one."""
    patch = unified(before, after, "a/x.py", "b/x.py")
    assert bool(patch) == (before != after)
    assert after == (applied(patch, before) if patch else before)


def test_hunks_show_three_lines_round_a_change():
    """As every reader of patches expects."""
    before = "".join(f"{number}\n" for number in range(20))
    expected = "--- a/x\n+++ b/x\n@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    assert expected == unified(before, before.replace("\n5\n", "\nfive\n"), "a/x", "b/x")


def test_lines_that_repeat():
    """A text of 40,000 lines with 4,000 changes, most of whose lines stand in it thousands of times."""
    before = "".join(
        f"def t{each}():\n    try:\n        go()\n    except OSError:\n        raise\n" for each in range(8000)
    )
    start = time.perf_counter()
    patch = unified(before, before.replace("        raise\n", "        raise x\n", 4000), "a/x", "b/x")
    assert 4000 == patch.count("\n+        raise x\n")
    assert time.perf_counter() - start < 10
