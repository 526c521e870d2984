"""Where `mcpcore audit` reads: the files of a trail, or a store. Both answer the same questions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Protocol

import click

from mcpcore.audit.chain import KEY_VARIABLE
from mcpcore.cli import output
from mcpcore.cli.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpcore.audit.reading import Query, Record
    from mcpcore.audit.stats import Stats
    from mcpcore.fleet.store import Store

KEY_HELP: Final = f"A file with the key; without it, {KEY_VARIABLE}."


class Guarded(click.Command):
    """A command that reports errors of the file system and of the trail in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, as click does."""
        from mcpcore.audit.errors import AuditError

        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except AuditError as exc:
            raise Problem(str(exc)) from exc
        except OSError as exc:
            raise Problem(f"{exc.filename or 'the trail'}: {exc.strerror or exc}") from exc


class Source(Protocol):
    """Records that can be read, followed and counted."""

    @property
    def name(self) -> str:
        """A short name for titles."""
        ...

    def read(self, query: Query) -> Iterator[Record]:
        """Every record that matches, oldest first."""
        ...

    def last(self, query: Query, count: int) -> list[Record]:
        """The last records that match, oldest first."""
        ...

    def follow(self, query: Query, count: int) -> Iterator[Record]:
        """The last records that match, then new ones."""
        ...

    def count(self, query: Query) -> Stats:
        """The counts of the records that match."""
        ...


class FileSource:
    """The files of a trail."""

    def __init__(self, path: Path) -> None:
        """Read the trail at `path`."""
        self._path = path
        self.name = path.name

    def read(self, query: Query) -> Iterator[Record]:
        """Every record that matches, oldest first."""
        from mcpcore.audit.reading import read

        return read(self._path, query)

    def last(self, query: Query, count: int) -> list[Record]:
        """The last records that match, oldest first."""
        from mcpcore.audit.reading import last

        return last(self._path, query, count)

    def follow(self, query: Query, count: int) -> Iterator[Record]:
        """The last records that match, then new ones."""
        from mcpcore.audit.reading import follow

        return follow(self._path, query, count=count)

    def count(self, query: Query) -> Stats:
        """The counts of the records that match."""
        from mcpcore.audit.stats import collect

        return collect(self.read(query))


class StoreSource:
    """A store."""

    def __init__(self, text: str) -> None:
        """Read the store that `text` names."""
        from mcpcore.fleet.address import parse

        self._address = parse(text)
        self.name = self._address.name

    def open(self, *, create: bool = False) -> Store:
        """Open the store, and say so if another process keeps it busy."""
        from mcpcore.fleet.store import open_store

        return open_store(self._address, create=create, waiting=_waiting)

    def read(self, query: Query) -> Iterator[Record]:
        """Every record that matches, oldest first."""
        from mcpcore.fleet.queries import read

        with self.open() as store:
            yield from read(store, query)

    def last(self, query: Query, count: int) -> list[Record]:
        """The last records that match, oldest first."""
        from mcpcore.fleet.queries import last

        with self.open() as store:
            return last(store, query, count)

    def follow(self, query: Query, count: int) -> Iterator[Record]:
        """The last records that match, then those that are loaded."""
        from mcpcore.fleet.queries import follow

        return follow(self.open, query, count=count)

    def count(self, query: Query) -> Stats:
        """The counts of the records that match."""
        from mcpcore.fleet.queries import count

        with self.open() as store:
            return count(store, query)


def _waiting(folder: Path) -> None:
    output.line(f"Waiting for another process that uses the store {folder}.", err=True)


def read_key(key_file: Path | None) -> bytes | None:
    """The key in a file, or in the environment."""
    if key_file is not None:
        # The newline at the end of a text file is not part of the key.
        return key_file.read_bytes().rstrip(b"\r\n") or None
    return os.environ.get(KEY_VARIABLE, "").rstrip("\r\n").encode("utf-8", "surrogateescape") or None
