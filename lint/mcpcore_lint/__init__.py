"""The linter: it reads MCP servers as text and tells where code and contract part; it never runs them.

Three names are for programs: `lint_paths`, `lint_source` and `Settings`, with the `Report` and the `Diagnostic`s that
they answer with.
"""

from __future__ import annotations

# What `typing` takes to load is more than all else here; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpcore_lint.diagnostics import Diagnostic, Severity
    from mcpcore_lint.runner.engine import Report, lint_paths, lint_source
    from mcpcore_lint.settings import Settings

__all__ = ["Diagnostic", "Report", "Settings", "Severity", "lint_paths", "lint_source"]

_HOMES = {
    "Diagnostic": "diagnostics",
    "Report": "runner.engine",
    "Settings": "settings",
    "Severity": "diagnostics",
    "lint_paths": "runner.engine",
    "lint_source": "runner.engine",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
