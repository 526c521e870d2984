"""The overlay of the proxy."""

from __future__ import annotations

from mcpcore.proxy.overlay import json_schema
from pages.markdown import table


def page() -> str:
    """The keys of an overlay of the proxy."""
    schema = json_schema()
    parts = [
        "# The overlay of the proxy",
        "",
        "The file that `mcpcore proxy --overlay FILE` reads, as TOML or, with the suffix `.json`, as JSON. "
        "[overlay.schema.json](overlay.schema.json) is its JSON Schema; [Use servers that you do not own]"
        "(../how-to/proxy.md) has an example. Regular expressions take linear time on any text, so they have no look-around and no "
        "back-references.",
        "",
    ]
    for title, model in (
        ("The file", schema),
        *((name, schema["$defs"][name]) for name in ("OfTool", "Entry", "Match", "After")),
    ):
        rows: list[list[object]] = [
            [f"`{key}`", "yes" if key in model.get("required", []) else "", value.get("description", "")]
            for key, value in model["properties"].items()
        ]
        parts += [f"## {title}", "", model["description"], "", table(["key", "required", "meaning"], rows), ""]
    return "\n".join(parts)
