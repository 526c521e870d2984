"""Any exception to its code: by type first, then by what it carries, by its message last.

The tables are data: `by_type.TYPES`, `by_fact`, `by_message.MESSAGES`, `status.STATUS_CODES`. No library is imported to
know its exceptions.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from mcpcore.classify.engine import Explanation, Match, classify, explain
from mcpcore.classify.registry import classifies, classifies_message, forget
from mcpcore.classify.retry_after import parse_retry_after
from mcpcore.classify.status import code_for_status, retry_for_status

if TYPE_CHECKING:
    from mcpcore.codes import Code

__all__ = [
    "Explanation",
    "Match",
    "classifies",
    "classifies_message",
    "classify",
    "code_for_status",
    "explain",
    "forget",
    "parse_retry_after",
    "retry_for_status",
]


class _CallableModule(ModuleType):
    # `mcpcore.classify` is a public function and this package: importing the package puts it in the function's place.
    def __call__(self, exc: BaseException) -> Code:
        """The code of any exception; see `mcpcore.classify.engine.classify`."""
        return classify(exc)


sys.modules[__name__].__class__ = _CallableModule
