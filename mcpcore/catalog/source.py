"""Items of a catalogue from source code, as the linter reads it; this package itself never imports the linter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpcore.catalog.model import Item, ServerCatalog, completed
from mcpcore.values.jsonable import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_DEPTH = 60


def item_of_source(record: Mapping[str, Any]) -> Item:
    """The item that the linter's inventory describes, as JSON of the catalogue with the lines of the places."""
    plain: Any = to_json(record, depth=_DEPTH)
    plain["errors"] = [completed(error) for error in plain.get("errors", ())]
    return Item.model_validate(plain)


def with_source(item: Item, source: Item) -> Item:
    """A listed item with what only its source code shows: where it raises and returns its failures."""
    places = {error.reason: error.raised for error in source.errors}
    return item.model_copy(
        update={
            "errors": tuple(error.model_copy(update={"raised": places.get(error.reason, ())}) for error in item.errors),
            # A reason that a contract computes when it runs is declared after all.
            "undeclared": tuple(entry for entry in source.undeclared if entry.reason not in _reasons(item)),
            "failures": tuple({*item.failures, *source.failures}),
            "returned": source.returned,
            "defined": source.defined,
        }
    )


def _reasons(item: Item) -> set[str | None]:
    return {error.reason for error in item.errors}


def servers_of_source(
    name: str, items: Sequence[tuple[Item, str]], problems: Iterable[str] = ()
) -> list[ServerCatalog]:
    """The servers of some source code.

    The code does not always show which server a tool is on. If no name is taken twice, all are on one server, else the
    tools of each file are.

    Args:
        name: The name for the source code: its path.
        items: Each item, with the path of the file that registers it.
        problems: What could not be read.
    """
    keys = [(item.kind, item.name) for item, _ in items]
    if len(set(keys)) == len(keys):
        return [ServerCatalog(name=name, items=tuple(item for item, _ in items), problems=tuple(problems))]
    files: dict[str, list[Item]] = {}
    for item, path in items:
        files.setdefault(path, []).append(item)
    servers = [ServerCatalog(name=path, items=tuple(members)) for path, members in files.items()]
    if any(problems):
        servers.append(ServerCatalog(name=name, problems=tuple(problems)))
    return servers


__all__ = ["item_of_source", "servers_of_source", "with_source"]
