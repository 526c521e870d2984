"""One way out: whatever prints goes through the modules that escape."""

from __future__ import annotations

import ast
import io
import json
import logging
import sys
from pathlib import Path

import mcpcore_lint
import pytest
from hypothesis import given, strategies as st

import mcpcore.cli
from mcpcore.cli import output
from mcpcore.values.escaping import terminal_line, terminal_text
from tests.terminal.conftest import HOSTILE, OBEYED

PRINTS = {"echo", "secho", "echo_via_pager", "confirm", "prompt", "print", "print_exc", "print_exception", "pprint"}
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
EDGES = {
    "mcpcore/cli/check.py": "the progress bar, whose names are escaped",
    "mcpcore/cli/output.py": "all that the commands print",
    "mcpcore_lint/output.py": "all that the linter prints",
    "mcpcore_lint/runner/memo.py": "what was printed, again",
}
"""The modules that may print by themselves, and what."""


def modules():
    """The modules of the commands and of the linter, each with its name."""
    for package in (Path(mcpcore.cli.__file__).parent, Path(mcpcore_lint.__file__).parent):
        above = package.parent.parent if package.name == "cli" else package.parent
        for path in sorted(package.rglob("*.py")):
            yield path.relative_to(above).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def prints(node):
    """Whether a node calls `print`, `click.echo` and the like, or the `write` of a standard stream."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = getattr(function, "attr", None) or getattr(function, "id", None)
    if name not in {"write", "writelines"} or not isinstance(function, ast.Attribute):
        return name in PRINTS
    holder = function.value
    if isinstance(holder, ast.Attribute) and holder.attr == "buffer":
        holder = holder.value
    return getattr(holder, "attr", None) in STREAMS


def test_nothing_else_prints():
    """No other module of the commands or of the linter prints by itself."""
    printing = {name: [node.lineno for node in ast.walk(tree) if prints(node)] for name, tree in modules()}
    assert {name for name, lines in printing.items() if lines} == set(EDGES)


TEXTS = st.text(st.characters() | st.sampled_from(HOSTILE))
VALUES = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@given(VALUES)
def test_json_keeps_its_values(value):
    """A JSON document whose text is escaped has the same values, and nothing that a terminal obeys."""
    text = output.dumps(value)
    assert json.loads(text) == value
    assert not OBEYED.findall(text.replace("\U0001f3f4", ""))


def test_json_keeps_half_of_a_surrogate_pair():
    """Such a half, which is how Python holds an odd byte of a file's name, is written as JSON writes it."""
    assert json.loads(output.dumps(["a\udcff", "\ud800"])) == ["a\udcff", "\ud800"]
    assert terminal_line("a\udcff.py") == "a\\udcff.py"


@given(TEXTS)
def test_joiners_and_flags_stay(text):
    """Characters that scripts and emoji need are left as they are."""
    kept = "\U0001f468\u200d\U0001f469 \u0915\u094d\u200c \u2764\ufe0f \U0001f3f4\U000e0067\U000e0062\U000e007f"
    kept = kept.replace("\U000e0062\U000e007f", "\U000e0062\U000e0065\U000e007f")
    assert terminal_text(f"{kept} {text}").startswith(kept)


def test_a_stream_that_escapes():
    """Text that other code prints is escaped; the program's own styles are kept where it prints them itself."""
    stream = output.EscapingStream(io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline=""))
    assert (stream.isatty(), stream.writable(), stream.encoding, stream.errors) == (False, True, "utf-8", "strict")
    assert stream.write(HOSTILE) == len(HOSTILE)
    stream.writelines(["a\x1b", "b\n"])
    stream.reconfigure(errors="backslashreplace")
    stream.flush()
    assert stream.errors == "backslashreplace"
    assert stream.buffer.getvalue().decode() == terminal_text(HOSTILE) + "a\\u001bb\n"
    with pytest.raises(io.UnsupportedOperation):
        stream.fileno()
    assert stream.line_buffering is False
    with stream:  # as with any stream of Python, which code of a server may ask for
        assert isinstance(stream, io.TextIOBase)
    assert stream.original.closed is False


def test_the_streams_of_a_process(monkeypatch):
    """They are replaced once; a stream that is closed stays closed, and an exception is shown escaped."""
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", None)
    output.escape_streams()
    assert isinstance(sys.stdout, output.EscapingStream)
    monkeypatch.setattr(sys, "stdout", None)
    below = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    monkeypatch.setattr(sys, "stderr", below)
    output.escape_streams()
    replaced = sys.stderr
    output.escape_streams()
    assert sys.stderr is replaced
    assert sys.stdout is None
    sys.excepthook(ValueError, ValueError("\x1b[2J"), None)
    output.line(output.styled("bold\x1b", bold=True), err=True)
    assert below.buffer.getvalue().decode() == "ValueError: \\u001b[2J\nbold\\u001b\n"
    monkeypatch.setattr(sys, "stderr", None)
    sys.excepthook(ValueError, ValueError("unread"), None)


def test_the_standard_error_of_another_process(capsys):
    """Characters that arrive in pieces are joined before they are escaped, and the last words are printed too."""
    with output.relayed_stderr() as file:
        file.buffer.write("caf\u00e9 \x1b[2J".encode()[:4])
        file.flush()
        file.buffer.write("caf\u00e9 \x1b[2J".encode()[4:] + b"\xff\xc3")
    assert capsys.readouterr().err == "caf\u00e9 \\u001b[2J\ufffd\ufffd"


def test_the_log_of_this_package():
    """The message of a record is one line, and its traceback is indented."""
    from mcpcore.values.logs import _Formatter

    record = logging.LogRecord("mcpcore", logging.ERROR, __file__, 1, "%s", (HOSTILE,), None)
    record.exc_text = f"Traceback:\n{HOSTILE}"
    lines = _Formatter("%(message)s").format(record).split("\n")
    assert lines[0] == terminal_line(HOSTILE)
    assert all(line.startswith("  ") for line in lines[1:])
    assert not OBEYED.findall("".join(lines))
