"""What source code says of its servers, as the linter reads it; none of the code is imported or run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mcpcore.cli.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore.catalog import Item, ServerCatalog


def root_of(path: Path) -> Path:
    """The folder that paths in a catalogue are relative to: the repository, else the project, else its own folder."""
    absolute = path.absolute()
    folder = absolute if absolute.is_dir() else absolute.parent
    for marker in (".git", "pyproject.toml"):
        for above in (folder, *folder.parents):
            if (above / marker).exists():
                return above
    return folder


def static_servers(path: str, root: Path, *, name: str) -> Sequence[ServerCatalog]:
    """The servers in a file or a folder, read by the linter and never run.

    Raises:
        Problem: If the code cannot be read, or registers nothing.
    """
    from mcpcore_lint.config import ConfigError
    from mcpcore_lint.inventory import take_inventory

    from mcpcore.catalog.source import item_of_source, servers_of_source

    try:
        inventory = take_inventory([path], root=str(root))
    except ConfigError as exc:
        raise Problem(f"the configuration cannot be used: {exc}.") from exc
    # Servers of tests are no servers, unless nothing else was asked for.
    records = [record for record in inventory.items if not record.in_test] or list(inventory.items)
    if not records and inventory.failures:
        raise Problem(f"{name} cannot be read: {inventory.failures[0]}.", hint="correct the file")
    if not records:
        raise Problem(
            f"{name} registers no tools, resources or prompts that can be seen without running it.",
            hint="give the file that registers them, or leave out --static to import the server",
        )
    absolute = Path(path).absolute()
    if absolute != root and absolute.is_relative_to(root):
        name = absolute.relative_to(root).as_posix()
    items = [(item_of_source(record.item), record.path) for record in records]
    return servers_of_source(name, items, inventory.failures)


def source_items(files: Sequence[str], root: Path) -> dict[tuple[str, int], Item]:
    """The items in some files, by the path of the handler and its first line; empty if they cannot be read."""
    from mcpcore_lint.config import ConfigError
    from mcpcore_lint.inventory import take_inventory

    from mcpcore.catalog.source import item_of_source

    try:
        records = take_inventory(files, root=str(root)).items
    except ConfigError:
        return {}
    return {(record.path, record.first): item_of_source(record.item) for record in records}
