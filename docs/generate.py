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
    vectors,
)

from mcpcore.catalog import json_schema as catalog_schema
from mcpcore.check.reports import json_schema as check_schema
from mcpcore.proxy.overlay import json_schema as overlay_schema

DOCS: Final = Path(__file__).parent


def as_json(schema: dict[str, Any]) -> str:
    """A JSON Schema as a file."""
    return json.dumps(schema, indent=2) + "\n"


def made() -> dict[Path, str]:
    """Every generated page by its place."""
    reference = DOCS / "reference"
    return {
        reference / "codes.md": codes.page(),
        reference / "advice.md": advice.page(),
        reference / "classification.md": classification.page(),
        reference / "dialects.md": dialects.page(),
        reference / "lint-settings.md": lint_settings.page(),
        reference / "options.md": options.page(),
        reference / "commands.md": commands.page(),
        reference / "overlay.md": overlay.page(),
        reference / "diff-rules.md": diff_rules.page(),
        reference / "check.md": check.page(),
        reference / "envelope.schema.json": as_json(schemas.envelope()),
        reference / "contract.schema.json": as_json(schemas.contract()),
        reference / "overlay.schema.json": as_json(overlay_schema()),
        reference / "catalog.schema.json": as_json(catalog_schema()),
        reference / "check.schema.json": as_json(check_schema()),
        DOCS / "explanation" / "what-reaches-the-model.md": reach.page(),
        reference / "vectors" / "mcpcore.json": vectors.own(),
        **figures.pages(),
        **api.pages(),
        **{DOCS / "rules" / name: text for name, text in rules().items()},
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
