"""The settings of the linter."""

from __future__ import annotations

from mcpcore_lint.config import KEYS, SECTION

from pages.markdown import table


def page() -> str:
    """The configuration of the linter."""
    rows: list[list[object]] = [[f"`{name}`", key.kind, key.meaning] for name, key in KEYS.items()]
    head = ["key", "kind", "meaning; default"]
    return "\n".join(
        [
            "# Configuration of the linter",
            "",
            f"The keys of `[{SECTION}]` in `pyproject.toml`. The nearest file that has the section wins, and an unknown key "
            "is an error that names the near one.",
            "",
            table(head, rows),
            "",
        ]
    )
