"""Compares two schemas: of the arguments of a tool, or of the data of a failure. Any difference is a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mcpcore.catalog.constraints import changed_limits, written
from mcpcore.catalog.shapes import ANYTHING, Field, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.values.json_schema import Schema

_T = TypeVar("_T")


class Subject(NamedTuple):
    """A kind of schema with its rules.

    Attributes:
        noun: One field of it, in messages.
        schema: The schema, in messages.
        of: The owner of a field, in messages.
        taken: Whether clients send the values; otherwise they read them.
        changed: The rule for a difference that no other rule explains.
        reworded: The rule for other words.
    """

    noun: str
    schema: str
    of: str
    taken: bool
    changed: str
    reworded: str


ARGUMENTS: Final = Subject(
    "argument",
    "the schema of the arguments",
    "",
    taken=True,
    changed="input-schema-changed",
    reworded="input-schema-reworded",
)
DATA: Final = Subject(
    "field",
    "the schema of the data",
    " of the data",
    taken=False,
    changed="data-schema-changed",
    reworded="data-schema-reworded",
)


class SchemaChange(NamedTuple):
    """A change of a schema: its rule, a sentence, and the older and the newer value."""

    rule: str
    message: str
    old: Any = None
    new: Any = None


def compare_schemas(subject: Subject, old: Schema, new: Schema, *, whole: tuple[bool, bool]) -> list[SchemaChange]:
    """The changes from one schema to another; none only if the two are the same JSON.

    Args:
        subject: The kind of the schemas.
        old: The older schema.
        new: The newer schema.
        whole: Whether the older and the newer schema certainly say all that is true. One that was read from source
            code has no type where the source could not be read.
    """
    if written(old) == written(new):
        return []
    comparison = _Comparison(subject, old, new, whole)
    comparison.run()
    return comparison.changes


class _Comparison:
    def __init__(self, subject: Subject, old: Schema, new: Schema, whole: tuple[bool, bool]) -> None:
        self.changes: list[SchemaChange] = []
        self._subject = subject
        self._old, self._new = shape_of(old), shape_of(new)
        self._whole = whole[0] or _says_all(old), whole[1] or _says_all(new)
        self._changed: set[str] = set()
        """The paths of the changes so far."""

    def run(self) -> None:
        old, new = self._old, self._new
        self._removed_and_added()
        for path in sorted(old.fields.keys() & new.fields.keys()):
            self._required(path, old.fields[path], new.fields[path])
            self._field(path, old.fields[path], new.fields[path])
        # Shorter paths first, since what changed as a whole explains its parts.
        for path in sorted(old.parts.keys() | new.parts.keys(), key=lambda path: (len(path), path)):
            if path not in self._changed and not any(parent in self._changed for parent in _parents(path)):
                self._field(path, old.parts.get(path, ANYTHING), new.parts.get(path, ANYTHING))
        if not self.changes:
            if old.whole and new.whole:
                message = f"{self._subject.schema} has other words, or says the same in another way"
                self._add(self._subject.reworded, "", message)
            else:
                self._add(self._subject.changed, "", f"{self._subject.schema} changed")

    def _add(self, rule: str, path: str, message: str, old: Any = None, new: Any = None) -> None:
        self._changed.add(path)
        self.changes.append(SchemaChange(rule, message, old, new))

    def _name(self, path: str) -> str:
        if not path:
            return "the arguments" if self._subject.taken else "the data"
        return f"the {self._subject.noun} {path}{self._subject.of}"

    def _removed_and_added(self) -> None:
        before = {**self._old.parts, **self._old.fields}
        after = {**self._new.parts, **self._new.fields}
        for path, field in _absent(self._old.fields, after, before).items():
            rule = "argument-removed" if self._subject.taken else "data-field-removed"
            self._add(rule, path, f"{self._name(path)} was removed", field.label)
        for path, field in _absent(self._new.fields, before, after).items():
            if not self._subject.taken:
                self._add("data-field-added", path, f"{self._name(path)} is new", None, field.label)
            elif field.required and _was_there(path, before):
                self._add("argument-required", path, f"the new argument {path} is required", None, field.label)
            else:
                self._add("argument-added", path, f"the optional argument {path} is new", None, field.label)

    def _required(self, path: str, old: Field, new: Field) -> None:
        if old.required == new.required:
            return
        if self._subject.taken:
            rule, words = (
                ("argument-required", "is required now") if new.required else ("argument-widened", "is optional now")
            )
        else:
            rule, words = (
                ("data-field-required", "is always there now")
                if new.required
                else ("data-field-optional", "is not always there any more")
            )
        self._add(rule, path, f"{self._name(path)} {words}")

    def _field(self, path: str, old: Field, new: Field) -> None:
        """Compare two versions of one value by their types and values, then by their limits, then by the rest."""
        lost = not new.admits(old) and (old.types is not None or self._whole[0])
        won = not old.admits(new) and (new.types is not None or self._whole[1])
        if lost or won:
            self._types(path, old, new, lost=lost, won=won)
            return
        tighter, looser = changed_limits(old.limits, new.limits)
        if tighter or looser:
            self._limits(path, old, new, tighter, looser)
        if (old.rest != new.rest or old.types != new.types) and path not in self._changed:
            values = old.label, new.label
            self._add(self._subject.changed, path, f"the schema of {self._name(path)} changed", *values)

    def _types(self, path: str, old: Field, new: Field, *, lost: bool, won: bool) -> None:
        name, values = self._name(path), (old.label, new.label)
        if self._subject.taken:
            rule, words = ("argument-narrowed", "less") if lost else ("argument-widened", "more")
            self._add(rule, path, f"{name} accepts {words}", *values)
        elif won:
            self._add("data-field-type", path, f"{name} can be {new.label} now, not only {old.label}", *values)
        else:
            self._add("data-field-narrowed", path, f"{name} is only {new.label} now", *values)

    def _limits(self, path: str, old: Field, new: Field, tighter: list[str], looser: list[str]) -> None:
        name = self._name(path)
        values = dict(old.limits), dict(new.limits)
        if self._subject.taken:
            rule, words = ("argument-narrowed", "less") if tighter else ("argument-widened", "more")
            self._add(rule, path, f"{name} accepts {words}: {', '.join(tighter or looser)}", *values)
        elif looser:
            self._add("data-limit-loosened", path, f"{name} has another limit or none: {', '.join(looser)}", *values)
        else:
            self._add("data-limit-tightened", path, f"{name} has a tighter limit: {', '.join(tighter)}", *values)


def _says_all(schema: Schema) -> bool:
    """Whether pydantic wrote a schema: unlike one that was read from source code, it has titles and references."""
    fields = schema.get("properties")
    parts = fields.values() if isinstance(fields, Mapping) else ()
    return any(
        isinstance(part, Mapping) and ("$ref" in part or ("title" in part and "properties" not in part))
        for part in parts
    )


def _absent(fields: Mapping[str, _T], others: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, _T]:
    """The fields that `others` lacks, without those inside another such field, or inside a part of one."""
    missing = {path for path in known if path not in others}
    return {
        path: fields[path]
        for path in sorted(fields)
        if path in missing and not any(parent in missing for parent in _parents(path))
    }


def _parents(path: str) -> Iterator[str]:
    """The paths of the values around a value."""
    yield from (path[:at] for at in range(len(path) - 1, 0, -1) if path[at] in ".[{")


def _was_there(path: str, fields: Mapping[str, Field]) -> bool:
    """Whether the object around a field was there before, so that old callers leave the field out."""
    parents = list(_parents(path))
    return not parents or any(parent in fields for parent in parents)


__all__ = ["ARGUMENTS", "DATA", "SchemaChange", "Subject", "compare_schemas"]
