"""The linter: it checks MCP servers against their contracts without importing or running them.

Programs use `lint_paths`, `lint_source` and `Settings`. The functions return a `Report` of `Diagnostic`s.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs more than this whole module
if TYPE_CHECKING:
    from typing import Any

    from mcpcore_lint.diagnostics import Diagnostic, Severity
    from mcpcore_lint.runner.engine import lint_paths, lint_source
    from mcpcore_lint.runner.results import Report
    from mcpcore_lint.settings import Settings

__all__ = ["Diagnostic", "Report", "Settings", "Severity", "lint_paths", "lint_source"]

_HOMES = {
    "Diagnostic": "diagnostics",
    "Report": "runner.results",
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
