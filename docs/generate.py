"""Writes the generated pages: `python docs/generate.py`. Each has a module in `docs/pages`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from mcpcore_lint.show import pages as rules
from pages import (
    advice,
    api,
    check,
    classification,
    codes,
    commands,
    dialects,
    diff_rules,
    figures,
    lint_settings,
    options,
    overlay,
    reach,
    schemas,
    schemastore,
    teaching,
    vectors,
    versions,
)
from pages.markdown import noted

from mcpcore.catalog import json_schema as catalog_schema
from mcpcore.check.reports import json_schema as check_schema

DOCS: Final = Path(__file__).parent


def made_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas by the names of their files."""
    plain = {
        "envelope.schema.json": schemas.envelope(),
        "contract.schema.json": schemas.contract(),
        "overlay.schema.json": schemastore.overlay(),
        "pyproject.schema.json": schemastore.settings(),
        "catalog.schema.json": catalog_schema(),
        "check.schema.json": check_schema(),
    }
    return {name: schemastore.identified(name, schema) for name, schema in plain.items()}


def made() -> dict[Path, str]:
    """Every generated page by its place."""
    reference = DOCS / "reference"
    tables = {
        "codes.md": (codes.page(), "`mcpcore/contract/codes.py`"),
        "advice.md": (advice.page(), "`mcpcore/contract/effects.py`"),
        "classification.md": (classification.page(), "`mcpcore/classification/`"),
        "dialects.md": (dialects.page(), "`mcpcore/wire/dialects/`"),
        "lint-settings.md": (lint_settings.page(), "`lint/mcpcore_lint/config.py`"),
        "options.md": (options.page(), "the signatures and the docstrings"),
        "commands.md": (commands.page(), "the commands and their help"),
        "overlay.md": (overlay.page(), "`mcpcore/proxy/overlay.py`"),
        "diff-rules.md": (diff_rules.page(), "`mcpcore/catalog/rules.py`"),
        "check.md": (check.page(), "`mcpcore/check/rules.py`"),
        "schemas.md": (schemastore.page(made_schemas()), "`docs/pages/schemastore.py`"),
    }
    return {
        **{reference / name: noted(page, source) for name, (page, source) in tables.items()},
        **{reference / name: json.dumps(schema, indent=2) + "\n" for name, schema in made_schemas().items()},
        DOCS / "explanation" / "what-reaches-the-model.md": reach.page(),
        reference / "client-texts.md": reach.texts(),
        reference / "vectors" / "mcpcore.json": vectors.own(),
        **figures.pages(),
        **versions.badges(),
        **api.pages(),
        **{DOCS / "rules" / name: text for name, text in rules().items()},
        **_made_of_pages(),
    }


def _made_of_pages() -> dict[Path, str]:
    """The files that quote the pages as they are on the disk."""
    return {
        DOCS / "how-to" / "index.md": teaching.guides(),
        DOCS / "llms.txt": teaching.llms(),
        DOCS / "skill" / "SKILL.md": teaching.skill(),
    }


def main() -> int:
    """Write every page; with `--check`, say which are stale."""
    if undescribed := options.problems():
        print("\n".join(undescribed))
        return 1
    pages_now = made()
    stale = [path for path, text in pages_now.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    kept = {path.name for path in pages_now}
    gone = [path for path in (DOCS / "rules").glob("*.md") if path.name not in kept]
    if "--check" in sys.argv:
        for path in (*stale, *gone):
            print(f"stale: {path.relative_to(DOCS)}")
        return 1 if stale or gone else 0
    for path in gone:
        path.unlink()
    for path, text in pages_now.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # Once more, since the pages that they quote may have changed.
    for path, text in _made_of_pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
