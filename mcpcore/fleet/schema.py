"""The table of a store: one row for each record, and how people may query it.

A record is identified by `id`, the SHA-256 of its line, and every other column of the key follows from the line. Equal
records therefore meet in one row, no matter how often, from which file or by how many processes they are loaded.
"""

from __future__ import annotations

from typing import Final

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
