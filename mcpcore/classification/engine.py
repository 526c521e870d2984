"""Finds the code of an exception: each link of its chain is classified by type, attributes and message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, cast

from mcpcore.classification import registry
from mcpcore.classification.attributes import (
    CARRIERS,
    NUMBERS,
    Reader,
    args_of,
    attributes_of,
    carried_by,
    folded_text,
    get,
    is_exception,
    module_of,
    mro_of,
    name_of,
    namespace_of,
    qualname_of,
    raw_text,
    retry_after,
    status_of,
)
from mcpcore.classification.code_tables import DEFINES_NAMES, PARTS, TYPES, TypeRow
from mcpcore.classification.matcher import (
    Matcher,
    TextMatch,
    mark,
    name_words,
    rows_for,
    with_speech,
    without_names,
    words_of,
)
from mcpcore.classification.phrases import MESSAGES, NAMES, VAGUE_NAMES
from mcpcore.classification.status import RETRY_AFTER_STATUSES, as_retry, in_words
from mcpcore.contract.codes import Code, ErrorCode, Retry, is_code
from mcpcore.values.unwrapping import behind, cause_of, members_of

Layer = Literal["coded", "registered", "type", "carried", "name", "message", "group", "default"]

MAX_LINKS: Final = 64
"""The most exceptions of one chain that are examined."""
MAX_DEPTH: Final = 32
"""The deepest nesting of groups."""
MAX_EXAMINED: Final = 1_000
"""The most exceptions in one call, including members of groups."""


class Match(NamedTuple):
    """The deciding layer, the row of its table, the exception, and the path to it.

    ```python
    match = explain(TimeoutError()).matched
    assert (match.layer, match.row) == ("type", "builtins.TimeoutError")
    ```

    Attributes:
        layer: The layer that decided, such as "type" or "message".
        row: The row of the layer's table.
        exception: The exception that the row was found for: the one passed, or one inside it.
        path: The way to it, such as `__cause__`.
    """

    layer: Layer
    row: str
    exception: BaseException
    path: tuple[str, ...]


class Explanation(NamedTuple):
    """The code of an exception, its retry advice, what matched, and the HTTP status that the exception carries.

    ```python
    explanation = explain(TimeoutError())
    assert (explanation.code, explanation.status) == (ErrorCode.TIMEOUT, None)
    ```

    Attributes:
        code: The code.
        retry: The retry advice.
        matched: What decided.
        status: The HTTP status, or None.
    """

    code: Code
    retry: Retry
    matched: Match
    status: int | None


# The weight of a verdict; a heavier one wins over those of outer exceptions.
_DEFAULT: Final = 0
_FALLBACK: Final = 1
_TEXT: Final = 2
_NAMED: Final = 3
_BUG: Final = 4
_SPECIFIC: Final = 5


class _Verdict(NamedTuple):
    weight: int
    code: Code
    retry: Retry | None
    layer: Layer
    row: str
    exception: BaseException
    path: tuple[str, ...] = ()
    status: int | None = None


class _Plan:
    """The result for a class, before any instance is examined."""

    def __init__(self) -> None:
        self.code: Code | None = None
        """The code, if the class alone decides."""
        self.registered: registry.Entry | None = None
        self.row: TypeRow | None = None
        self.own = False
        """Whether the row takes precedence over the name of the class."""
        self.name: TextMatch | None = None
        self.vague: TextMatch | None = None
        """The match of the name if the message has no match."""
        self.matchers: tuple[Matcher, ...] = ()
        self.numbers: Reader | None = None
        self.parts: tuple[str, ...] = ()
        self.coded = False
        self.group = False
        self.bare = False
        """Whether an instance without attributes cannot carry any fact."""


_PLANS: Final[dict[type[BaseException], _Plan]] = registry.PLANS
_MAX_PLANS: Final = 4_096

_MATCHER: Final = Matcher(rows_for(MESSAGES, None))
_NAME_MATCHER: Final = Matcher(NAMES)
_VAGUE_MATCHER: Final = Matcher(VAGUE_NAMES)
_SCOPED: Final[dict[str, Matcher]] = {
    only: Matcher(rows_for(MESSAGES, only)) for only in {row.only for row in MESSAGES} if only is not None
}


def classify(exc: BaseException) -> Code:
    """The code of any exception: by its type first, then by its attributes, by its message last.

    Causes, contexts, groups and retry errors are searched too. Never raises, and imports nothing.

    ```python
    assert classify(TimeoutError()) is ErrorCode.TIMEOUT
    assert classify(RuntimeError("429 too many requests")) is ErrorCode.RATE_LIMITED
    ```

    Args:
        exc: The exception.
    """
    try:
        plan = _PLANS.get(type(exc)) or _plan(type(exc))
    except BaseException:  # noqa: BLE001  # even hashing a class may raise, by its metaclass
        return ErrorCode.INTERNAL_ERROR
    return plan.code if plan.code is not None else _decide(exc).code


def explain(exc: BaseException) -> Explanation:
    """The code that `classify` returns, with the retry advice and the match.

    The advice is a Retry-After in the exception if the code allows a retry; else that of the row; else that of the
    code. Never raises, and imports nothing.

    ```python
    explanation = explain(ConnectionRefusedError())
    assert explanation.code is ErrorCode.SERVICE_UNAVAILABLE
    assert explanation.retry.retryable
    ```

    Args:
        exc: The exception.
    """
    verdict = _decide(exc)
    match = Match(verdict.layer, verdict.row, verdict.exception, verdict.path)
    status = verdict.status
    try:
        if status is None and not _is_bare(verdict.exception):
            status = status_of(verdict.exception)
        retry = _retry(verdict, status, exc)
    except BaseException:  # noqa: BLE001  # a hostile exception decides nothing
        retry = verdict.retry or verdict.code.retry
    return Explanation(verdict.code, retry, match, status)


def _is_bare(exc: BaseException) -> bool:
    """Whether `exc` has no attribute that could carry a fact, as is so for most of Python's own exceptions."""
    plan = _PLANS.get(type(exc))
    return plan is not None and plan.bare and not attributes_of(exc)


def _decide(exc: BaseException) -> _Verdict:
    try:
        return _search(exc, [MAX_EXAMINED], 0)
    except BaseException:  # noqa: BLE001  # classify never raises
        return _Verdict(_DEFAULT, ErrorCode.INTERNAL_ERROR, None, "default", "", exc)


def _plan(kind: type[BaseException]) -> _Plan:
    plan = _Plan()
    try:
        _fill(plan, kind)
    except BaseException:  # noqa: BLE001  # a metaclass may raise from anything
        # The class cannot be read: the attributes and the message of its instances decide.
        plan = _Plan()
    if len(_PLANS) >= _MAX_PLANS:
        # Classes that a program makes as it runs must not be kept forever.
        _PLANS.clear()
    _PLANS[kind] = plan
    return plan


def _fill(plan: _Plan, kind: type[BaseException]) -> None:
    mro = mro_of(kind)
    plan.group = BaseExceptionGroup in mro
    if BaseException not in mro:
        return
    named = True
    for depth, base in enumerate(mro):
        names = _names(base)
        if names[0] == "mcpcore.contract.errors.CodedError":
            plan.coded = True
        if plan.registered is None and plan.row is None:
            plan.registered = _registered(base, names)
        if plan.row is None:
            for name in names:
                plan.row = TYPES.get(name)
                if plan.row is not None:
                    plan.numbers = NUMBERS.get(name) or NUMBERS.get(name.partition(".")[0])
                    # The name of a subclass says more than a general base class.
                    named = depth > 0 and plan.row.rule == "falls back"
                    plan.own = depth == 0 or plan.row.name not in DEFINES_NAMES or module_of(kind) == "builtins"
                    break
        for name in names:
            if name in PARTS:
                plan.parts = plan.parts or PARTS[name]
            if name in _SCOPED and (plan.row is None or plan.own):
                plan.matchers += (_SCOPED[name],)
    if plan.registered is not None or plan.coded:
        return
    plan.bare = plan.numbers is None and all(
        CARRIERS.isdisjoint(namespace_of(base)) for base in mro if base is not BaseException and base is not object
    )
    row = plan.row
    if row is not None and plan.own and row.rule in {"decides", "bug"} and not plan.group:
        plan.code = row.code
    if not plan.group and (named or not plan.own):
        words = name_words(name_of(kind))
        plan.name = _NAME_MATCHER.find(words)
        plan.vague = _VAGUE_MATCHER.find(words)


def _registered(base: type, names: tuple[str, ...]) -> registry.Entry | None:
    try:
        return registry.lookup(base, names)
    except BaseException:  # noqa: BLE001  # a base that cannot be hashed cannot have been registered
        return None


def _names(kind: type) -> tuple[str, ...]:
    """The names under which a table may list a class: in full, and without inner parts of the module."""
    module = module_of(kind)
    qualname = qualname_of(kind)
    if type(module) is not str:
        return (qualname,)
    parts = module.split(".")[:8]
    return tuple(f"{'.'.join(parts[:count])}.{qualname}" for count in range(len(parts), 0, -1))


def _search(exc: BaseException, budget: list[int], depth: int) -> _Verdict:
    """The verdict on a chain: the outermost specific one, else the outermost of the highest weight."""
    best = _Verdict(_DEFAULT, ErrorCode.INTERNAL_ERROR, None, "default", "", exc)
    queue: list[tuple[BaseException, tuple[str, ...]]] = [(exc, ())]
    seen = {id(exc)}
    position = 0
    while position < len(queue):
        link, path = queue[position]
        position += 1
        if budget[0] <= 0:
            return _Verdict(_SPECIFIC, ErrorCode.INTERNAL_ERROR, None, "default", "too many exceptions", exc)
        budget[0] -= 1
        kind = type(link)
        plan = _PLANS.get(kind) or _plan(kind)
        verdict = _judge(link, plan, path, budget, depth)
        if verdict is not None:
            if verdict.weight == _SPECIFIC:
                return verdict
            if verdict.weight == _BUG:
                # A plain ValueError with a mistake as its cause was raised on purpose.
                translated = (
                    best.weight in {_TEXT, _NAMED}
                    and best.row not in PARTS
                    and (best.layer == "type" or (best.layer == "name" and verdict.row in _LOOKUPS))
                )
                return best if translated else verdict
            if verdict.weight > best.weight:
                best = verdict
        for inner, step in _inside(link, plan):
            if id(inner) not in seen and len(queue) < MAX_LINKS:
                seen.add(id(inner))
                queue.append((inner, (*path, step)))
    return best


def _inside(exc: BaseException, plan: _Plan) -> Iterator[tuple[BaseException, str]]:
    """The exceptions directly inside an exception: its parts, its arguments, its cause or else its context."""
    for name in plan.parts:
        part = get(exc, name)
        if type(part) is dict:
            yield from ((inner, name) for inner in list(part.values())[:8] if is_exception(inner))
        elif type(part) in {tuple, list}:
            yield from ((inner, name) for inner in part[:8] if is_exception(inner))
        elif is_exception(part):
            yield part, name
        else:
            # A finished future keeps its failure there; its method could wait.
            inner = get(part, "_exception")
            if is_exception(inner):
                yield inner, name
    for inner in args_of(exc)[:4]:
        if is_exception(inner):
            yield inner, "args"
    attributes = None if plan.parts else attributes_of(exc)
    if attributes:
        for name, value in list(attributes.items())[:16]:
            # Wrappers keep the inner exception under various names: `original_error`, `reason`, `last_exception`.
            inner = get(value, "_exception") if name in _FUTURES else value
            if is_exception(inner):
                yield inner, name
    inner = behind(exc)
    if inner is not None:
        yield inner, "__context__" if cause_of(exc) is None else "__cause__"


def _judge(exc: BaseException, plan: _Plan, path: tuple[str, ...], budget: list[int], depth: int) -> _Verdict | None:
    if plan.registered is not None:
        answer = plan.registered.answer(exc)
        if answer is not None:
            code, retry = answer
            return _Verdict(_SPECIFIC, code, retry, "registered", plan.registered.name, exc, path)
    if plan.coded:
        code = get(exc, "code")
        if is_code(code):
            retry = get(exc, "retry")
            return _Verdict(_SPECIFIC, code, retry if type(retry) is Retry else None, "coded", code.name, exc, path)
    if plan.group:
        return _judge_group(exc, path, budget, depth)
    row = plan.row
    if row is not None and plan.own and row.rule in {"decides", "bug"}:
        weight = _BUG if row.rule == "bug" else _SPECIFIC
        return _Verdict(weight, row.code, row.retry, "type", row.name, exc, path)
    carried = None if plan.bare and not attributes_of(exc) else carried_by(exc, plan.numbers)
    if carried is not None:
        fact, name, status = carried
        return _Verdict(_SPECIFIC, fact.code, fact.retry, "carried", name, exc, path, status)
    raw: str | None = None
    text = ""
    words: frozenset[str] = frozenset()
    for matcher in plan.matchers:
        if raw is None:
            raw = raw_text(exc)
            text = mark(without_names(raw))
            words = words_of(text)
        said = matcher.find(text, words)
        if said is not None:
            weight = _BUG if said.code is ErrorCode.INTERNAL_ERROR else _SPECIFIC
            return _Verdict(weight, said.code, said.retry, "message", said.phrase, exc, path, said.status)
    if plan.name is not None:
        return _Verdict(_NAMED, plan.name.code, plan.name.retry, "name", plan.name.phrase, exc, path)
    if row is not None and not plan.own and row.rule in {"decides", "bug"} and row.name not in _LOOKUPS:
        weight = _BUG if row.rule == "bug" else _SPECIFIC
        return _Verdict(weight, row.code, row.retry, "type", row.name, exc, path)
    if row is not None and row.rule == "yields":
        weight = _TEXT if row.name.startswith("builtins.") else _NAMED
        return _Verdict(weight, row.code, row.retry, "type", row.name, exc, path)
    if raw is None:
        raw = raw_text(exc)
        text = mark(without_names(raw))
        words = words_of(text)
    said = registry.find_message(raw) or _MATCHER.find(text, words)
    if said is None and (quoted := with_speech(raw)) is not None:
        said = _MATCHER.find(mark(quoted))
    if said is not None:
        return _Verdict(_TEXT, said.code, said.retry, "message", said.phrase, exc, path, said.status)
    if plan.vague is not None:
        return _Verdict(_TEXT, plan.vague.code, plan.vague.retry, "name", plan.vague.phrase, exc, path)
    if row is not None and row.code is not ErrorCode.INTERNAL_ERROR:
        return _Verdict(_FALLBACK, row.code, row.retry, "type", row.name, exc, path)
    return None


_FUTURES: Final = frozenset({"last_attempt", "future"})
"""Attributes in which wrappers keep a finished future with the failure."""
_LOOKUPS: Final = frozenset({"builtins.KeyError", "builtins.IndexError"})


def _judge_group(group: BaseException, path: tuple[str, ...], budget: list[int], depth: int) -> _Verdict:
    """The verdict on a group: the code of its members if all have the same, else INTERNAL_ERROR."""
    if depth >= MAX_DEPTH:
        return _Verdict(_SPECIFIC, ErrorCode.INTERNAL_ERROR, None, "group", "nested too deep", group, path)
    least: _Verdict | None = None
    retry: Retry | None = None
    known: set[type[BaseException]] = set()
    for index, member in enumerate(members_of(group)):
        kind = type(member)
        if kind in known:
            continue
        if (_PLANS.get(kind) or _plan(kind)).code is not None:
            # Another member of the same class has the same code: thousands of them cost nothing.
            known.add(kind)
        verdict = _search(member, budget, depth + 1)
        advice = _retry(verdict, verdict.status, member)
        if least is None:
            least, retry = verdict._replace(path=(*path, f"exceptions[{index}]", *verdict.path)), advice
            continue
        if verdict.code is not least.code:
            return _Verdict(_SPECIFIC, ErrorCode.INTERNAL_ERROR, None, "group", "members differ", group, path)
        if verdict.weight < least.weight and least.weight != _BUG:
            least = verdict._replace(path=(*path, f"exceptions[{index}]", *verdict.path))
        retry = min(cast("Retry", retry), advice, key=lambda retry: retry.caution)
    if least is None:  # pragma: no cover - Python refuses an empty group
        return _Verdict(_DEFAULT, ErrorCode.INTERNAL_ERROR, None, "group", "empty", group, path)
    return least._replace(retry=retry)


def _retry(verdict: _Verdict, status: int | None, outermost: BaseException) -> Retry:
    """The advice for a verdict: the wish of the server, if the code allows a retry."""
    own = verdict.retry
    said = own or verdict.code.retry
    if own is not None and (not own.retryable or verdict.layer in {"coded", "registered"}):
        return own
    if not said.retryable and status not in RETRY_AFTER_STATUSES:
        return said
    # The advice for a group is already the most cautious one of its members.
    if any(step.startswith("exceptions[") for step in verdict.path):
        return said
    seconds = retry_after(verdict.exception)
    if seconds is None:
        seconds = next((wait for link in _links(outermost) if (wait := retry_after(link)) is not None), None)
    if seconds is None and said.retryable:
        seconds = in_words(folded_text(verdict.exception))
    return said if seconds is None else as_retry(seconds)


def _links(exc: BaseException) -> Iterator[BaseException]:
    """An exception and those inside it, nearest first, up to a limit."""
    queue = [exc]
    seen = {id(exc)}
    for link in queue:
        yield link
        for inner, _ in _inside(link, _PLANS.get(type(link)) or _plan(type(link))):
            if id(inner) not in seen and len(queue) < MAX_LINKS:
                seen.add(id(inner))
                queue.append(inner)
