"""The names, options and methods that releases of FastMCP and of the SDK changed, as `mcpcore migrate` knows them."""

from __future__ import annotations

from itertools import groupby

from mcpcore_lint.migrate.renames import CONTEXT, DECORATED, GONE, METHODS, MOVED, REMOVED, WHERE_RUN

from pages.markdown import table


def releases() -> str:
    """The tables of the page about the migration."""
    moved: list[list[object]] = [
        [f"`{package}.{name}`", f"`{new.package}.{new.name or name}`", new.release]
        for (package, name), new in MOVED.items()
    ]
    removed: list[list[object]] = [[f"`{package}.{name}`", step] for (package, name), step in REMOVED.items()]
    parts = [
        table(["old name", "new name", "since"], moved),
        "Removed names, each with the next step:",
        table(["removed name", "next step"], removed),
    ]
    for title, kind, changed in (
        ("Removed options of FastMCP servers:", "option", GONE["fastmcp.FastMCP"]),
        ("Removed options of the SDK's server:", "option", GONE["mcpcore.Server"]),
        ("Removed options of the methods that run it:", "option", WHERE_RUN),
        ("Removed options of FastMCP's decorators:", "option", DECORATED),
        ("Removed methods of FastMCP servers:", "method", METHODS),
        ("Methods of FastMCP's context:", "method", CONTEXT),
    ):
        # Names that follow each other with the same step share a row.
        rows: list[list[object]] = [
            [", ".join(f"`{name}`" for name, _ in group), *change]
            for change, group in groupby(changed.items(), key=lambda item: item[1])
        ]
        parts += [title, table([kind, "since", "next step"], rows)]
    return "\n\n".join(parts)
