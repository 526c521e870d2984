"""What a tool's annotations say about calling it again: `read_only_hint` and `idempotent_hint`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from mcpcore_lint.model import CallValue, Const, Mapping, Value, is_left_out, options, string

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.model import ToolDef

Hint: TypeAlias = Literal["true", "false", "missing", "unknown"]
"""A hint that the author stated, left out (or gave as None), or that the linter cannot see."""

READ_ONLY: Final = ("read_only_hint", "readOnlyHint")
IDEMPOTENT: Final = ("idempotent_hint", "idempotentHint")


class Hints(NamedTuple):
    """The two hints that decide whether a failed call may be made again."""

    read_only: Hint
    idempotent: Hint

    @property
    def unsafe(self) -> bool:
        """Whether the author says of the tool that it changes something, and that a second call changes more."""
        return self.read_only == "false" and self.idempotent == "false"


def hints_of(tool: ToolDef) -> Hints:
    """The hints of a tool; "unknown" where its annotations are one of several that differ."""
    annotations = options(tool.annotations)
    return Hints(
        _same(_hint(each, READ_ONLY) for each in annotations), _same(_hint(each, IDEMPOTENT) for each in annotations)
    )


def _same(states: Iterable[Hint]) -> Hint:
    different = set(states)
    return different.pop() if len(different) == 1 else "unknown"


def _hint(annotations: Value, names: tuple[str, ...]) -> Hint:
    if is_left_out(annotations):
        return "missing"
    if isinstance(annotations, Mapping):
        given = [(string(key), value) for key, value in annotations.items]
    elif isinstance(annotations, CallValue) and _makes_annotations(annotations):
        given = [*annotations.keywords]
    else:
        return "unknown"
    # Arguments that the linter cannot see may override those that it can.
    if not annotations.complete or any(name is None for name, _ in given):
        return "unknown"
    values = [value for name, value in given if name in names]
    # A key that is given again replaces the one before.
    return _same(_stated(option) for option in options(values[-1])) if values else "missing"


def _makes_annotations(call: CallValue) -> bool:
    """Whether a call makes the SDK's `ToolAnnotations`; a class of the project may set hints by itself."""
    return call.func.definition is None and call.func.name.rpartition(".")[2] == "ToolAnnotations"


def _stated(value: Value) -> Hint:
    if is_left_out(value):
        return "missing"
    if isinstance(value, Const) and isinstance(value.value, bool):
        return "true" if value.value else "false"
    return "unknown"


__all__ = ["IDEMPOTENT", "READ_ONLY", "Hint", "Hints", "hints_of"]
