"""Finds where the reasons that no test raised would be raised, as the linter sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpcore.testing.reasons.merging import Covered


def find_sites(handlers: Sequence[Covered], root: Path) -> None:
    """Fill in `sites` of the handlers in `root` that have missing reasons; the linter reads only their files."""
    searched = {covered.handler.file: covered for covered in handlers if covered.missing and covered.handler.file}
    if not searched:
        return
    from mcpcore_lint.runner.raises import places_of_reasons

    places = places_of_reasons(searched, str(root))
    for covered in handlers:
        handler = covered.handler
        covered.sites = places.get((handler.file, handler.line), {})
