"""The findings that the linter reports, and the fixes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Literal, NamedTuple, TypeVar

T = TypeVar("T")
K = TypeVar("K")


class Severity(IntEnum):
    """The severity of a finding. A greater value is graver.

    ```python
    assert Severity.parse("error") > Severity.WARNING
    assert Severity.WARNING.label == "warning"
    ```
    """

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

        Args:
            text: The label, such as "error".

        Raises:
            ValueError: If the label is unknown.
        """
        try:
            return cls[text.upper()]
        except KeyError:
            labels = ", ".join(severity.label for severity in reversed(cls))
            raise ValueError(f"{text!r} is not a severity: choose one of {labels}") from None


class Span(NamedTuple):
    """A range in a file. Lines and columns count from 1, columns in characters; the end is exclusive.

    ```python
    assert Span(9, 1, 12, 1).holds(Span(10, 5, 10, 20))
    ```

    Attributes:
        line: The first line.
        column: The first column.
        end_line: The last line.
        end_column: The column after the last character.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: Span) -> bool:
        """Whether another range of the same file is inside this one.

        Args:
            other: The other range.
        """
        return self[:2] <= other[:2] and other[2:] <= self[2:]


class Edit(NamedTuple):
    """Replace the characters `start` to `end` (offsets into `Source.text`, end exclusive) with `text`.

    ```python
    source = "return failure"
    edit = Edit(0, 6, "raise")
    assert source[: edit.start] + edit.text + source[edit.end :] == "raise failure"
    ```

    Attributes:
        start: The first character that is replaced.
        end: The character after the last one.
        text: The new text.
    """

    start: int
    end: int
    text: str


class Change(NamedTuple):
    """A libcst transformation of one node, described by plain values; `codemods.rewrite` turns it into edits.

    Findings carry changes instead of edits, so a run that writes nothing never loads libcst.

    ```python
    change = replace_node(ctx.module, call.args[0], "'closed'")
    ctx.report(call, "the reason is misspelt", fix=ctx.fix("Mend the reason", [change]))
    ```
    """

    transformation: str
    """The function in `codemods.transformations`."""
    start: int
    """Where the node starts, as an offset into `Source.text`."""
    end: int
    """Where it ends, exclusive."""
    arguments: tuple[str | int, ...] = ()
    """The further arguments of the function."""


class Fix(NamedTuple):
    """Changes to one file that belong together: all of them are made, or none.

    A safe fix keeps the behavior of the program apart from the reported failure; an unsafe one needs a review.

    ```python
    fix = Fix("Raise the failure", (Edit(0, 6, "raise"),), "unsafe")
    ```

    Attributes:
        title: The name of the fix, as an imperative.
        edits: The changes.
        safety: "safe" or "unsafe".
    """

    title: str
    edits: tuple[Edit | Change, ...]
    safety: Literal["safe", "unsafe"] = "safe"


class Related(NamedTuple):
    """Another place that belongs to a finding, such as the `raise` at the end of a chain of calls.

    ```python
    ctx.report(call, "the reason is not declared", related=[ctx.related(contract, "the contract is here")])
    ```

    Attributes:
        path: The file.
        span: The place in the file.
        message: What is there.
    """

    path: str
    span: Span
    message: str


class Diagnostic(NamedTuple):
    """One finding.

    `path` is relative to the project, or as the user wrote it, with `/` as the separator. `help` is the next step.

    ```python
    from mcpcore_lint import lint_source

    for finding in lint_source(code).diagnostics:
        print(f"{finding.path}:{finding.span.line}: {finding.message} ({finding.rule})")
    ```

    Attributes:
        rule: The id of the rule.
        severity: The severity.
        path: The file.
        span: The place in the file.
        message: What was found.
        help: The next step.
        related: Other places that belong to the finding.
        fix: Changes that mend it, or None.
        tool: The tool that it concerns, or None.
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
    places: int = 1
    """How many findings a report combined into this one."""

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


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Findings, edits and the like by a key that some of them share, in their order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
