"""Regular expressions that are compiled when they are first asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Lazy:
    """Stands for a pattern, and has its methods once one of them was asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text, self._flags)
        vars(self).update({each: getattr(compiled, each) for each in _ASKED_FOR})
        return getattr(compiled, name)


_ASKED_FOR = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub")


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that is compiled once it is needed: most runs meet few of them, and every one would pay for all."""
    return cast("re.Pattern[AnyStr]", _Lazy(text, flags))


def holds_any(text: str, words: Iterable[str]) -> bool:
    """Whether one of some words stands in a text: what is asked before a pattern that needs one of them."""
    for each in words:  # noqa: SIM110 - asked of every text of every contract, and `any` takes twice as long
        if each in text:
            return True
    return False
