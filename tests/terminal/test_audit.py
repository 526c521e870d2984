"""`mcpcore audit` on a hostile trail, with hostile names and options."""

from __future__ import annotations

import json
import os

import pytest

from tests.terminal.conftest import HOSTILE, NAME, OBEYED, assert_clean

COMMANDS = (
    ("verify",), ("verify", "--json"), ("verify", "--print-head"), ("show",), ("show", "--json"), ("tail",),
    ("tail", "--json"), ("stats",), ("stats", "--json"), ("stats", "--html", f"{NAME}.html"),
)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_hostile_trail(bench, trail, words):
    """No record, forged or not, drives the terminal that shows it or adds a line to a listing."""
    output = bench.run("audit", *words, trail)
    assert_clean(output)
    if words == ("show", "--json"):
        assert HOSTILE in {json.loads(line).get("tool") for line in output.stdout.splitlines()}
    elif words == ("stats", "--json"):
        assert HOSTILE in json.dumps(json.loads(output.stdout), ensure_ascii=False) or json.loads(output.stdout)
    elif "--html" in words:
        assert OBEYED.findall((bench.root / f"{NAME}.html").read_text(encoding="utf-8")) == []


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("words", [("verify",), ("show",), ("tail",), ("stats",)], ids=" ".join)
def test_a_hostile_trail_on_a_terminal(bench, trail, words):
    """A terminal gets the program's own colours and no other sequence."""
    assert_clean(bench.on_a_terminal("audit", *words, trail))


@pytest.mark.parametrize(
    "words",
    [
        ("verify", NAME),
        ("verify", "trail", "--head", f"{NAME}.txt"),
        ("verify", "trail", "--head", NAME),
        ("verify", "trail", "--key-file", NAME),
        ("show", NAME),
        ("show", "trail", "--since", NAME),
        ("show", "trail", "--id", NAME),
        ("tail", NAME),
        ("tail", "trail", "-n", NAME),
        ("stats", NAME),
        ("stats", "trail", "--until", NAME),
        ("stats", "trail", "--html", f"{NAME}/x.html"),
        ("stats", "trail", f"--{NAME}"),
        (NAME,),
        (f"--{NAME}",),
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:40],
)
def test_words_of_the_command_line(bench, words):
    """What is quoted from the command line, files that are not there included, is escaped."""
    from mcpcore.audit.trail import AuditTrail

    AuditTrail.open(bench.root / "trail", sinks=()).close()
    output = bench.run("audit", *words)
    assert output.code in {0, 1, 2}
    if output.stdout or output.stderr:
        assert_clean(output)
