"""The hand-written pages with tables that are made: from results of the benches, tests, packages and tables of the code."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Final

from pages import checkers, cost, releases, vectors, versions
from pages.markdown import table

DOCS: Final = Path(__file__).parents[1]
RESULTS: Final = DOCS.parent / "bench" / "results"


def pages() -> dict[Path, str]:
    """The pages by their paths."""
    proxy, servers = (
        (RESULTS / f"{name}.md").read_text(encoding="utf-8").strip() for name in ("proxy", "proxy-servers")
    )
    tables = {
        DOCS / "index.md": {"orders": orders()},
        DOCS.parent / "README.md": {"orders": orders()},
        DOCS / "reference" / "proxy.md": {"servers": servers, "cost": proxy},
        DOCS / "reference" / "migrate.md": {"releases": releases.releases()},
        DOCS / "explanation" / "architecture.md": {"packages": packages()},
        DOCS / "explanation" / "cost.md": {"cost": cost.cost()},
        DOCS / "reference" / "support.md": {"versions": versions.versions()},
        DOCS / "how-to" / "typing.md": {"checkers": checkers.checkers()},
        DOCS / "reference" / "vectors" / "README.md": {"names": vectors.names()},
    }
    return {page: filled(page.read_text(encoding="utf-8"), made) for page, made in tables.items()}


def orders() -> str:
    """What an agent gets done at the order desk, with contracts and without."""
    runs = json.loads((RESULTS / "orders.json").read_text(encoding="utf-8"))["runs"]
    rows: list[list[object]] = [
        [run["way"], f"{run['done']} of {len(run['errands'])}", run["doubled"], run["unknown"], f"{run['seconds']:.1f}"]
        for run in runs
    ]
    return table(["server and client", "done", "ordered twice", "paid, reported as failed", "seconds lost"], rows)


def packages() -> str:
    """The packages of the runtime and of the linter, each with the first line of its docstring."""
    rows: list[list[object]] = []
    for home in (DOCS.parent / "mcpcore", DOCS.parent / "lint" / "mcpcore_lint"):
        for path in sorted(home.glob("*/__init__.py")):
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            rows.append([f"`{home.name}.{path.parent.name}`", text.partition("\n")[0]])
    return table(["package", "purpose"], rows)


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
