"""What an application adds: its own exception types, and its own message patterns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, overload

from mcpcore.classification.by_message import MessageRow
from mcpcore.classification.matcher import Matcher, TextMatch, fold
from mcpcore.classification.phrases import compile_phrase
from mcpcore.codes import is_code
from mcpcore.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpcore.codes import Code

    Answer: TypeAlias = "Code | tuple[Code, Retry] | None"
    F = TypeVar("F", bound=Callable[[Any], Answer])


class Entry:
    """What a type was registered with: a code, or a function that finds one."""

    __slots__ = ("_answer", "_function", "name")

    def __init__(
        self, name: str, answer: tuple[Code, Retry | None] | None, function: Callable[[Any], Answer] | None
    ) -> None:
        self.name = name
        self._answer = answer
        self._function = function

    def answer(self, exc: BaseException) -> tuple[Code, Retry | None] | None:
        """The code and the advice for one exception, or None where the function has no opinion, or fails."""
        if self._function is None:
            return self._answer
        try:
            found = self._function(exc)
        except BaseException as failure:  # noqa: BLE001  # classify never raises; what a function gets wrong is logged
            _complain(f"classifier of {self.name} raised {type(failure).__name__}; it counts as no opinion")
            return None
        if found is None:
            return None
        if type(found) is tuple and len(found) == 2 and is_code(found[0]) and type(found[1]) is Retry:
            return found
        if is_code(found):
            return found, None  # type: ignore[return-value]  # is_code narrows
        _complain(f"classifier of {self.name} returned {type(found).__name__}, not a code; it counts as no opinion")
        return None


_BY_CLASS: Final[dict[type[BaseException], Entry]] = {}
_BY_NAME: Final[dict[str, Entry]] = {}
_ROWS: Final[list[MessageRow]] = []
_PATTERNS: Final[list[tuple[re.Pattern[str], Code, Retry | None]]] = []
_listeners: Final[list[Callable[[], None]]] = []
_matcher: Matcher | None = None


def on_change(listener: Callable[[], None]) -> None:
    """Have `listener` called whenever a type is registered or forgotten."""
    _listeners.append(listener)


@overload
def classifies(
    exception: type[BaseException] | str | tuple[type[BaseException] | str, ...],
) -> Callable[[F], F]: ...
@overload
def classifies(
    exception: type[BaseException] | str | tuple[type[BaseException] | str, ...],
    code: Code,
    *,
    retry: Retry | None = None,
) -> None: ...
def classifies(
    exception: type[BaseException] | str | tuple[type[BaseException] | str, ...],
    code: Code | None = None,
    *,
    retry: Retry | None = None,
) -> Callable[[F], F] | None:
    """Give an application's exceptions their code, and all that are derived from them.

    The nearest base class decides, as in `except` clauses ordered well; for one and the same class, what is registered
    comes before the table. A registered type comes before what its exceptions carry and say.

    With a code: `classifies(MyError, ErrorCode.CONFLICT)`. Without: a decorator for a function that takes the exception
    and returns a code, a code with its `Retry`, or None where it has no opinion and the tables decide.

    >>> @classifies(LedgerError)
    ... def _(exc: LedgerError) -> ErrorCode:
    ...     return ErrorCode.CONFLICT if exc.stale else ErrorCode.DATABASE_ERROR

    Args:
        exception: An exception class; its module and name in one string, such as "stripe.CardError", so that its
            library need not be imported; or several of them.
        code: The code of each.
        retry: The advice, where it is not the code's own. A Retry-After is not looked for where it is given.

    Raises:
        TypeError: If an exception, the code or the advice is not one.
    """
    kinds = exception if isinstance(exception, tuple) else (exception,)
    for kind in kinds:
        if not (isinstance(kind, str) and "." in kind) and not (
            isinstance(kind, type) and issubclass(kind, BaseException)
        ):
            raise TypeError(
                f"classifies({kind!r}): give an exception class, or its module and name in a string such as"
                " 'stripe.CardError'"
            )
    if code is None:
        if retry is not None:
            raise TypeError("classifies(..., retry=...) needs a code; a function returns (code, retry) instead")

        def register(function: F) -> F:
            if not callable(function):
                raise TypeError(f"@classifies(...) decorates a function that takes the exception, not {function!r}")
            for kind in kinds:
                _register(kind, Entry(_label(kind), None, function))
            return function

        return register
    if not is_code(code):
        raise TypeError(f"classifies(..., {code!r}): the code must be an ErrorCode or a CustomCode")
    if retry is not None and not isinstance(retry, Retry):
        raise TypeError(f"classifies(..., retry={retry!r}): the advice must be a Retry, such as Retry.never()")
    for kind in kinds:
        _register(kind, Entry(_label(kind), (code, retry), None))
    return None


def classifies_message(pattern: str | re.Pattern[str], code: Code, *, retry: Retry | None = None) -> None:
    """Add a message pattern; those of the application are read before the table's, in the order added.

    Args:
        pattern: A phrase in the language of `mcpcore.classification.phrases`, such as "ledger .. closed"; or a compiled
            regular expression, searched in the message in lower case, of which 1,500 characters are read.
        code: Its code.
        retry: The advice, where it is not the code's own.

    Raises:
        TypeError: If the pattern, the code or the advice is not one.
        ValueError: If the phrase cannot be read.
    """
    global _matcher  # noqa: PLW0603  # one registry for the process, as the tables are
    if not is_code(code):
        raise TypeError(f"classifies_message(..., {code!r}): the code must be an ErrorCode or a CustomCode")
    if retry is not None and not isinstance(retry, Retry):
        raise TypeError(f"classifies_message(..., retry={retry!r}): the advice must be a Retry, such as Retry.never()")
    if isinstance(pattern, re.Pattern):
        if not isinstance(pattern.pattern, str):
            raise TypeError("classifies_message: the regular expression must be one for text, not for bytes")
        _PATTERNS.append((pattern, code, retry))
        return
    if not isinstance(pattern, str):
        raise TypeError(f"classifies_message({pattern!r}): give a phrase or a compiled regular expression")
    compile_phrase(pattern)
    _ROWS.append(MessageRow(code, (pattern,), retry))
    _matcher = Matcher(_ROWS)


def forget(*exceptions: type[BaseException] | str) -> None:
    """Undo `classifies` for these types, and with none given all that the application has added, patterns included."""
    global _matcher  # noqa: PLW0603  # see classifies_message
    if not exceptions:
        _BY_CLASS.clear()
        _BY_NAME.clear()
        _ROWS.clear()
        _PATTERNS.clear()
        _matcher = None
    for kind in exceptions:
        if isinstance(kind, str):
            _BY_NAME.pop(kind, None)
        else:
            _BY_CLASS.pop(kind, None)
    _changed()


def lookup(kind: type, names: Sequence[str]) -> Entry | None:
    """The entry of one class, not of its bases."""
    found = _BY_CLASS.get(kind)
    if found is None and _BY_NAME:
        found = next((_BY_NAME[name] for name in names if name in _BY_NAME), None)
    return found


def find_message(text: str) -> TextMatch | None:
    """The first of the application's patterns that a bounded text matches."""
    if _matcher is None and not _PATTERNS:
        return None
    text = fold(text)
    if _matcher is not None:
        found = _matcher.find(text)
        if found is not None:
            return found
    for pattern, code, retry in _PATTERNS:
        if pattern.search(text):
            return TextMatch(code, retry, pattern.pattern, None)
    return None


def _register(kind: type[BaseException] | str, entry: Entry) -> None:
    if isinstance(kind, str):
        _BY_NAME[kind] = entry
    else:
        _BY_CLASS[kind] = entry
    _changed()


def _changed() -> None:
    for listener in _listeners:
        listener()


def _label(kind: type[BaseException] | str) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"


def _complain(message: str) -> None:
    # On this path only: a mistake in the application's own function, and no reason to raise.
    import logging

    from mcpcore.escaping import one_line

    logging.getLogger("mcpcore.classify").warning("%s", one_line(message))
