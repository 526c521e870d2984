"""The exception types and message patterns that an application adds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, overload

from mcpcore.classification.matcher import Matcher, TextMatch, fold
from mcpcore.classification.phrases import PhraseRow, compile_phrase
from mcpcore.contract.codes import Code, Retry, is_code

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Answer: TypeAlias = "Code | tuple[Code, Retry] | None"
    F = TypeVar("F", bound=Callable[[Any], Answer])


class Entry:
    """The registration of a type: a code, or a function that returns one."""

    __slots__ = ("_answer", "_function", "name")

    def __init__(
        self, name: str, answer: tuple[Code, Retry | None] | None, function: Callable[[Any], Answer] | None
    ) -> None:
        self.name = name
        self._answer = answer
        self._function = function

    def answer(self, exc: BaseException) -> tuple[Code, Retry | None] | None:
        """The code and the advice for one exception; None if the function returns None or fails."""
        if self._function is None:
            return self._answer
        try:
            answer = self._function(exc)
        except BaseException as failure:  # noqa: BLE001  # classify never raises; errors of the function are logged
            _warn(f"classifier of {self.name} raised {type(failure).__name__}; it counts as no opinion")
            return None
        if answer is None:
            return None
        if type(answer) is tuple and len(answer) == 2 and is_code(answer[0]) and type(answer[1]) is Retry:
            return answer
        if is_code(answer):
            return answer, None  # type: ignore[return-value]  # is_code narrows
        _warn(f"classifier of {self.name} returned {type(answer).__name__}, not a code; it counts as no opinion")
        return None


_BY_CLASS: Final[dict[type[BaseException], Entry]] = {}
_BY_NAME: Final[dict[str, Entry]] = {}
_ROWS: Final[list[PhraseRow]] = []
_PATTERNS: Final[list[tuple[re.Pattern[str], Code, Retry | None]]] = []
_matcher: Matcher | None = None

PLANS: Final[dict[type[BaseException], Any]] = {}
"""What is known of each type until one is registered or forgotten."""


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
    """Set the code for exceptions of an application, and for their subclasses.

    The nearest registered base class decides. A registration takes precedence over the tables, and over the attributes
    and the message of the exception.

    With a code: `classifies(MyError, ErrorCode.CONFLICT)`. Without a code, it decorates a function that takes the
    exception and returns a code, a code with its `Retry`, or None to let the tables decide.

    ```python
    class LedgerError(Exception):
        stale = True

    @classifies(LedgerError)
    def _(exc: LedgerError) -> ErrorCode:
        return ErrorCode.CONFLICT if exc.stale else ErrorCode.DATABASE_ERROR

    assert classify(LedgerError()) is ErrorCode.CONFLICT
    forget(LedgerError)
    ```

    Args:
        exception: An exception class; its module and name in one string, such as "stripe.CardError", so that its
            library need not be imported; or several of them.
        code: The code of each.
        retry: The advice, if it differs from that of the code. It takes precedence over a Retry-After.

    Raises:
        TypeError: If an argument has the wrong type.
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
    """Add a message pattern; patterns of the application are read before the table.

    All phrases are read before the regular expressions, and each kind in the order added.

    ```python
    classifies_message("ledger .. closed", ErrorCode.CONFLICT)
    assert classify(RuntimeError("the ledger of May is closed")) is ErrorCode.CONFLICT
    forget()
    ```

    Args:
        pattern: A phrase in the language of `mcpcore.classification.phrases`, such as "ledger .. closed"; or a compiled
            regular expression, searched in the message in lower case, of which 1,500 characters are read.
        code: Its code.
        retry: The advice, if it differs from that of the code.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the phrase has a syntax error.
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
    # The matcher compiles its phrases with the first text, but a syntax error has to be raised here.
    compile_phrase(pattern)
    _ROWS.append(PhraseRow(code, (pattern,), retry))
    # A matcher copies its rows, so a new phrase needs a new matcher.
    _matcher = Matcher(_ROWS)


def forget(*exceptions: type[BaseException] | str) -> None:
    """Undo `classifies` for these types; without arguments, remove everything that was added, patterns included.

    ```python
    classifies("stripe.CardError", ErrorCode.CONFLICT)
    forget("stripe.CardError")
    ```

    Args:
        *exceptions: The classes, or their names.
    """
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
    PLANS.clear()


def lookup(kind: type, names: Sequence[str]) -> Entry | None:
    """The entry of one class, not of its bases."""
    entry = _BY_CLASS.get(kind)
    if entry is None and _BY_NAME:
        entry = next((_BY_NAME[name] for name in names if name in _BY_NAME), None)
    return entry


def find_message(text: str) -> TextMatch | None:
    """The first pattern of the application that matches a bounded text."""
    if _matcher is None and not _PATTERNS:
        return None
    text = fold(text)
    if _matcher is not None:
        match = _matcher.find(text)
        if match is not None:
            return match
    for pattern, code, retry in _PATTERNS:
        if pattern.search(text):
            return TextMatch(code, retry, pattern.pattern, None)
    return None


def _register(kind: type[BaseException] | str, entry: Entry) -> None:
    if isinstance(kind, str):
        _BY_NAME[kind] = entry
    else:
        _BY_CLASS[kind] = entry
    # Any type may be a subclass of the new one, so no plan can be kept.
    PLANS.clear()


def _label(kind: type[BaseException] | str) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"


def _warn(message: str) -> None:
    # A mistake in a function of the application is logged, not raised; nothing else here needs logging.
    import logging

    from mcpcore.values.escaping import one_line

    logging.getLogger("mcpcore.classify").warning("%s", one_line(message))
