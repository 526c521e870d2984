"""Which tool of the newer catalogue is which of the older one."""

from __future__ import annotations

import itertools
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.catalog.model import Catalog, Item, ServerCatalog

NEAR: Final = 0.7
"""From this likeness on, two texts are one text that was reworded."""

_MAX_TEXT: Final = 200
"""Characters of a text that are compared."""

_MAX_PAIRS: Final = 400
"""The most pairs of removed and added items that are compared."""


class Match(NamedTuple):
    """An item in both catalogues, or in one of them.

    Attributes:
        server: The name of the server in the newer catalogue, if it is there.
        old: The item in the older catalogue, or None.
        new: The item in the newer catalogue, or None.
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
    renamed = _renamed(removed, added)
    yield from (Match(added[to][0].name, removed[at][1], added[to][1]) for at, to in renamed.items())
    yield from (Match(server.name, item, None) for at, (server, item) in enumerate(removed) if at not in renamed)
    found = set(renamed.values())
    yield from (Match(server.name, None, item) for to, (server, item) in enumerate(added) if to not in found)


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


def _renamed(removed: list[_Entry], added: list[_Entry]) -> dict[int, int]:
    """The positions of the pairs that are one item under two names, the likest first."""
    pairs: list[tuple[float, int, int]] = []
    candidates = itertools.product(enumerate(removed), enumerate(added))
    for (at, (_, one)), (to, (_, other)) in itertools.islice(candidates, _MAX_PAIRS):
        likeness = _likeness(one, other) if one.kind == other.kind else 0.0
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
    if reasons[0] != reasons[1]:
        return 0.0
    return near(old.description, new.description)


def near(old: str, new: str) -> float:
    """The likeness of two texts, from 0 to 1; 0 if it is below `NEAR`."""
    one, other = old[:_MAX_TEXT], new[:_MAX_TEXT]
    if one == other:
        return 1.0 if one.strip() else 0.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < NEAR or matcher.quick_ratio() < NEAR:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= NEAR else 0.0
