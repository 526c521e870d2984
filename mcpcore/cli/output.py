"""How the commands print: nothing that came from outside can drive, reorder or forge what a terminal shows.

Every command prints through `line` and `text`, which escape what they are given and add the program's own styles
afterwards. Text that other code writes to the standard streams, such as tracebacks, log records and warnings, is
escaped by the streams themselves, once `escape_streams` has replaced them. All of this also applies where the output
is not a terminal, since a log file and a pipe are shown on a terminal in the end.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

import click

from mcpcore.escaping import terminal_line, terminal_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DRAIN_SECONDS: Final = 1.0
"""How long to wait for the last words of a process, whose own children may keep its standard error open."""


class Styled(NamedTuple):
    """A part of a line, and how it looks on a terminal."""

    text: str
    style: Mapping[str, Any]


def styled(text: str, **style: Any) -> Styled:
    """`text` with the style that `click.style` takes: `fg`, `bold`, `dim`."""
    return Styled(text, style)


def line(*parts: str | Styled, err: bool = False) -> None:
    """Print one line, the parts one after the other; line feeds and tabs within a part are escaped too."""
    _print("".join(map(_rendered, parts)), err=err)


def text(content: str, *, err: bool = False) -> None:
    """Print text of several lines."""
    _print(terminal_text(content), err=err)


def dumps(value: Any) -> str:
    """`value` as indented JSON that holds no character that a terminal obeys, and the same values."""
    return terminal_text(json.dumps(value, indent=2, ensure_ascii=False))


def _rendered(part: str | Styled) -> str:
    if isinstance(part, str):
        return terminal_line(part)
    return click.style(terminal_line(part.text), **part.style)


def _print(content: str, *, err: bool) -> None:
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, EscapingStream):
        stream.flush()
        click.echo(content, file=stream.original)
    else:
        click.echo(content, err=err)


class EscapingStream(io.TextIOBase):
    """A standard stream that escapes all text that is written to it.

    It says that it is not a terminal, since libraries that colour their output would see their colours escaped.
    """

    def __init__(self, original: TextIO) -> None:
        """Write to `original`, which `line` and `text` use directly to keep the program's own styles."""
        self.original = original

    def __getattr__(self, name: str) -> Any:
        """Everything else is that of the stream below: its bytes, which stay as they are, its name, its descriptor."""
        return getattr(self.original, name)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream below."""
        return self.original.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """How the stream below encodes what its encoding lacks."""
        return self.original.errors

    def write(self, content: str, /) -> int:
        """Write `content`, escaped; the number of its characters."""
        self.original.write(terminal_text(content))
        return len(content)

    def flush(self) -> None:
        """Flush the stream below."""
        self.original.flush()

    def fileno(self) -> int:
        """The descriptor of the stream below."""
        return self.original.fileno()

    def isatty(self) -> bool:
        """Whether escape sequences have an effect here: never."""
        return False

    def writable(self) -> bool:
        """Whether text can be written: always."""
        return True


def escape_streams() -> None:
    """Escape what this process writes to its standard streams from now on, tracebacks included."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or isinstance(stream, EscapingStream):
            continue
        if isinstance(stream, io.TextIOWrapper):
            # A tool's text can hold what the terminal's encoding cannot.
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, EscapingStream(stream))
    # The interpreter's own hook asks the descriptor whether it may colour a traceback, not the stream.
    sys.excepthook = _show_exception


def _show_exception(kind: type[BaseException], exc: BaseException, trace: Any) -> None:
    import traceback

    if sys.stderr is not None:
        sys.stderr.write("".join(traceback.format_exception(kind, exc, trace)))
        sys.stderr.flush()


@contextmanager
def relayed_stderr() -> Iterator[TextIO]:
    """A file for the standard error of another process, whose text is printed to this one's as it comes."""
    import codecs

    read, write = os.pipe()

    def relay() -> None:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        while data := os.read(read, 65536):
            _relay(decoder.decode(data))
        _relay(decoder.decode(b"", final=True))
        os.close(read)

    thread = threading.Thread(target=relay, name="mcpcore-stderr", daemon=True)
    thread.start()
    try:
        with os.fdopen(write, "w", encoding="utf-8", errors="replace") as file:
            yield file
    finally:
        thread.join(_DRAIN_SECONDS)


def _relay(content: str) -> None:
    if content:
        sys.stderr.write(terminal_text(content))
        sys.stderr.flush()


class EscapedErrors:
    """For a command of click: what its errors quote from the command line is escaped before click prints it."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the command line, as click does."""
        with _escaped_errors():
            context: click.Context = super().make_context(*args, **kwargs)  # type: ignore[misc]
            return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, as click does."""
        with _escaped_errors():
            return super().invoke(ctx)  # type: ignore[misc]


@contextmanager
def _escaped_errors() -> Iterator[None]:
    try:
        yield
    except click.ClickException as exc:
        # click declares the attribute final, and formats it only when it prints the error.
        vars(exc)["message"] = terminal_line(exc.message)
        raise
