"""What a tool's annotations say about calling it again: `read_only_hint` and `idempotent_hint`."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from mcpcore_lint.model import CallValue, Const, Mapping, ToolDef, Value, is_left_out, options, string

Hint: TypeAlias = Literal["true", "false", "missing", "unknown"]
"""A hint that the author stated, left out (or gave as None), or that the linter cannot see."""

READ_ONLY: Final = ("read_only_hint", "readOnlyHint")
IDEMPOTENT: Final = ("idempotent_hint", "idempotentHint")


_SHORT: Final = ("read_only", "idempotent", "destructive")
"""The options of mcpcore's `@tool` that are short for hints."""


class Hints(NamedTuple):
    """The two hints that decide whether a failed call may be made again."""

    read_only: Hint
    idempotent: Hint

    @property
    def unsafe(self) -> bool:
        """Whether the author says of the tool that it changes something, and that a second call changes more."""
        return self.read_only == "false" and self.idempotent == "false"

    @property
    def repeatable(self) -> bool | None:
        """Whether the runtime lets the default advice of a code stand; None if the linter cannot see it.

        Hints that are left out have the defaults of MCP: the tool is neither read-only nor idempotent.
        """
        return True if "true" in self else None if "unknown" in self else False


def annotations_of(item: Value, call: CallValue) -> Value:
    """The annotations that a registration gives, with its short hints: `@tool(read_only=True)`."""
    short = [(name, value) for name, value in call.keywords if name in _SHORT and not is_left_out(value)]
    if not short:
        return item
    node, module = short[0][1].node, short[0][1].module
    items = tuple((Const(value.node, value.module, f"{name}_hint"), value) for name, value in short)
    return joined(item, Mapping(node, module, items))


def joined(first: Value, second: Value) -> Value:
    """Two annotations of a tool together; where both state a hint, the second counts."""
    if is_left_out(first) or is_left_out(second):
        return second if is_left_out(first) else first
    items: list[tuple[Value, Value]] = []
    complete = True
    for hints in (first, second):
        pairs = _pairs(hints)
        items += [(Const(value.node, value.module, name), value) for name, value in pairs or ()]
        complete = complete and pairs is not None and getattr(hints, "complete", False)
    return Mapping(first.node, first.module, tuple(items), complete)


def hints_of(tool: ToolDef) -> Hints:
    """The hints of a tool that say whether a failed call may be made again."""
    return Hints(hint_of(tool, READ_ONLY), hint_of(tool, IDEMPOTENT))


def hint_of(tool: ToolDef, names: tuple[str, ...]) -> Hint:
    """The hint of a tool by its names; "unknown" where its annotations are one of several that differ."""
    return _same(_hint(annotations, names) for annotations in options(tool.annotations))


def _same(states: Iterable[Hint]) -> Hint:
    different = set(states)
    return different.pop() if len(different) == 1 else "unknown"


def _hint(annotations: Value, names: tuple[str, ...]) -> Hint:
    if is_left_out(annotations):
        return "missing"
    pairs = _pairs(annotations)
    # Arguments that the linter cannot see may override those that it can.
    if pairs is None or not getattr(annotations, "complete", False) or any(name is None for name, _ in pairs):
        return "unknown"
    values = [value for name, value in pairs if name in names]
    # A key that is given again replaces the one before.
    return _same(_stated(option) for option in options(values[-1])) if values else "missing"


def _pairs(annotations: Value) -> list[tuple[str | None, Value]] | None:
    """The hints in annotations with their names; None if these are no annotations that the linter can read."""
    if isinstance(annotations, Mapping):
        return [(string(key), value) for key, value in annotations.items]
    return [*annotations.keywords] if isinstance(annotations, CallValue) and _makes_annotations(annotations) else None


def _makes_annotations(call: CallValue) -> bool:
    """Whether a call makes the SDK's `ToolAnnotations`; a class of the project may set hints by itself."""
    return call.func.definition is None and call.func.name.rpartition(".")[2] == "ToolAnnotations"


def _stated(value: Value) -> Hint:
    if is_left_out(value):
        return "missing"
    if isinstance(value, Const) and isinstance(value.value, bool):
        return "true" if value.value else "false"
    return "unknown"
