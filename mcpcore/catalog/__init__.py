"""Contracts as artifacts: a catalog of what servers can fail with, rendered for people and programs, and compared.

`mcpcore catalog` and `mcpcore diff` are built on it:

```python
from mcpcore.catalog import Catalog, compare

old, new = Catalog.read(Path("contracts.lock.json")), Catalog.loads(text)
breaking = [change for change in compare(old, new) if change.level == "breaking"]
```
"""

from __future__ import annotations

from mcpcore.catalog.diff import Change, compare
from mcpcore.catalog.items import item_of_listing
from mcpcore.catalog.model import Catalog, CatalogError, Failure, Item, Place, ServerCatalog, Undeclared, json_schema
from mcpcore.catalog.report import FORMATS, render
from mcpcore.catalog.rules import LEVELS, RULES, Level, Rule, Rules

__all__ = [
    "FORMATS",
    "LEVELS",
    "RULES",
    "Catalog",
    "CatalogError",
    "Change",
    "Failure",
    "Item",
    "Level",
    "Place",
    "Rule",
    "Rules",
    "ServerCatalog",
    "Undeclared",
    "compare",
    "item_of_listing",
    "json_schema",
    "render",
]
