"""Compares two catalogs: which items belong together, and what changed, by the rules of `mcpcore.catalog.rules`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from mcpcore.catalog.model import Catalog, Failure, Item, Place, ServerCatalog
from mcpcore.catalog.rules import LEVELS, Level, Rules
from mcpcore.catalog.schemas import ARGUMENTS, DATA, compare_schemas, written

NEAR: Final = 0.7
"""From this likeness on, two texts are one text that was reworded."""

_MAX_TEXT: Final = 200
"""Characters of a text that are compared."""


class Match(NamedTuple):
    """An item in both catalogs, or in one of them.

    Attributes:
        server: The name of the server in the newer catalog, if it is there.
        old: The item in the older catalog, or None.
        new: The item in the newer catalog, or None.
    """

    server: str
    old: Item | None
    new: Item | None


_Entry = tuple["ServerCatalog", "Item"]


def match_items(old: Catalog, new: Catalog) -> Iterator[Match]:
    """Match the items by server, kind and name; then by kind and name alone; then renamed ones by what they say."""
    removed = [(server, item) for server, item in old.items]
    added = [(server, item) for server, item in new.items]
    partners = _servers(old, new)
    for key in (
        lambda server, item, renames: (renames.get(server.name, server.name), item.kind, item.name),
        lambda _server, item, _renames: (item.kind, item.name),
    ):
        before, after = _grouped(removed, key, partners), _grouped(added, key, {})
        # A broken file may hold several of one name, or even one object several times: they are paired in their order.
        removed, added = [], []
        for name in dict.fromkeys((*before, *after)):
            ours, theirs = before.get(name, []), after.get(name, [])
            yield from (
                Match(server.name, item, other) for (_, item), (server, other) in zip(ours, theirs, strict=False)
            )
            removed += ours[len(theirs) :]
            added += theirs[len(ours) :]
    renamed = _renamed_entries(removed, added)
    yield from (Match(added[to][0].name, removed[at][1], added[to][1]) for at, to in renamed.items())
    yield from (Match(server.name, item, None) for at, (server, item) in enumerate(removed) if at not in renamed)
    renamed_to = set(renamed.values())
    yield from (Match(server.name, None, item) for to, (server, item) in enumerate(added) if to not in renamed_to)


def _servers(old: Catalog, new: Catalog) -> dict[str, str]:
    """The newer name of a server that is alone in having no namesake."""
    before = {server.name for server in old.servers}
    after = {server.name for server in new.servers}
    gone, fresh = before - after, after - before
    return {gone.pop(): fresh.pop()} if len(gone) == len(fresh) == 1 else {}


def _grouped(entries: list[_Entry], key: Any, renames: dict[str, str]) -> dict[Any, list[_Entry]]:
    groups: dict[Any, list[_Entry]] = {}
    for server, item in entries:
        groups.setdefault(key(server, item, renames), []).append((server, item))
    return groups


def _renamed_entries(removed: list[_Entry], added: list[_Entry]) -> dict[int, int]:
    """The positions of the pairs that are one item under two names, the likest first."""
    pairs: list[tuple[float, int, int]] = []
    candidates = itertools.product(enumerate(removed), enumerate(added))
    for (at, (_, old)), (to, (_, new)) in itertools.islice(candidates, _MAX_PAIRS):
        likeness = _likeness(old, new) if old.kind == new.kind else 0.0
        if likeness >= NEAR:
            pairs.append((-likeness, at, to))
    renamed: dict[int, int] = {}
    for _, at, to in sorted(pairs):
        if at not in renamed and to not in renamed.values():
            renamed[at] = to
    return renamed


def _likeness(old: Item, new: Item) -> float:
    # The contract alone may be shared by several tools, so the description has to agree as well.
    if not old.description or not new.description or old.contract != new.contract:
        return 0.0
    reasons = {error.reason for error in old.errors}, {error.reason for error in new.errors}
    return near(old.description, new.description) if reasons[0] == reasons[1] else 0.0


def near(old: str, new: str) -> float:
    """The likeness of two texts, from 0 to 1; 0 if it is below `NEAR`."""
    before, after = old[:_MAX_TEXT], new[:_MAX_TEXT]
    if before == after:
        return 1.0 if before.strip() else 0.0
    # By default, difflib ignores frequent characters from a length of 200 on, and then finds nothing alike.
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    # These are upper bounds of the ratio, and cost much less.
    if matcher.real_quick_ratio() < NEAR or matcher.quick_ratio() < NEAR:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= NEAR else 0.0


_EFFECTS: Final = {"none": 3, "partial": 2, "unknown": 1, None: 0}
"""How much an entry promises about what was changed."""

_MAX_PAIRS: Final = 400
"""The most pairs of removed and added reasons whose words are compared."""


class Change(NamedTuple):
    """One change.

    Attributes:
        level: How grave it is.
        rule: The id of its rule.
        server: The server, as the newer catalog names it.
        kind: "tool", "resource" or "prompt".
        name: The tool, resource or prompt, as the newer catalog names it.
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
        old: The older catalog.
        new: The newer catalog.
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
        self._count = 0
        """The changes so far, with those of rules at "off"."""
        self._whole = (True, True)
        """Whether the older and the newer item say all that is true of their schemas; source code may not."""
        self._rules = rules
        self._server = ""
        self._item: Item

    def at(self, server: str, item: Item) -> None:
        """Add changes to this item from now on."""
        self._server, self._item = server, item

    def add(self, rule: str, message: str, old: Any = None, new: Any = None, *, error: Failure | None = None) -> None:
        self._count += 1
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
        """Compare an item with its older self. A difference without another rule is `contract-changed`."""
        count = self._count
        self._items(old, new)
        if self._count == count and not _same(_seen_of_item(old), _seen_of_item(new)):
            self.add("contract-changed", "the contract differs in a way that no other rule explains")

    def _items(self, old: Item, new: Item) -> None:
        self._whole = old.defined is None, new.defined is None
        if (old.title, old.description) != (new.title, new.description):
            self.add("description-reworded", "the title or the description was reworded")
        self._hints(old, new)
        self._returned(old, new)
        self._schemas(old, new)
        if old.contract != "none" and new.contract == "none":
            reasons = ", ".join(error.reason for error in old.errors)
            # The lost reasons are part of this change, so they are not reported again.
            self.add("contract-removed", f"the contract was removed{f': it declared {reasons}' if reasons else ''}")
            return
        if old.contract == "none" and new.contract != "none":
            self.add("contract-added", "the contract is new")
            return
        if old.contract == "declared" and new.contract == "unknown":
            self.add("contract-unreadable", "the contract cannot be read in full any more")
        elif old.contract == "unknown" and new.contract == "declared":
            self.add("contract-readable", "the contract can be read in full now")
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
            # A missing hint means false in MCP, so only the way of saying it differs.
            elif before != after:
                self.add("hints-restated", f"whether it is {words} is stated in another way", before, after)
        if old.destructive != new.destructive:
            self.add("destructive-changed", "destructiveHint changed", old.destructive, new.destructive)

    def _returned(self, old: Item, new: Item) -> None:
        # Only source code shows it: a catalog of a running server says nothing either way.
        if old.defined is None or new.defined is None:
            return
        before, after = "returned" in old.failures, "returned" in new.failures
        if after and not before:
            where = f", in {new.returned[0].label}" if new.returned else ""
            self.add("failures-returned", f"it returns failures as data now{where}")
        elif before and not after:
            self.add("failures-raised", "it no longer returns failures as data")

    def _undeclared(self, old: Item, new: Item) -> None:
        if old.defined is None or new.defined is None:
            return
        known = {entry.label for entry in old.undeclared}
        for entry in new.undeclared:
            # A plain exception is masked as INTERNAL_ERROR or its class's code: it tells clients nothing new.
            if entry.label not in known and entry.name is not None:
                self.add("undeclared-added", f"it raises {entry.label} without a declared reason")

    def _schemas(self, old: Item, new: Item) -> None:
        if old.input_schema is None or new.input_schema is None:
            if old.input_schema is not new.input_schema:
                words = "not known any more" if new.input_schema is None else "known now"
                self.add("input-schema-changed", f"the schema of the arguments is {words}")
            return
        for change in compare_schemas(ARGUMENTS, old.input_schema, new.input_schema, whole=self._whole):
            self.add(*change)

    # -- failure modes ---------------------------------------------------------------------------------------------

    def _contract(self, old: Item, new: Item) -> None:
        before = {error.reason: error for error in old.errors}
        after = {error.reason: error for error in new.errors}
        removed = [error for reason, error in before.items() if reason not in after]
        added = [error for reason, error in after.items() if reason not in before]
        for former, renamed in _renamed(removed, added):
            # A client has to write one other name. That is one change, not a removal and an addition.
            removed = [error for error in removed if error.reason != former.reason]
            added = [error for error in added if error.reason != renamed.reason]
            self.add(
                "reason-renamed",
                f"the reason was renamed from {former.reason}",
                former.reason,
                renamed.reason,
                error=renamed,
            )
            self._failure(former, renamed)
        for error in removed:
            # If it can only be read in part, the reason may be in the other part.
            if new.contract == "declared":
                self.add("reason-removed", "the reason was removed", error.code_label, error=error)
        for error in added:
            if old.contract == "declared":
                # If the older contract could be read only in part, the reason may have been in the other part.
                self.add("reason-added", "the reason is new", None, error.code_label, error=error)
        for reason in sorted(before.keys() & after.keys()):
            self._failure(before[reason], after[reason])

    def _failure(self, old: Failure, new: Failure) -> None:
        count = self._count
        self._parts(old, new)
        if self._count == count and not _same(_seen_of(old), _seen_of(new)):
            self.add("contract-changed", "the failure differs in a way that no other rule explains", error=new)

    def _parts(self, old: Failure, new: Failure) -> None:
        if _code_of(old) != _code_of(new) or (old.name != new.name and None not in (old.name, new.name)):
            labels = [old.code_label, new.code_label]
            # Two applications may give one name two numbers.
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
            if before is not None and after is None:
                rule = "retry-withdrawn" if before.retryable else "contract-changed"
                self.add(rule, "the retry advice is gone", before.phrase, error=new)
            elif before is None and after is not None:
                rule = "retry-added" if after.retryable else "contract-changed"
                self.add(rule, f"the retry advice is new: {after.phrase}", None, after.phrase, error=new)
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
        for change in compare_schemas(DATA, old.data_schema, new.data_schema, whole=self._whole):
            self.add(*change, error=new)

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
            ("fallback-arguments-changed", "the fallback arguments", old.fallback_arguments, new.fallback_arguments),
            ("corrective-params-changed", "the corrective parameters", old.corrective_params, new.corrective_params),
        ):
            if not _same(before, after):
                self.add(rule, f"{words} of the recovery changed", before, after, error=new)


def _seen_of(error: Failure) -> Any:
    """The fields of a failure that a client sees."""
    return error.model_dump(exclude={"raised"})


def _seen_of_item(item: Item) -> Any:
    """The fields of a matched item that a client sees."""
    seen = item.model_dump(exclude={"name", "failures", "returned", "undeclared", "defined", "problems", "errors"})
    return {**seen, "errors": [_seen_of(error) for error in sorted(item.errors, key=lambda error: error.reason)]}


def _code_of(error: Failure) -> Any:
    return error.code if error.code is not None else error.name


def _same(old: Any, new: Any) -> bool:
    """Whether two values are the same JSON, in which true is not 1."""
    # Nearly all values are texts; JSON is only needed to tell true from 1.
    if old == new and isinstance(old, str | None):
        return True
    return bool(written(old) == written(new))


def _renamed(removed: list[Failure], added: list[Failure]) -> Iterator[tuple[Failure, Failure]]:
    """The pairs that are one reason under two names: the same code, and nearly the same words."""
    pairs: list[tuple[float, Failure, Failure]] = []
    compared = 0
    for old in removed:
        for new in added:
            if _code_of(old) != _code_of(new):
                continue
            compared += 1
            likeness = 1.0 if (old.when, old.recovery) == (new.when, new.recovery) and old.when else 0.0
            # Only the comparison of different words takes long, so equal ones are recognized beyond the limit too.
            if likeness < 1 and compared <= _MAX_PAIRS:
                likeness = near(f"{old.when}\n{old.recovery}", f"{new.when}\n{new.recovery}")
            if likeness > 0:
                pairs.append((likeness, old, new))
    taken: set[int] = set()
    for _, old, new in sorted(pairs, key=lambda pair: (-pair[0], pair[1].reason, pair[2].reason)):
        if id(old) not in taken and id(new) not in taken:
            taken |= {id(old), id(new)}
            yield old, new
