"""Compares two catalogues: what changed, by the rules of `mcpcore.catalog.rules`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mcpcore.catalog.matching import match_items, near
from mcpcore.catalog.rules import LEVELS, Level, Rules
from mcpcore.catalog.shapes import Field, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore.catalog.model import Catalog, Failure, Item, Place

_T = TypeVar("_T")

_EFFECTS: Final = {"none": 3, "partial": 2, "unknown": 1, None: 0}
"""How much an entry promises about what was changed."""

_MAX_PAIRS: Final = 400
"""The most pairs of removed and added reasons whose words are compared."""


class Change(NamedTuple):
    """One change.

    Attributes:
        level: How grave it is.
        rule: The id of its rule.
        server: The server, as the newer catalogue names it.
        kind: "tool", "resource" or "prompt".
        name: The tool, resource or prompt, as the newer catalogue names it.
        reason: The reason, if the change is about one.
        message: The change, as a sentence without its subject.
        old: The older value, or None.
        new: The newer value, or None.
        place: Where the newer source has it, or None.
    """

    level: Level
    rule: str
    server: str
    kind: str
    name: str
    reason: str | None
    message: str
    old: Any = None
    new: Any = None
    place: Place | None = None

    @property
    def subject(self) -> str:
        """What changed: `tool fetch_articles, no_match`."""
        return f"{self.kind} {self.name}" + ("" if self.reason is None else f", {self.reason}")

    def to_json(self) -> dict[str, Any]:
        """The change as JSON, without the fields that are None."""
        plain = {key: value for key, value in self._asdict().items() if value is not None and key != "place"}
        if self.place is not None:
            plain["path"] = self.place.path
            if self.place.line is not None:
                plain["line"] = self.place.line
        return plain


def compare(old: Catalog, new: Catalog, rules: Rules | None = None) -> list[Change]:
    """The changes from `old` to `new`, the gravest first; those of rules at "off" are left out.

    Args:
        old: The older catalogue.
        new: The newer catalogue.
        rules: The levels; the defaults if left out.
    """
    comparison = _Comparison(rules or Rules())
    for match in match_items(old, new):
        before, after = match.old, match.new
        if after is None:
            assert before is not None
            comparison.at(match.server, before)
            comparison.add(f"{before.kind}-removed", f"the {before.kind} was removed")
        elif before is None:
            comparison.at(match.server, after)
            comparison.add(f"{after.kind}-added", f"the {after.kind} is new")
        else:
            comparison.at(match.server, after)
            if before.name != after.name:
                message = f"the {after.kind} was renamed from {before.name}"
                comparison.add(f"{after.kind}-renamed", message, before.name, after.name)
            comparison.items(before, after)
    return sorted(comparison.changes, key=_order)


def _order(change: Change) -> tuple[Any, ...]:
    return LEVELS.index(change.level), change.server, change.kind, change.name, change.reason or "", change.rule


class _Comparison:
    def __init__(self, rules: Rules) -> None:
        self.changes: list[Change] = []
        self._rules = rules
        self._server = ""
        self._item: Item

    def at(self, server: str, item: Item) -> None:
        """Add changes to this item from now on."""
        self._server, self._item = server, item

    def add(self, rule: str, message: str, old: Any = None, new: Any = None, *, error: Failure | None = None) -> None:
        level = self._rules.level(rule)
        if level == "off":
            return
        item = self._item
        reason = None if error is None else error.reason
        place = item.defined if error is None or not error.raised else error.raised[0]
        self.changes.append(
            Change(level, rule, self._server, item.kind, item.name, reason, message, old, new, place or item.defined)
        )

    # -- tools, resources and prompts ------------------------------------------------------------------------------

    def items(self, old: Item, new: Item) -> None:
        """Compare an item with its older self."""
        if (old.title, old.description) != (new.title, new.description):
            self.add("description-reworded", "the title or the description was reworded")
        self._hints(old, new)
        self._returned(old, new)
        if old.input_schema is not None and new.input_schema is not None:
            self._arguments(fields_of(old.input_schema), fields_of(new.input_schema))
        if old.contract != "none" and new.contract == "none":
            reasons = ", ".join(error.reason for error in old.errors)
            self.add("contract-removed", f"the contract was removed{f': it declared {reasons}' if reasons else ''}")
            return
        if old.contract == "none" and new.contract != "none":
            self.add("contract-added", "the contract is new")
            return
        if old.contract == "declared" and new.contract == "unknown":
            self.add("contract-unreadable", "the contract cannot be read in full any more")
        self._undeclared(old, new)
        self._contract(old, new)

    def _hints(self, old: Item, new: Item) -> None:
        for rule, words, before, after in (
            ("read-only-withdrawn", "read-only", old.read_only, new.read_only),
            ("idempotent-withdrawn", "idempotent", old.idempotent, new.idempotent),
        ):
            if before is True and after is not True:
                self.add(rule, f"it is not annotated as {words} any more", before, after)
            elif after is True and before is not True:
                self.add("hints-strengthened", f"it is annotated as {words} now", before, after)
        if old.destructive != new.destructive:
            message = "the annotation about destructive changes is another one"
            self.add("destructive-changed", message, old.destructive, new.destructive)

    def _returned(self, old: Item, new: Item) -> None:
        # Only source code shows it: a catalogue of a running server says nothing either way.
        if old.defined is None or new.defined is None:
            return
        before, after = "returned" in old.failures, "returned" in new.failures
        if after and not before:
            where = f", in {new.returned[0].label}" if new.returned else ""
            self.add("failures-returned", f"it returns failures as data now{where}")
        elif before and not after:
            self.add("failures-raised", "it does not return failures as data any more")

    def _undeclared(self, old: Item, new: Item) -> None:
        if old.defined is None or new.defined is None:
            return
        known = {entry.label for entry in old.undeclared}
        for entry in new.undeclared:
            # A plain exception is masked as INTERNAL_ERROR or its class's code: it tells clients nothing new.
            if entry.label not in known and entry.name is not None:
                self.add("undeclared-added", f"it raises {entry.label} without a declared reason")

    def _arguments(self, old: Mapping[str, Field], new: Mapping[str, Field]) -> None:
        for name, before in _absent(old, new).items():
            self.add("argument-removed", f"the argument {name} was removed", before.label)
        for name, after in _absent(new, old).items():
            if after.required and _was_there(name, old):
                self.add("argument-required", f"the new argument {name} is required", None, after.label)
            else:
                self.add("argument-added", f"the optional argument {name} is new", None, after.label)
        for name in sorted(old.keys() & new.keys()):
            before, after = old[name], new[name]
            if after.required and not before.required:
                self.add("argument-required", f"the argument {name} is required now")
            elif before.required and not after.required:
                self.add("argument-widened", f"the argument {name} is optional now")
            if not after.admits(before) and before.types is not None:
                self.add("argument-narrowed", f"the argument {name} accepts less", before.label, after.label)
            elif not before.admits(after) and after.types is not None:
                self.add("argument-widened", f"the argument {name} accepts more", before.label, after.label)

    # -- failure modes ---------------------------------------------------------------------------------------------

    def _contract(self, old: Item, new: Item) -> None:
        before = {error.reason: error for error in old.errors}
        after = {error.reason: error for error in new.errors}
        removed = [error for reason, error in before.items() if reason not in after]
        added = [error for reason, error in after.items() if reason not in before]
        for one, other in _renamed(removed, added):
            removed = [error for error in removed if error.reason != one.reason]
            added = [error for error in added if error.reason != other.reason]
            self.add(
                "reason-renamed", f"the reason was renamed from {one.reason}", one.reason, other.reason, error=other
            )
            self._failure(one, other)
        for error in removed:
            if new.contract == "declared":
                self.add("reason-removed", "the reason was removed", error.code_label, error=error)
        for error in added:
            if old.contract == "declared":
                self.add("reason-added", "the reason is new", None, error.code_label, error=error)
        for reason in sorted(before.keys() & after.keys()):
            self._failure(before[reason], after[reason])

    def _failure(self, old: Failure, new: Failure) -> None:
        if _code_of(old) != _code_of(new):
            labels = [old.code_label, new.code_label]
            if labels[0] == labels[1]:
                labels = [f"{error.code_label} ({error.code})" for error in (old, new)]
            self.add("code-changed", f"the code changed from {labels[0]} to {labels[1]}", *labels, error=new)
        self._retry(old, new)
        if old.effects != new.effects:
            self._effects(old, new)
        self._data(old, new)
        self._recovery(old, new)
        for rule, words, before, after in (
            ("when-reworded", "the circumstances were reworded", old.when, new.when),
            ("recovery-reworded", "the recovery was reworded", old.recovery, new.recovery),
            ("user-message-reworded", "the message for users was reworded", old.user_message, new.user_message),
            ("example-changed", "the example changed", old.example, new.example),
        ):
            if not _same(before, after):
                self.add(rule, words, before, after, error=new)

    def _retry(self, old: Failure, new: Failure) -> None:
        before, after = old.retry, new.retry
        if before == after or before is None or after is None:
            if before is not None and after is None and before.retryable:
                self.add("retry-withdrawn", "the retry advice is gone", before.phrase, error=new)
            return
        message = f"the retry advice changed from {before.phrase!r} to {after.phrase!r}"
        if before.retryable and not after.retryable:
            rule = "retry-withdrawn"
        elif after.retryable and not before.retryable:
            rule = "retry-added"
        else:
            rule = "retry-delayed" if (after.after_ms or 0) > (before.after_ms or 0) else "retry-sooner"
        self.add(rule, message, before.phrase, after.phrase, error=new)

    def _effects(self, old: Failure, new: Failure) -> None:
        before, after = old.effects, new.effects
        words = [effects or "not stated" for effects in (before, after)]
        message = f"the effects changed from {words[0]} to {words[1]}"
        if before is None and after != "none":
            rule = "effects-stated"
        else:
            rule = "effects-weakened" if _EFFECTS[after] < _EFFECTS[before] else "effects-strengthened"
        self.add(rule, message, before, after, error=new)

    def _data(self, old: Failure, new: Failure) -> None:
        if old.data_schema is None or new.data_schema is None:
            if old.data_schema is not None:
                self.add("data-removed", "the data model was removed", error=new)
            elif new.data_schema is not None:
                self.add("data-added", "the data model is new", error=new)
            return
        before, after = fields_of(old.data_schema), fields_of(new.data_schema)
        for name, field in _absent(before, after).items():
            self.add("data-field-removed", f"the field {name} of the data was removed", field.label, error=new)
        for name, field in _absent(after, before).items():
            self.add("data-field-added", f"the field {name} of the data is new", None, field.label, error=new)
        for name in sorted(before.keys() & after.keys()):
            one, other = before[name], after[name]
            if one.required != other.required:
                rule, words = (
                    ("data-field-required", "is always there now")
                    if other.required
                    else ("data-field-optional", "is not always there any more")
                )
                self.add(rule, f"the field {name} of the data {words}", error=new)
            if not one.admits(other) and other.types is not None:
                message = f"the field {name} of the data can be {other.label} now, not only {one.label}"
                self.add("data-field-type", message, one.label, other.label, error=new)
            elif not other.admits(one) and one.types is not None:
                message = f"the field {name} of the data is only {other.label} now"
                self.add("data-field-narrowed", message, one.label, other.label, error=new)

    def _recovery(self, old: Failure, new: Failure) -> None:
        if old.fallback_tool != new.fallback_tool:
            if old.fallback_tool is None:
                rule, message = "fallback-added", f"the fallback tool {new.fallback_tool} is new"
            else:
                rule = "fallback-changed"
                message = f"the fallback tool changed from {old.fallback_tool} to {new.fallback_tool or 'none'}"
            self.add(rule, message, old.fallback_tool, new.fallback_tool, error=new)
        for rule, words, before, after in (
            ("strategy-changed", "the strategy", old.strategy, new.strategy),
            ("actions-changed", "the actions", list(old.actions), list(new.actions)),
            ("corrective-params-changed", "the corrective parameters", old.corrective_params, new.corrective_params),
        ):
            if not _same(before, after):
                self.add(rule, f"{words} of the recovery changed", before, after, error=new)


def _code_of(error: Failure) -> Any:
    return error.code if error.code is not None else error.name


def _same(old: Any, new: Any) -> bool:
    """Whether two values are the same JSON, in which true is not 1."""
    if old == new and isinstance(old, str | None):
        return True
    return bool(_written(old) == _written(new))


def _written(value: Any) -> Any:
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):
        return value


def _absent(fields: Mapping[str, _T], others: Mapping[str, Any]) -> dict[str, _T]:
    """The fields that `others` lacks, without those inside another such field."""
    missing = {name: field for name, field in fields.items() if name not in others}
    return {name: missing[name] for name in sorted(missing) if not any(parent in missing for parent in _parents(name))}


def _parents(name: str) -> Iterator[str]:
    for separator in (".", "[]"):
        at = name.rfind(separator)
        while at > 0:
            yield name[:at]
            at = name.rfind(separator, 0, at)


def _was_there(name: str, fields: Mapping[str, Field]) -> bool:
    """Whether the object around a field was there before, so that old callers leave the field out."""
    parents = list(_parents(name))
    return not parents or any(parent in fields for parent in parents)


def _renamed(removed: list[Failure], added: list[Failure]) -> Iterator[tuple[Failure, Failure]]:
    """The pairs that are one reason under two names: the same code, and nearly the same words."""
    pairs: list[tuple[float, Failure, Failure]] = []
    compared = 0
    for one in removed:
        for other in added:
            if _code_of(one) != _code_of(other):
                continue
            compared += 1
            likeness = 1.0 if (one.when, one.recovery) == (other.when, other.recovery) and one.when else 0.0
            if likeness < 1 and compared <= _MAX_PAIRS:
                likeness = near(f"{one.when}\n{one.recovery}", f"{other.when}\n{other.recovery}")
            if likeness > 0:
                pairs.append((likeness, one, other))
    taken: set[int] = set()
    for _, one, other in sorted(pairs, key=lambda pair: (-pair[0], pair[1].reason, pair[2].reason)):
        if id(one) not in taken and id(other) not in taken:
            taken |= {id(one), id(other)}
            yield one, other


__all__ = ["Change", "compare"]
