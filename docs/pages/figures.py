"""The hand-written pages with tables that are made: from the results of the benches, from cases of tests, from pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pages import checkers, cost, versions

DOCS: Final = Path(__file__).parents[1]
RESULTS: Final = DOCS.parent / "bench" / "results"


def pages() -> dict[Path, str]:
    """The pages by their paths."""
    proxy, servers, checked = (
        (RESULTS / f"{name}.md").read_text(encoding="utf-8").strip()
        for name in ("proxy", "proxy-servers", "check-servers")
    )
    tables = {
        DOCS / "how-to" / "proxy.md": {"servers": servers, "cost": proxy},
        DOCS / "how-to" / "check.md": {"checked": checked},
        DOCS / "explanation" / "cost.md": {"cost": cost.cost()},
        DOCS / "reference" / "support.md": {"versions": versions.versions()},
        DOCS / "explanation" / "types.md": {"checkers": checkers.checkers()},
    }
    return {page: filled(page.read_text(encoding="utf-8"), made) for page, made in tables.items()}


def filled(text: str, tables: dict[str, str]) -> str:
    """A page whose marked places have their tables: `<!-- name -->` to `<!-- /name -->`."""
    for name, made in tables.items():
        text = re.sub(
            rf"<!-- {name} -->.*?<!-- /{name} -->",
            lambda _, name=name, made=made: f"<!-- {name} -->\n\n{made}\n\n<!-- /{name} -->",
            text,
            flags=re.DOTALL,
        )
    return text
