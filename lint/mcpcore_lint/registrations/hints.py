"""What a tool's annotations say about calling it again: `read_only_hint` and `idempotent_hint`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from mcpcore_lint.model import CallValue, Const, Mapping, Value, is_left_out, options, string

if TYPE_CHECKING:
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
    found = list(options(tool.annotations))
    return Hints(_same([_hint(each, READ_ONLY) for each in found]), _same([_hint(each, IDEMPOTENT) for each in found]))


def _same(states: list[Hint]) -> Hint:
    return states[0] if len(set(states)) == 1 else "unknown"


def _hint(annotations: Value, names: tuple[str, ...]) -> Hint:
    if is_left_out(annotations):
        return "missing"
    given: list[Value] = []
    if isinstance(annotations, Mapping):
        given = [value for key, value in annotations.items if string(key) in names]
        complete = annotations.complete and all(string(key) is not None for key, _ in annotations.items)
    elif isinstance(annotations, CallValue) and _makes_annotations(annotations):
        given = [value for name, value in annotations.keywords if name in names]
        complete = annotations.complete
    else:
        return "unknown"
    if not complete:
        # Arguments that the linter cannot see may override those that it can.
        return "unknown"
    # A key that is given again replaces the one before.
    return _stated(given[-1]) if given else "missing"


def _makes_annotations(call: CallValue) -> bool:
    """Whether a call makes the SDK's `ToolAnnotations`; a class of the project may set hints by itself."""
    return call.func.definition is None and call.func.name.rpartition(".")[2] == "ToolAnnotations"


def _stated(value: Value) -> Hint:
    states: set[Hint] = set()
    for each in options(value):
        if is_left_out(each):
            states.add("missing")
        elif isinstance(each, Const) and isinstance(each.value, bool):
            states.add("true" if each.value else "false")
        else:
            states.add("unknown")
    return states.pop() if len(states) == 1 else "unknown"


__all__ = ["IDEMPOTENT", "READ_ONLY", "Hint", "Hints", "hints_of"]
