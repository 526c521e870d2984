"""The findings that the linter reports, and the fixes for them."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, NamedTuple


class Severity(IntEnum):
    """The severity of a finding. A greater value is graver."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The name in reports and in configuration: `error`, `warning` or `info`."""
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> Severity:
        """The severity with a label.

        Raises:
            ValueError: If the label is unknown.
        """
        try:
            return cls[text.upper()]
        except KeyError:
            labels = ", ".join(severity.label for severity in reversed(cls))
            raise ValueError(f"{text!r} is not a severity: choose one of {labels}") from None


class Span(NamedTuple):
    """A range in a file. Lines and columns count from 1, columns in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: Span) -> bool:
        """Whether another range of the same file is inside this one."""
        return self[:2] <= other[:2] and other[2:] <= self[2:]


class Edit(NamedTuple):
    """Replace the characters `start` to `end` (offsets into `Source.text`, end exclusive) with `text`."""

    start: int
    end: int
    text: str


class Change(NamedTuple):
    """A libcst transformation of one node, described by plain values; `codemods.rewrite` turns it into edits.

    Findings carry changes instead of edits, so a run that writes nothing never loads libcst.
    """

    transformation: str
    """The function in `codemods.transformations`."""
    start: int
    """Where the node starts, as an offset into `Source.text`."""
    end: int
    arguments: tuple[str | int, ...] = ()


class Fix(NamedTuple):
    """Changes to one file that belong together: all of them are made, or none.

    A safe fix keeps the behaviour of the program apart from the reported failure; an unsafe one needs a review.
    """

    title: str
    edits: tuple[Edit | Change, ...]
    safety: Literal["safe", "unsafe"] = "safe"


class Related(NamedTuple):
    """Another place that belongs to a finding, such as the `raise` at the end of a chain of calls."""

    path: str
    span: Span
    message: str


class Diagnostic(NamedTuple):
    """One finding.

    `path` is relative to the project, or as the user wrote it, with `/` as the separator. `help` is the next step.
    """

    rule: str
    severity: Severity
    path: str
    span: Span
    message: str
    help: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    tool: str | None = None
    tools: tuple[str, ...] = ()
    """The tools that share the finding. The message names them."""
    folds: bool = False
    """Whether a report combines it with the other findings of its rule in the same file."""
    missing_tool: str | None = None
    """The name of a tool that does not exist. A run drops the finding if some file of the project defines the tool."""

    @property
    def sort_key(self) -> tuple[str, Span, str, str]:
        """The order of reports: by file, by place, by rule."""
        return (self.path, self.span, self.rule, self.message)


class Failure(NamedTuple):
    """A reason why a file was not checked in full: it cannot be read, or a rule crashed."""

    path: str
    message: str
    rule: str | None = None
    detail: str = ""
