"""Rules of another package, as tests write them."""

from __future__ import annotations

import re
from typing import Any

from mcpcore_lint.codemods import CstRule


class House(CstRule):
    """A rule named after its class, `Names` is `house-names`, with the texts of a page.

    Summary: a test
    Why: It is a test.
    How to fix: Do otherwise.
    When to suppress: Never.

    Bad: x
    Good: y
    """

    def __init_subclass__(cls, **options: Any) -> None:
        cls.id = "house" + re.sub("([A-Z])", r"-\1", cls.__name__).lower()
        super().__init_subclass__(**options)
