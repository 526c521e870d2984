"""Small catalogs for the tests."""

from __future__ import annotations

from typing import Any

from mcpcore.catalog import Catalog, Failure, Item, ServerCatalog


def failure(reason: str = "no_match", **changes: Any) -> Failure:
    """A failure mode."""
    plain = {
        "reason": reason,
        "name": "NOT_FOUND",
        "code": -32001,
        "when": "Nothing matches the given ids.",
        "recovery": "Call search_articles to find valid ids first.",
        "retry": {"kind": "not_retryable"},
        **changes,
    }
    return Failure.model_validate(plain)


def item(*errors: Failure, **changes: Any) -> Item:
    """A tool with a contract."""
    plain = {"kind": "tool", "name": "fetch", "description": "Fetch articles.", "contract": "declared", **changes}
    return Item.model_validate({**plain, "errors": errors})


def catalog(*items: Item, name: str = "articles") -> Catalog:
    """A catalog of one server."""
    return Catalog.of([ServerCatalog(name=name, items=items)])
