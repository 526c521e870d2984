"""The report about a checked trail: its problems and its facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from mcpcore.audit.chain import PLAIN

if TYPE_CHECKING:
    from mcpcore.audit.chain import Head
    from mcpcore.values.jsonable import JSON

Kind = Literal["changed", "removed", "inserted", "forged", "reordered", "duplicated", "cut", "head", "unsigned"]
"""In this order: the bytes of a record were changed; records are missing; a line that is not a record of the chain was
inserted; a record was replaced, or signed by another writer; a record was moved; a record appears twice; records at the
end are missing; the head is damaged or belongs to another trail; records from before the key are not confirmed."""

MAX_PROBLEMS: Final = 1000
"""The most problems that are listed; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One change that was made to a trail, and its place.

    ```python
    from mcpcore.audit import verify

    for problem in verify(path).problems:
        print(f"{problem.file}:{problem.line}: {problem.kind}")
    ```

    Attributes:
        kind: The kind of change, one of a fixed list.
        detail: What was found, as a sentence.
        file: The file of the trail.
        line: The line in the file, from 1.
        seq: The number of the record.
        correlation_id: The id of the record.
    """

    kind: Kind
    detail: str
    file: str | None = None
    line: int | None = None
    seq: int | None = None
    correlation_id: str | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: " if self.file else ""
        what = "" if self.seq is None else f" record {self.seq}"
        ident = f" (id {self.correlation_id})" if self.correlation_id else ""
        return f"{place}{self.kind}{what}{ident}: {self.detail}"

    def to_json(self) -> dict[str, JSON]:
        """The problem as JSON, without unknown facts."""
        facts: dict[str, JSON] = {
            "kind": self.kind,
            "detail": self.detail,
            "file": self.file,
            "line": self.line,
            "seq": self.seq,
            "correlationId": self.correlation_id,
        }
        return {key: value for key, value in facts.items() if value is not None}


@dataclass(slots=True, kw_only=True)
class ProblemList:
    """A bounded list of problems, for the reports of a check and of a load."""

    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def add(self, problem: Problem) -> None:
        """List `problem`, or only count it if `MAX_PROBLEMS` are listed already."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.unlisted += 1


@dataclass(slots=True)
class Report(ProblemList):
    """The result of a check.

    ```python
    from mcpcore.audit import verify

    report = verify(path)
    if not report.ok:
        print(f"{len(report.problems)} problems in {report.records} records")
    ```

    Attributes:
        path: The file that was named.
        files: All files of the trail, the oldest first.
        records: The number of records.
        first: The number of the first record, or None.
        last: The number of the last record, or None.
        last_hash: The hash of the last record, or None.
        keyed: Whether the trail is signed with a key.
        head: The end that the head file names, or None.
        head_source: "file" for the head file, "given" for a head that the caller passed, or None.
        notes: What a reader of the report should know, and what is no problem.
        problems: The changes that were made to the trail.
        unlisted: The number of further problems.
    """

    path: str
    files: list[str] = field(default_factory=list)
    records: int = 0
    first: int | None = None
    last: int | None = None
    last_hash: str | None = None
    keyed: bool = False
    head: Head | None = None
    head_source: str | None = None
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, JSON]:
        """The report as JSON."""
        return {
            "path": self.path,
            "ok": self.ok,
            "files": [*self.files],
            "records": self.records,
            "first": self.first,
            "last": self.last,
            "lastHash": self.last_hash,
            "signed": "hmac-sha256" if self.keyed else PLAIN,
            "head": None if self.head is None else {"seq": self.head.seq, "hash": self.head.hash},
            "headSource": self.head_source,
            "problems": [problem.to_json() for problem in self.problems],
            "unlisted": self.unlisted,
            "notes": [*self.notes],
        }
