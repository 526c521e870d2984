"""What the linter reports: a place, a rule, a sentence, a next step and, where there is one, a fix."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, NamedTuple, TypeAlias

Safety: TypeAlias = Literal["safe", "unsafe"]


class Severity(IntEnum):
    """How much a finding weighs; greater is graver, so severities compare."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The name in reports and in configuration: `error`, `warning` or `info`."""
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> Severity:
        """The severity of a label.

        Raises:
            ValueError: If there is no such severity.
        """
        try:
            return cls[text.upper()]
        except KeyError:
            labels = ", ".join(each.label for each in reversed(cls))
            raise ValueError(f"{text!r} is not a severity: choose one of {labels}") from None


class Span(NamedTuple):
    """A stretch of a file: lines and columns from 1, columns in characters, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: Span) -> bool:
        """Whether another stretch of the same file lies within this one."""
        return self[:2] <= other[:2] and other[2:] <= self[2:]


class Edit(NamedTuple):
    """Replace the characters `start` to `end` (offsets into `Source.text`, end exclusive) with `text`."""

    start: int
    end: int
    text: str


class Fix(NamedTuple):
    """Edits of one file that belong together: all are made, or none is.

    A safe fix keeps what the program does, apart from the failure that it reports; an unsafe one asks for a look.
    """

    title: str
    edits: tuple[Edit, ...]
    safety: Safety = "safe"


class Related(NamedTuple):
    """Another place that a finding speaks of, such as the throw at the end of a chain of calls."""

    path: str
    span: Span
    message: str


class Diagnostic(NamedTuple):
    """One finding.

    `path` is as the user gave it or relative to the project, with `/` as the separator; `help` is the next step.
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
    """The tools that have it in common; the message names them."""
    folds: bool = False
    """Whether a report shows it together with the others of its rule in its file."""

    @property
    def sort_key(self) -> tuple[str, Span, str, str]:
        """The order of reports: by file, by place, by rule."""
        return (self.path, self.span, self.rule, self.message)


class Failure(NamedTuple):
    """Something that kept the linter from doing its work on a file: a crash of a rule, a file that cannot be read."""

    path: str
    message: str
    rule: str | None = None
    detail: str = ""
