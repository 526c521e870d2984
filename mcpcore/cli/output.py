"""Prints text so that foreign content cannot control, reorder or forge the output on a terminal.

Every command prints with `line` and `text`, which escape the text and add styles afterwards. `escape_streams` replaces
the standard streams, so that text of other code, such as tracebacks, log records and warnings, is escaped too. Output
to a file or a pipe is escaped as well, since it is shown on a terminal in the end.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

import click

from mcpcore.values.escaping import terminal_line, terminal_text

_DRAIN_SECONDS: Final = 1.0
"""How long to wait for the last output of a process, whose children may keep its standard error open."""


class Styled(NamedTuple):
    """A part of a line with its style."""

    text: str
    style: Mapping[str, Any]


def styled(text: str, **style: Any) -> Styled:
    """`text` with the style that `click.style` takes: `fg`, `bold`, `dim`."""
    return Styled(text, style)


def line(*parts: str | Styled, err: bool = False) -> None:
    """Print the parts as one line; line feeds and tabs within a part are escaped too."""
    _print("".join(map(_rendered, parts)), err=err)


def text(content: str, *, err: bool = False) -> None:
    """Print text of several lines."""
    _print(terminal_text(content), err=err)


def dumps(value: Any) -> str:
    """`value` as indented JSON without control characters, but with the same values."""
    return terminal_text(json.dumps(value, indent=2, ensure_ascii=False))


def _rendered(part: str | Styled) -> str:
    return terminal_line(part) if isinstance(part, str) else click.style(terminal_line(part.text), **part.style)


def _print(content: str, *, err: bool) -> None:
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, EscapingStream):
        stream.flush()
        click.echo(content, file=stream.original)
    else:
        click.echo(content, err=err)


class WrappedStream(io.TextIOBase):
    """A standard stream whose text is changed on the way; everything else is that of the original stream."""

    def __init__(self, original: TextIO) -> None:
        """Write to `original`."""
        self.original = original

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the original stream: its unescaped bytes, its name."""
        return getattr(self.original, name)

    if not TYPE_CHECKING:
        # The base class has these, too, so they do not reach `__getattr__`.
        encoding, errors, flush, fileno, isatty, writable = (
            property(attrgetter(f"original.{name}"))
            for name in ("encoding", "errors", "flush", "fileno", "isatty", "writable")
        )


class EscapingStream(WrappedStream):
    """A standard stream that escapes all text; `line` and `text` use the original directly to keep their styles.

    It is never a terminal, so that libraries do not colour their output: the colours would be escaped.
    """

    def write(self, content: str, /) -> int:
        """Write `content`, escaped; returns the number of its characters."""
        self.original.write(terminal_text(content))
        return len(content)

    def isatty(self) -> bool:
        """False: escape sequences have no effect here."""
        return False


def escape_streams() -> None:
    """Escape all text that this process writes to its standard streams from now on, including tracebacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or isinstance(stream, EscapingStream):
            continue
        if isinstance(stream, io.TextIOWrapper):
            # A tool's text can hold what the terminal's encoding cannot.
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, EscapingStream(stream))
    # The hook of the interpreter checks the descriptor, not the stream, to decide whether to colour a traceback.
    sys.excepthook = _show_exception


def is_of_output(exc: OSError) -> bool:
    """Whether an error comes from the output: a full disk, a missing device."""
    import traceback

    *_, (frame, _) = traceback.walk_tb(exc.__traceback__)
    return frame.f_globals.get("__name__") in {click.echo.__module__, __name__}


def _show_exception(kind: type[BaseException], exc: BaseException, trace: Any) -> None:
    import traceback

    if sys.stderr is not None:
        sys.stderr.write("".join(traceback.format_exception(kind, exc, trace)))
        sys.stderr.flush()


@contextmanager
def relayed_stderr() -> Iterator[TextIO]:
    """A file for the standard error of another process; its text is printed immediately."""
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
    """Mixin for a click command: escapes quotations of the command line in its errors."""

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
    except click.exceptions.NoArgsIsHelpError:
        raise  # its message is the help
    except click.ClickException as exc:
        # click declares the attribute final, but reads it only when it prints the error.
        vars(exc)["message"] = terminal_line(exc.message)
        raise
