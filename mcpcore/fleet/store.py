"""A store: ClickHouse on a server over HTTP, or embedded in this process, behind the same client and the same queries.

The embedded engine lets one process at a time open its folder. A lock file in the folder makes the processes take
turns: each waits until the one before is done.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote

from mcpcore.audit.files import try_lock, unlock
from mcpcore.fleet.address import Address, StoreError
from mcpcore.values.escaping import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Value = str | int | list[str] | list[int]


VERSION: Final = 1
"""The version of the table; it changes when a column changes its meaning."""

COMMENT: Final = f"mcpcore failures, schema {VERSION}"
COMMENT_PREFIX: Final = "mcpcore failures, schema "

COLUMNS: Final = (
    ("id", "FixedString(32)", "SHA-256 of the line"),
    ("time", "DateTime64(6, 'UTC')", "when it happened, for the key and for people; 1970 if the record has no time"),
    ("at", "Nullable(Int64)", "the same in microseconds since 1970, exact for any year; NULL without a time"),
    ("trail", "LowCardinality(String)", "the chain, named after its first record that was loaded; empty without one"),
    ("seq", "Int64", "the number in the chain; 0 without one"),
    ("kind", "LowCardinality(String)", "failure, lost, refused, event (of the trail itself), damaged (not a record)"),
    ("subject", "String", "the tool, or the resource, the prompt or the completion"),
    ("surfaces", "Array(String)", "the names that --tool matches"),
    ("reason", "LowCardinality(Nullable(String))", "the declared reason"),
    ("name", "LowCardinality(Nullable(String))", "the name of the code"),
    ("code", "LowCardinality(Nullable(String))", "the number of the code"),
    ("ident", "String", "the correlation id that the client received"),
    ("server", "LowCardinality(String)", "the name of the server"),
    ("count", "UInt32", "the failures that the record counts; more than 1 for refused requests"),
    ("missing", "UInt64", "the records that could not be written before this event"),
    ("broken", "Array(LowCardinality(String))", "how the contract was broken"),
    ("broken_count", "UInt32", "how many failures a record of lost failures counts"),
    ("proof", "LowCardinality(String)", "signed, hashed, unchecked (no hash, or not verified), broken"),
    ("resource", "Map(LowCardinality(String), String)", "attributes of the process, such as service.version"),
    ("line", "String", "the record itself"),
)
"""The columns that are loaded, in this order: name, type, and what it holds."""

NAMES: Final = tuple(name for name, _, _ in COLUMNS)

# Of equal records, a merge and FINAL keep the row with the highest version: the one that proves most, then the oldest,
# so that loading a file again does not make its records look new.
_VERSION: Final = (
    "multiIf(proof = 'signed', 3, proof = 'hashed', 2, proof = 'unchecked', 1, 0) * 281474976710656"
    " + 281474976710655 - toUInt64(toUnixTimestamp64Milli(loaded))"
)


def create_table(table: str) -> str:
    """The statement that creates `table`, whose name has been validated."""
    columns = "".join(
        f"    {name} {kind}{' CODEC(ZSTD(3))' if name == 'line' else ''} COMMENT '{text}',\n"
        for name, kind, text in COLUMNS
    )
    return (
        f"CREATE TABLE IF NOT EXISTS {table} (\n{columns}"
        "    loaded DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was added',\n"
        f"    version UInt64 MATERIALIZED {_VERSION} COMMENT 'which of equal records is kept',\n"
        "    INDEX loaded loaded TYPE minmax\n"
        f") ENGINE = ReplacingMergeTree(version)\nORDER BY (time, id)\nCOMMENT '{COMMENT}'"
    )


LOCK: Final = "mcpcore-store.lock"
"""The file that marks a folder as a store, and that a process locks while it uses the store."""

_LONGEST: Final = 500
_PATIENCE: Final = 1.0
_PAUSE: Final = 0.05
_CHUNK: Final = 1 << 20

# Sorting spills to the disk from this size on, instead of failing at a limit of the server.
_SETTINGS: Final = {"max_bytes_before_external_sort": 400_000_000, "max_bytes_before_external_group_by": 400_000_000}

_HINTS: Final = {
    60: "the table was removed meanwhile",
    81: "create the database first",
    164: "the user may only read",
    243: "the disk is full; free some space and load again, which counts no record twice",
    497: "the user lacks the right",
    516: "the user name or the password is wrong",
}
"""What some of ClickHouse's errors mean, by their numbers (src/Common/ErrorCodes.cpp)."""

_UNREACHABLE: Final = "check the host, the port of its HTTP interface and secure=1"


class Store:
    """An open store; close it with `close`, or use it in a `with` block."""

    def __init__(self, address: Address, client: Any, release: Callable[[], None]) -> None:
        """Take over an open client, and what to do after it is closed; `open_store` makes both."""
        self.address = address
        self._client = client
        self._release = release
        self._parameters: dict[str, Value] = {"table": address.table}

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the connection, and let other processes use an embedded store."""
        try:
            with translated(self.address):
                self._client.close()
        finally:
            self._release()

    def rows(self, sql: str, parameters: Mapping[str, Value] | None = None) -> list[list[Any]]:
        """The rows of a query, which names the table `{table:Identifier}` and its parameters `{name:Type}`.

        Raises:
            StoreError: If the store cannot answer.
        """
        with translated(self.address):
            raw: bytes = self._client.raw_query(
                sql, {**self._parameters, **(parameters or {})}, fmt="JSONCompactEachRow"
            )
        return [json.loads(line.decode("utf-8", "surrogatepass")) for line in raw.split(b"\n") if line]

    def stream(self, sql: str, parameters: Mapping[str, Value]) -> Iterator[bytes]:
        """The only column of a query, row by row, in constant memory; the query encodes it as base64.

        Raises:
            StoreError: If the store cannot answer.
        """
        with translated(self.address):
            answer = self._client.raw_stream(sql, {**self._parameters, **parameters}, fmt="TSV")
        with contextlib.closing(answer):
            rest = b""
            while True:
                with translated(self.address):
                    chunk = answer.read(_CHUNK)
                if not chunk:
                    break
                *whole, rest = (rest + chunk).split(b"\n")
                yield from whole
        if rest:  # pragma: no cover - an answer that ends within a row
            raise StoreError(f"the store {self.address} ended its answer in the middle")

    def insert(self, rows: bytes) -> None:
        """Add rows in the format RowBinary, with all columns of `schema.NAMES`.

        Raises:
            StoreError: If they could not be added; adding them again counts none twice.
        """
        with translated(self.address):
            self._client.raw_insert(f"`{self.address.table}`", NAMES, rows, fmt="RowBinary")

    def prepare(self, *, create: bool) -> None:
        """Check the table, and create it if allowed.

        Raises:
            StoreError: If there is no table, or it has another schema.
        """
        # Another process may create the table in between, so the statement says IF NOT EXISTS.
        if create and not self._columns():
            with translated(self.address):
                self._client.command(create_table(f"`{self.address.table}`"))
        columns = self._columns()
        if not columns:
            raise StoreError(
                f"there is no table of failures in the store {self.address}; `mcpcore audit load` creates it"
            )
        ((comment,),) = self.rows(
            "SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = {table:String}"
        ) or [[""]]
        version = str(comment).removeprefix(COMMENT_PREFIX)
        if str(comment).startswith(COMMENT_PREFIX) and version != str(VERSION):
            raise StoreError(
                f"the table of the store {self.address} has schema {clean_text(version)[:20]}, and this release of "
                f"mcpcore knows schema {VERSION}; use the release that made it, or load the trails into another table"
            )
        missing = [name for name in (*NAMES, "loaded") if name not in columns]
        if missing:
            raise StoreError(
                f"the table of the store {self.address} is not one of mcpcore: it has no column {', '.join(missing)}; "
                "give another table"
            )

    def _columns(self) -> set[str]:
        names = self.rows(
            "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}"
        )
        return {str(name) for (name,) in names}


@contextlib.contextmanager
def translated(address: Address) -> Iterator[None]:
    """Raise the errors of the client as `StoreError`, without the password and with an advice."""
    from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError
    from urllib3.exceptions import HTTPError

    try:
        yield
    except (ClickHouseError, HTTPError) as exc:
        code, text = getattr(exc, "code", None), str(exc)
        hint = _HINTS.get(code) if isinstance(code, int) else None
        if code is None and isinstance(exc, OperationalError | HTTPError):
            hint = f"no ClickHouse answers at {address.host}, port {address.port}; {_UNREACHABLE}"
            text = _cause(exc)
        # Not `from exc`: its text may have the password.
        raise StoreError(_explained(address, text, hint)) from None


def _cause(exc: BaseException) -> str:
    """The error of the system that an error of the client's libraries comes from; their texts are about their pools."""
    while not isinstance(exc, OSError) and (cause := exc.__cause__ or exc.__context__) is not None:
        exc = cause
    return getattr(exc, "strerror", None) or str(exc)


def _explained(address: Address, text: str, hint: str | None) -> str:
    for secret in {address.password, quote(address.password), quote(address.password, safe="")} - {""}:
        text = text.replace(secret, "***")
    text = " ".join(clean_text(text).split())
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + " ..."
    return f"the store {address} failed: {f'{hint}: ' if hint else ''}{text}"


def open_store(address: Address, *, create: bool = False, waiting: Callable[[Path], None] = lambda _: None) -> Store:
    """Open a store and check its table.

    Args:
        address: Where it is.
        create: Create the folder and the table if they do not exist.
        waiting: Called once if another process uses the embedded store for more than a second.

    Raises:
        StoreError: If it cannot be used, or its library is not installed.
    """
    try:
        import clickhouse_connect
    except ImportError as exc:
        raise StoreError('a store needs ClickHouse\'s client: pip install "mcpcore[fleet]"') from exc
    # Without a handler, Python prints its warnings; every error of it is reported as a StoreError.
    logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())
    with contextlib.ExitStack() as held:
        if address.folder is None:
            with translated(address):
                client = clickhouse_connect.get_client(
                    host=address.host,
                    port=address.port,
                    username=address.user,
                    password=address.password,
                    database=address.database,
                    secure=address.secure,
                    # A server answers the requests of a session one by one, and knows it on one replica only.
                    autogenerate_session_id=False,
                )
        else:
            held.callback(_locked(address.folder, create=create, waiting=waiting))
            try:
                with translated(address):
                    # The engine reads other paths, such as `file:a` and `:memory:`, in its own way.
                    client = clickhouse_connect.get_client(interface="chdb", path=str(address.folder.absolute()))
            except ImportError as exc:
                raise StoreError('a store in a folder needs the embedded engine: pip install "mcpcore[fleet]"') from exc
        store = Store(address, client, held.pop_all().close)
        held.callback(store.close)
        for name, value in _SETTINGS.items():
            # A user who may not change settings gets those of the server.
            with contextlib.suppress(Exception):
                client.set_client_setting(name, value)
        store.prepare(create=create)
        held.pop_all()
    return store


def _locked(folder: Path, *, create: bool, waiting: Callable[[Path], None]) -> Callable[[], None]:
    """Take the lock of an embedded store; returns the function that releases it."""
    lock = folder / LOCK
    if not lock.exists():
        if not create:
            raise StoreError(f"there is no store at {folder}; `mcpcore audit load` creates it")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)  # the records may be confidential
            names = os.listdir(folder)  # noqa: PTH208 - only the names are needed
            if names and LOCK not in names:
                raise StoreError(f"{folder} has other files and is not a store; give a new folder")
        except FileExistsError:
            raise StoreError(f"{folder} is a file; give a folder for the store") from None
        except OSError as exc:
            raise StoreError(f"the store {folder} cannot be created: {exc.strerror}") from exc
    try:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as exc:
        raise StoreError(f"the store {folder} cannot be opened: {exc.strerror}") from exc
    began, is_announced = time.monotonic(), False
    try:
        while not try_lock(fd):
            if not is_announced and time.monotonic() - began > _PATIENCE:
                is_announced = True
                waiting(folder)
            time.sleep(_PAUSE)
    except BaseException:
        os.close(fd)
        raise

    def release() -> None:
        unlock(fd)
        os.close(fd)

    return release
