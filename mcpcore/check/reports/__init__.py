"""The reports of a check. All text of the server is escaped for the reader of the format."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore.check.model import Report

FORMATS: Final = ("text", "json", "sarif", "markdown", "junit")
"""The names of the formats; each has a module of that name."""


def render(report: Report, name: str) -> str:
    """The report in a format of `FORMATS`."""
    module = import_module(f"{__name__}.{name}")
    return cast("Callable[[Report], str]", module.render)(report)
