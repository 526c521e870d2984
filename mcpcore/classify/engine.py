"""Any exception to its code: each link of its chain is judged by type, by what it carries and by its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast

from mcpcore.classify import by_fact, registry
from mcpcore.classify.by_fact import Fact
from mcpcore.classify.by_message import MESSAGES
from mcpcore.classify.by_name import NAMES, SERVICE_NAMES, VAGUE_NAMES
from mcpcore.classify.by_type import DEFINES_NAMES, PARTS, TYPES, TypeRow
from mcpcore.classify.matcher import Matcher, TextMatch, bound, fold, mark, name_words, rows_for, words_of
from mcpcore.classify.retry_after import as_retry, in_words, parse_retry_after
from mcpcore.classify.status import RETRY_AFTER_STATUSES, STATUS_RETRY, code_for_status
from mcpcore.codes import ErrorCode, is_code
from mcpcore.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpcore.codes import Code

Layer = Literal["coded", "registered", "type", "carried", "name", "message", "group", "default"]

MAX_LINKS: Final = 64
"""How many exceptions of one chain are looked at."""
MAX_DEPTH: Final = 32
"""How deep groups may be nested in one another."""
MAX_EXAMINED: Final = 1_000
"""How many exceptions are judged in one call, groups and all."""


class Match(NamedTuple):
    """What decided: the layer, the row of its table, the exception it was found on, and the way there."""

    layer: Layer
    row: str
    exception: BaseException
    path: tuple[str, ...]


class Explanation(NamedTuple):
    """The code of an exception, its retry advice, what matched, and the HTTP status that the exception carries."""

    code: Code
    retry: Retry
    matched: Match
    status: int | None


_Carried: TypeAlias = tuple[Fact, str, "int | None"]

# How much a verdict counts: the more, the further out it may come from.
_DEFAULT: Final = 0
_FALLBACK: Final = 1
_TEXT: Final = 2
_BUG: Final = 3
_SPECIFIC: Final = 4


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
    """What is known of a class before any instance is looked at."""

    __slots__ = (
        "bare",
        "code",
        "coded",
        "group",
        "is_os_error",
        "matchers",
        "name",
        "numbers",
        "own",
        "parts",
        "registered",
        "row",
        "vague",
    )

    code: Code | None
    """The answer, where the class alone decides."""
    registered: registry.Entry | None
    row: TypeRow | None
    own: bool
    """Whether the row is the class's own, or one that no derived class's name outdoes."""
    name: TextMatch | None
    vague: TextMatch | None
    """What the name says, for where the message says nothing."""
    matchers: tuple[Matcher, ...]
    numbers: Callable[[BaseException], _Carried | None] | None
    parts: tuple[str, ...]
    coded: bool
    group: bool
    bare: bool
    """Whether the class has nothing to carry, so that an instance without attributes carries nothing."""


_PLANS: Final[dict[type[BaseException], _Plan]] = {}
_MAX_PLANS: Final = 4_096
registry.on_change(_PLANS.clear)

_MATCHER: Final = Matcher(rows_for(MESSAGES, None))
_NAME_MATCHER: Final = Matcher(NAMES)
_SERVICE_MATCHER: Final = Matcher((*SERVICE_NAMES, *(row for row in NAMES if row.code is not ErrorCode.INTERNAL_ERROR)))
_VAGUE_MATCHER: Final = Matcher(VAGUE_NAMES)
_SCOPED: Final[dict[str, Matcher]] = {
    only: Matcher(rows_for(MESSAGES, only)) for only in {row.only for row in MESSAGES} if only is not None
}

# Read past the class: an exception may define attributes of these names that raise or lie.
_mro = type.__dict__["__mro__"].__get__
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_name = type.__dict__["__name__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_class_attribute = type.__getattribute__
_args = cast("Any", BaseException.__dict__["args"]).__get__
_cause = cast("Any", BaseException.__dict__["__cause__"]).__get__
_context = cast("Any", BaseException.__dict__["__context__"]).__get__
_suppress = cast("Any", BaseException.__dict__["__suppress_context__"]).__get__
_attributes = cast("Any", BaseException.__dict__["__dict__"]).__get__
_members = cast("Any", BaseExceptionGroup.__dict__["exceptions"]).__get__


def classify(exc: BaseException) -> Code:
    """The code of any exception: by type first, then by what it carries, by its message last.

    Causes, contexts, groups and retry errors are searched too. Never raises, and imports nothing.
    """
    try:
        plan = _PLANS.get(type(exc)) or _plan(type(exc))
    except BaseException:  # noqa: BLE001  # even hashing a class may raise, by its metaclass
        return ErrorCode.INTERNAL_ERROR
    return plan.code if plan.code is not None else _decide(exc).code


def explain(exc: BaseException) -> Explanation:
    """The code of any exception as `classify` gives it, with the retry advice and what matched.

    The advice is a Retry-After that the exception carries, where the code leaves it open; else the row's; else the
    code's. Never raises, and imports nothing.
    """
    verdict = _decide(exc)
    match = Match(verdict.layer, verdict.row, verdict.exception, verdict.path)
    status = verdict.status
    try:
        if status is None:
            status = _status_of(verdict.exception)
        retry = _retry(verdict, status, exc)
    except BaseException:  # noqa: BLE001  # a hostile exception decides nothing
        retry = verdict.retry or verdict.code.retry
    return Explanation(verdict.code, retry, match, status)


def _decide(exc: BaseException) -> _Verdict:
    try:
        return _search(exc, [MAX_EXAMINED], 0)
    except BaseException:  # noqa: BLE001  # classify never raises: what cannot be read is nobody's fault but ours
        return _Verdict(_DEFAULT, ErrorCode.INTERNAL_ERROR, None, "default", "", exc)


def _plan(kind: type[BaseException]) -> _Plan:
    plan = _blank()
    try:
        _fill(plan, kind)
    except BaseException:  # noqa: BLE001  # a metaclass may raise from anything
        # What the class says cannot be read: what its instances carry and say decides, here as in `explain`.
        plan = _blank()
    if len(_PLANS) >= _MAX_PLANS:
        # Classes made on the fly must not be kept for good.
        _PLANS.clear()
    _PLANS[kind] = plan
    return plan


def _blank() -> _Plan:
    plan = _Plan()
    plan.code = plan.registered = plan.row = plan.name = plan.vague = plan.numbers = None
    plan.matchers = ()
    plan.own = False
    plan.parts = ()
    plan.coded = plan.group = plan.bare = False
    return plan


def _fill(plan: _Plan, kind: type[BaseException]) -> None:
    mro = _mro(kind)
    plan.group = BaseExceptionGroup in mro
    if BaseException not in mro:
        return
    for depth, base in enumerate(mro):
        names = _names(base)
        if names[0] == "mcpcore.errors.CodedError":
            plan.coded = True
        if plan.registered is None and plan.row is None:
            plan.registered = _registered(base, names)
        if plan.row is None:
            for name in names:
                plan.row = TYPES.get(name)
                if plan.row is not None:
                    plan.numbers = _NUMBERS.get(name) or _NUMBERS.get(name.partition(".")[0])
                    plan.own = depth == 0 or plan.row.name not in DEFINES_NAMES or _module(kind) == "builtins"
                    break
        for name in names:
            if name in PARTS:
                plan.parts = plan.parts or PARTS[name]
            if name in _SCOPED and (plan.row is None or plan.own):
                plan.matchers += (_SCOPED[name],)
    if plan.registered is not None or plan.coded:
        return
    plan.bare = plan.numbers is None and all(_CARRIERS.isdisjoint(_namespace(base)) for base in mro[:-1])
    row = plan.row
    if row is not None and plan.own:
        if row.rule in {"decides", "bug"} and not plan.group:
            plan.code = row.code
    elif not plan.group:
        words = name_words(_name(kind))
        plan.name = _NAME_MATCHER.find(words)
        plan.vague = _VAGUE_MATCHER.find(words)


def _registered(base: type, names: tuple[str, ...]) -> registry.Entry | None:
    try:
        return registry.lookup(base, names)
    except BaseException:  # noqa: BLE001  # a base that cannot be hashed cannot have been registered
        return None


def _names(kind: type) -> tuple[str, ...]:
    """The names of a class that a table may have: whole, and with inner parts of the module left out."""
    module = _module(kind)
    qualname = _qualname(kind)
    if type(module) is not str:
        return (qualname,)
    parts = module.split(".")[:8]
    return tuple(f"{'.'.join(parts[:count])}.{qualname}" for count in range(len(parts), 0, -1))


def _search(exc: BaseException, budget: list[int], depth: int) -> _Verdict:
    """The verdict on a chain: the outermost specific one; else the outermost that counts at all."""
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
                # A mistake that a plain ValueError was made of was translated on purpose.
                translated = best.weight == _TEXT and best.layer == "type" and best.row not in PARTS
                return best if translated else verdict
            if verdict.weight > best.weight:
                best = verdict
        for inner, step in _inside(link, plan):
            if id(inner) not in seen and len(queue) < MAX_LINKS:
                seen.add(id(inner))
                queue.append((inner, (*path, step)))
    return best


def _inside(exc: BaseException, plan: _Plan) -> Iterator[tuple[BaseException, str]]:
    """The exceptions directly inside one: its parts, its arguments, its cause or else its context."""
    for name in plan.parts:
        part = _get(exc, name)
        if type(part) is dict:
            yield from ((inner, name) for inner in list(part.values())[:8] if _is_exception(inner))
        elif type(part) in {tuple, list}:
            yield from ((inner, name) for inner in part[:8] if _is_exception(inner))
        elif _is_exception(part):
            yield part, name
        else:
            # A finished future holds its failure there; asking its method could wait.
            inner = _get(part, "_exception")
            if _is_exception(inner):
                yield inner, name
    for inner in _args(exc)[:4]:
        if _is_exception(inner):
            yield inner, "args"
    inner = _cause(exc)
    if inner is not None:
        yield inner, "__cause__"
    elif not _suppress(exc):
        inner = _context(exc)
        if inner is not None:
            yield inner, "__context__"


def _is_exception(value: object) -> bool:
    # isinstance would ask the value for its __class__.
    return BaseException in _mro(type(value))


def _judge(exc: BaseException, plan: _Plan, path: tuple[str, ...], budget: list[int], depth: int) -> _Verdict | None:
    if plan.registered is not None:
        answer = plan.registered.answer(exc)
        if answer is not None:
            code, retry = answer
            return _Verdict(_SPECIFIC, code, retry, "registered", plan.registered.name, exc, path)
    if plan.coded:
        code = _get(exc, "code")
        if is_code(code):
            retry = _get(exc, "retry")
            return _Verdict(_SPECIFIC, code, retry if type(retry) is Retry else None, "coded", code.name, exc, path)
    if plan.group:
        return _judge_group(exc, path, budget, depth)
    row = plan.row
    if row is not None and plan.own and row.rule in {"decides", "bug"}:
        weight = _BUG if row.rule == "bug" else _SPECIFIC
        return _Verdict(weight, row.code, row.retry, "type", row.name, exc, path)
    carried = None if plan.bare and not _attributes(exc) else _carried(exc, plan)
    if carried is not None:
        fact, name, status = carried
        return _Verdict(_SPECIFIC, fact.code, fact.retry, "carried", name, exc, path, status)
    raw: str | None = None
    text = ""
    words: frozenset[str] = frozenset()
    for matcher in plan.matchers:
        if raw is None:
            raw = _raw(exc)
            text = mark(raw)
            words = words_of(text)
        said = matcher.find(text, words)
        if said is not None:
            weight = _BUG if said.code is ErrorCode.INTERNAL_ERROR else _SPECIFIC
            return _Verdict(weight, said.code, said.retry, "message", said.phrase, exc, path, said.status)
    if plan.name is not None:
        return _Verdict(_TEXT, plan.name.code, plan.name.retry, "name", plan.name.phrase, exc, path)
    if row is not None and not plan.own and row.rule in {"decides", "bug"} and row.name not in _LOOKUPS:
        weight = _BUG if row.rule == "bug" else _SPECIFIC
        return _Verdict(weight, row.code, row.retry, "type", row.name, exc, path)
    if row is not None and row.rule == "yields":
        return _Verdict(_TEXT, row.code, row.retry, "type", row.name, exc, path)
    if raw is None:
        raw = _raw(exc)
        text = mark(raw)
        words = words_of(text)
    said = registry.find_message(raw) or _MATCHER.find(text, words)
    if said is not None:
        return _Verdict(_TEXT, said.code, said.retry, "message", said.phrase, exc, path, said.status)
    if plan.vague is not None:
        return _Verdict(_TEXT, plan.vague.code, plan.vague.retry, "name", plan.vague.phrase, exc, path)
    if row is not None and row.code is not ErrorCode.INTERNAL_ERROR:
        return _Verdict(_FALLBACK, row.code, row.retry, "type", row.name, exc, path)
    return None


_CARRIERS: Final = frozenset({
    "__getattr__", "__getattribute__", "__slots__", "response", "code", "grpc_status_code", "sqlstate", "pgcode",
    "status_code", "status", "http_status", "errcode", "meta", "errno",
})  # fmt: skip
"""What a class defines where its instances may carry a fact without an attribute of their own."""
_LOOKUPS: Final = frozenset({"builtins.KeyError", "builtins.IndexError"})


def _judge_group(group: BaseException, path: tuple[str, ...], budget: list[int], depth: int) -> _Verdict:
    """The verdict on a group: its members' code where all have the same, else INTERNAL_ERROR."""
    if depth >= MAX_DEPTH:
        return _Verdict(_SPECIFIC, ErrorCode.INTERNAL_ERROR, None, "group", "nested too deep", group, path)
    least: _Verdict | None = None
    retry: Retry | None = None
    known: set[type[BaseException]] = set()
    for index, member in enumerate(_members(group)):
        kind = type(member)
        if kind in known:
            continue
        if (_PLANS.get(kind) or _plan(kind)).code is not None:
            # Another of the same class says nothing new, and thousands of them cost nothing.
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
        retry = _longer(cast("Retry", retry), advice)
    if least is None:  # pragma: no cover - Python refuses an empty group
        return _Verdict(_DEFAULT, ErrorCode.INTERNAL_ERROR, None, "group", "empty", group, path)
    return least._replace(retry=retry)


def _longer(one: Retry, other: Retry) -> Retry:
    """The more cautious of two pieces of advice."""
    if not one.retryable or not other.retryable:
        return Retry.never()
    return one if (one.seconds or 0) >= (other.seconds or 0) else other


def _get(holder: object, name: str) -> Any:
    """An attribute, or None where there is none or where it raises."""
    try:
        return getattr(holder, name, None)
    except BaseException:  # noqa: BLE001  # a property may raise anything
        return None


def _int(value: object) -> int | None:
    """A number that is really one: no bool, no string of digits."""
    kind = type(value)
    if kind is int:
        return cast("int", value)
    if kind is not bool and int in _mro(kind):
        return int.__index__(cast("int", value))
    return None


def _status(value: object) -> int | None:
    """An HTTP status in any form that clients give it: a number, three digits, or a member of an enumeration."""
    number = _int(value)
    if number is None:
        kind = type(value)
        if kind is str:
            text = cast("str", value)
            number = int(text) if len(text) == 3 and text.isascii() and text.isdigit() else None
        elif kind is not bool and any(base.__name__ == "Enum" for base in _mro(kind)):
            number = _int(_get(value, "value"))
    return number


def _raw(exc: BaseException) -> str:
    """The message, in bounds: without asking for the repr of arguments that may be huge."""
    try:
        if _class_attribute(type(exc), "__str__") is BaseException.__str__:
            args = _args(exc)
            if len(args) != 1:
                return bound(" ".join(arg[:400] if type(arg) is str else str(arg) if type(arg) is int else ""
                                      for arg in args[:6]))  # fmt: skip
            if type(args[0]) is str:
                return bound(args[0])
            if _is_exception(args[0]):
                return ""
        text = str(exc)
        return bound(text if type(text) is str else str.__str__(text))
    except BaseException:  # noqa: BLE001  # __str__ may raise anything
        return ""


def _text(exc: BaseException) -> str:
    return fold(_raw(exc))


def _carried(exc: BaseException, plan: _Plan) -> _Carried | None:
    """What an exception carries: the fact, its name in the table, and the HTTP status where that is what it is."""
    if plan.numbers is not None:
        found = plan.numbers(exc)
        if found is not None:
            return found
    response = _get(exc, "response")
    if type(response) is dict:
        error = response.get("Error")
        name = error.get("Code") if type(error) is dict else None
        if type(name) is str:
            fact = by_fact.SERVICE_CODES.get(name)
            said = _SERVICE_MATCHER.find(name_words(name)) if fact is None else None
            if said is not None:
                # A code that no table has still says in its name what HTTP's 400 does not.
                fact = Fact(cast("ErrorCode", said.code), said.retry)
            if fact is not None:
                return fact, f"service code {name}", _status_of(exc)
    code = _get(exc, "code")
    if type(code) is str:
        fact = by_fact.SERVICE_CODES.get(code)
        if fact is not None:
            return fact, f"service code {code}", _status_of(exc)
    elif code is not None and callable(code):
        try:
            code = code()
        except BaseException:  # noqa: BLE001  # a foreign method may raise anything
            code = None
        called = _grpc(code)
        if called is not None:
            return called
    called = _grpc(_get(exc, "grpc_status_code"))
    if called is not None:
        return called
    for name in ("sqlstate", "pgcode"):
        state = _get(exc, name)
        if type(state) is str and len(state) == 5:
            fact = by_fact.by_sqlstate(state.upper())
            if state == "57014" and "user request" in _text(exc):
                # One SQLSTATE for two things: a statement timeout, and somebody's cancellation.
                fact = Fact(ErrorCode.REQUEST_CANCELLED)
            if fact is not None:
                return fact, f"SQLSTATE {state}", None
    status = _status_of(exc)
    if status is not None:
        return Fact(cast("ErrorCode", code_for_status(status)), STATUS_RETRY.get(status)), f"HTTP {status}", status
    number = _int(_get(exc, "errno"))
    if number is not None:
        fact = by_fact.ERRNO.get(number)
        if fact is not None:
            return fact, f"errno {number}", None
    return None


def _grpc(status: object) -> _Carried | None:
    name = _get(status, "name") if status is not None else None
    fact = by_fact.GRPC.get(name) if type(name) is str else None
    return None if fact is None else (fact, f"gRPC {name}", None)


def _status_of(exc: BaseException) -> int | None:
    """The HTTP status of a failed response that an exception is or holds."""
    for name in ("status_code", "status", "http_status", "errcode"):
        status = _status(_get(exc, name))
        if status is not None and 300 <= status <= 599:
            return status
    status = _int(_get(exc, "code"))
    if status is not None and 400 <= status <= 599:
        return status
    response = _get(exc, "response")
    if type(response) is dict:
        metadata = response.get("ResponseMetadata")
        status = _int(metadata.get("HTTPStatusCode")) if type(metadata) is dict else None
        return status if status is not None and 300 <= status <= 599 else None
    for holder in (response, _get(exc, "meta")):
        if holder is not None:
            for name in ("status_code", "status"):
                status = _status(_get(holder, name))
                if status is not None and 300 <= status <= 599:
                    return status
    return None


def _retry(verdict: _Verdict, status: int | None, outermost: BaseException) -> Retry:
    """The advice that goes with a verdict: a server's own wish, where the code leaves it open."""
    own = verdict.retry
    said = own or verdict.code.retry
    if own is not None and (not own.retryable or verdict.layer in {"coded", "registered"}):
        return own
    if not said.retryable and status not in RETRY_AFTER_STATUSES:
        return said
    if any(step.startswith("exceptions[") for step in verdict.path):
        return said
    seconds = _retry_after(verdict.exception)
    if seconds is None:
        seconds = next((wait for link in _links(outermost) if (wait := _retry_after(link)) is not None), None)
    if seconds is None and said.retryable:
        seconds = in_words(_text(verdict.exception))
    return said if seconds is None else as_retry(seconds)


def _links(exc: BaseException) -> Iterator[BaseException]:
    """An exception and those inside it, nearest first, in bounds."""
    queue = [exc]
    seen = {id(exc)}
    for link in queue:
        yield link
        for inner, _ in _inside(link, _PLANS.get(type(link)) or _plan(type(link))):
            if id(inner) not in seen and len(queue) < MAX_LINKS:
                seen.add(id(inner))
                queue.append(inner)


def _retry_after(exc: BaseException) -> float | None:
    """The wait that an exception carries, in seconds: as an attribute, a header, or a detail of gRPC's."""
    seconds = parse_retry_after(_get(exc, "retry_after"))
    if seconds is not None:
        return seconds
    response = _get(exc, "response")
    if type(response) is dict:
        metadata = response.get("ResponseMetadata")
        holders = [metadata.get("HTTPHeaders")] if type(metadata) is dict else []
    else:
        holders = [_get(holder, "headers") for holder in (exc, response, _get(exc, "meta")) if holder is not None]
    for headers in holders:
        milliseconds = parse_retry_after(_header(headers, "retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        seconds = parse_retry_after(_header(headers, "retry-after"))
        if seconds is not None:
            return seconds
    details = _get(exc, "details")
    if type(details) in {list, tuple}:
        for detail in details[:16]:
            delay = _get(detail, "retry_delay")
            whole, nanos = _int(_get(delay, "seconds")), _int(_get(delay, "nanos"))
            if whole is not None:
                return parse_retry_after(whole + (nanos or 0) / 1e9)
    return None


def _header(headers: Any, name: str) -> object:
    """One header of any client's headers, whether they look at case or not."""
    for spelling in (name, name.title()):
        try:
            value = headers.get(spelling)
        except BaseException:  # noqa: BLE001  # headers are a foreign object
            return None
        if value is not None:
            return cast("object", value)
    return None


def _sqlite(exc: BaseException) -> _Carried | None:
    code = _int(_get(exc, "sqlite_errorcode"))
    fact = None if code is None else by_fact.by_sqlite(code)
    return None if fact is None else (fact, f"SQLite {code}", None)


def _mysql(exc: BaseException) -> _Carried | None:
    args = _args(exc)
    number = _int(_get(exc, "errno"))
    if number is None and args:
        number = _int(args[0])
    fact = None if number is None else by_fact.MYSQL.get(number)
    return None if fact is None else (fact, f"MySQL {number}", None)


def _mongo(exc: BaseException) -> _Carried | None:
    number = _int(_get(exc, "code"))
    details = _get(exc, "details")
    errors = details.get("writeErrors") if type(details) is dict else None
    if type(errors) is list and errors and type(errors[0]) is dict:
        number = _int(errors[0].get("code"))
    fact = None if number is None else by_fact.MONGO.get(number)
    if fact is not None:
        return fact, f"MongoDB {number}", None
    # Its other codes are the server's own numbers, never HTTP statuses.
    return None if number is None else (Fact(ErrorCode.DATABASE_ERROR), f"MongoDB {number}", None)


def _redis(exc: BaseException) -> _Carried | None:
    args = _args(exc)
    if args and type(args[0]) is str:
        word = args[0][:40].partition(" ")[0].rstrip(":")
        fact = by_fact.REDIS.get(word)
        if fact is not None:
            return fact, f"Redis {word}", None
    return None


def _odbc(exc: BaseException) -> _Carried | None:
    args = _args(exc)
    if args and type(args[0]) is str and len(args[0]) == 5:
        fact = by_fact.by_sqlstate(args[0])
        if fact is not None:
            return fact, f"SQLSTATE {args[0]}", None
    return None


def _aiohttp(exc: BaseException) -> _Carried | None:
    """An answer that is no HTTP: the client gives it status 400, though the server is at fault."""
    inner = _cause(exc) or _context(exc)
    if inner is not None and "aiohttp.http_exceptions.HttpProcessingError" in map(_full_name, _mro(type(inner))):
        return Fact(ErrorCode.SERVICE_UNAVAILABLE), "an answer that is no HTTP", None
    return None


def _xmlrpc(exc: BaseException) -> _Carried | None:
    number = _int(_get(exc, "faultCode"))
    fact = None if number is None else by_fact.JSONRPC.get(number)
    # Only the numbers of the specification for fault codes; others are each server's own.
    return None if fact is None or number not in _XMLRPC else (fact, f"XML-RPC {number}", None)


_XMLRPC: Final = frozenset((-32700, -32600, -32601, -32602))


def _full_name(kind: type) -> str:
    return f"{_module(kind)}.{_qualname(kind)}"


def _elastic(exc: BaseException) -> _Carried | None:
    name = _get(exc, "error")
    fact = by_fact.SERVICE_CODES.get(name) if type(name) is str else None
    return None if fact is None else (fact, f"service code {name}", _status_of(exc))


def _jsonrpc(exc: BaseException) -> _Carried | None:
    number = _int(_get(_get(exc, "error"), "code"))
    fact = None if number is None else by_fact.JSONRPC.get(number)
    return None if fact is None else (fact, f"JSON-RPC {number}", None)


def _syntax(exc: BaseException) -> _Carried | None:
    filename = _get(exc, "filename")
    if type(filename) is str and not filename.startswith("<"):
        # A module of the program that does not parse; text given to compile() has a name such as <string>.
        return Fact(ErrorCode.INTERNAL_ERROR), "SyntaxError in a file", None
    return None


_NUMBERS: Final[dict[str, Callable[[BaseException], _Carried | None]]] = {
    "sqlite3": _sqlite,
    **dict.fromkeys(("pymysql", "MySQLdb", "mysql", "mariadb", "aiomysql"), _mysql),
    "pymongo": _mongo,
    "redis": _redis,
    "valkey": _redis,
    "pyodbc": _odbc,
    "aiohttp": _aiohttp,
    "xmlrpc.Fault": _xmlrpc,
    "elasticsearch": _elastic,
    "opensearchpy": _elastic,
    "mcp": _jsonrpc,
    "builtins.SyntaxError": _syntax,
}
"""Where a family of exceptions keeps numbers that only it has, by the first part of the row's name or the whole."""
