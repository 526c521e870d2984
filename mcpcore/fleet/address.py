"""Where a store is: a folder for the embedded engine, or the URL of a ClickHouse server."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from mcpcore.audit.chain import AuditError


class StoreError(AuditError):
    """A store cannot be used; the message says why and what to do, without a password."""


PASSWORD_VARIABLE: Final = "MCPCORE_STORE_PASSWORD"  # noqa: S105 - the name of a variable
"""The environment variable with the password, which other users of the machine cannot see as they see a URL."""

TABLE: Final = "mcpcore_failures"
"""The table if the URL names no other."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
# A scheme has at least two letters, since `C:/store` is a folder. `clickhouse:` without slashes is a mistyped URL.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,31}):/|clickhouse:", re.IGNORECASE)
_FLAGS: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_FORM: Final = "give a folder, or clickhouse://USER:PASSWORD@HOST:PORT/DATABASE?table=NAME&secure=1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A store; its text never contains the password."""

    folder: Path | None = None
    host: str = ""
    port: int = 0
    user: str = "default"
    password: str = field(default="", repr=False)
    database: str = "default"
    table: str = TABLE
    secure: bool = False

    def __str__(self) -> str:
        """The folder, or host, port, database and table."""
        if self.folder is not None:
            return str(self.folder)
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"clickhouse://{host}:{self.port}/{self.database}?table={self.table}"

    @property
    def name(self) -> str:
        """A short name for titles."""
        return self.table if self.folder is None else self.folder.name


def parse(text: str) -> Address:
    """The store that `text` names: a folder, or `clickhouse://user:pass@host:port/db?table=…&secure=…`.

    A password is taken from `MCPCORE_STORE_PASSWORD` if the URL has none. `:` `/` `?` `#` and `@` in a user name or a
    password are written `%3A`, `%2F`, `%3F`, `%23` and `%40`.

    Raises:
        StoreError: If it is neither; the message does not repeat the text, which may have a password.

    Example:
        >>> str(parse("clickhouse://reader:secret@db.example/ops"))
        'clickhouse://db.example:8123/ops?table=mcpcore_failures'
    """
    if _SCHEME.match(text) is None:
        if not text or "\0" in text:
            raise StoreError(f"the name of the store is empty or not a path; {_FORM}")
        if "?" in text:
            # The engine opens the folder before it, and reads its options after it.
            raise StoreError(f"the path of a store cannot have a `?`, after which the engine reads options; {_FORM}")
        return Address(folder=Path(text))
    if not text.lower().startswith("clickhouse://"):
        raise StoreError(f"the store's URL does not begin with clickhouse://; {_FORM}")
    return _of_url(text)


def _of_url(text: str) -> Address:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        # The message of the cause may quote a part of the password.
        raise StoreError(f"the store's URL cannot be read: its host, port or options are malformed; {_FORM}") from None
    if not host:
        raise StoreError(f"the store's URL names no host; {_FORM}")
    if parts.fragment:
        raise StoreError(f"the store's URL has a #; write %23 for it in a user name or a password; {_FORM}")
    database, table, secure = unquote(parts.path.strip("/")) or "default", TABLE, False
    for key, value in options:
        if key == "table":
            table = value
        elif key == "secure" and value.lower() in _FLAGS:
            secure = _FLAGS[value.lower()]
        else:
            raise StoreError(
                f"the store's URL has an unknown option or value; known are table=NAME and secure=1; {_FORM}"
            )
    for kind, name in (("database", database), ("table", table)):
        if not _NAME.fullmatch(name):
            raise StoreError(
                f"the name of the {kind} in the store's URL may have letters, digits and underscores only, and begins "
                "with a letter or an underscore"
            )
    return Address(
        host=host,
        # The ports of ClickHouse's HTTP interface.
        port=(8443 if secure else 8123) if port is None else port,
        user=unquote(parts.username or "") or "default",
        password=unquote(parts.password or "") or os.environ.get(PASSWORD_VARIABLE, ""),
        database=database,
        table=table,
        secure=secure,
    )
