"""The formats of a catalogue, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcpcore.catalog.model import Catalog

FORMATS: Final = ("md", "json", "html", "python")
"""The formats."""


def render(catalog: Catalog, shape: str) -> str:
    """The catalogue in a format: "md", "json", "html" or "python".

    Raises:
        ValueError: If the format is unknown.
        CatalogError: If the catalogue cannot be written in it.
    """
    match shape:
        case "md":
            from mcpcore.catalog.markdown import to_markdown

            return to_markdown(catalog)
        case "json":
            return catalog.dumps()
        case "html":
            from mcpcore.catalog.page import to_html

            return to_html(catalog)
        case "python":
            from mcpcore.catalog.python import to_python

            return to_python(catalog)
    raise ValueError(f"unknown format {shape!r}; choose one of {', '.join(FORMATS)}")
