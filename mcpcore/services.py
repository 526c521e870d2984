"""What service code uses: `guard`, which gives exceptions a code and a record, and errors made from HTTP responses."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import logging
import re
import sys
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from mcpcore.classify.retry_after import as_retry, parse_retry_after
from mcpcore.classify.status import RETRY_AFTER_STATUSES, code_for_status, retry_for_status
from mcpcore.codes import Code, is_code
from mcpcore.contract import FailureMode
from mcpcore.errors import CodedError, failure_of
from mcpcore.governance import call_number, hand_on
from mcpcore.jsonable import clean_text, cut_text, dumps, fit, safe_str, to_json, to_json_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from types import TracebackType
    from typing import Self

    from mcpcore.context import Context
    from mcpcore.jsonable import JSON
    from mcpcore.retry import Retry

__all__ = ["code_for_status", "from_http_response", "from_http_response_async", "guard"]

F = TypeVar("F", bound="Callable[..., Any] | classmethod[Any, ..., Any] | staticmethod[..., Any]")

Target: TypeAlias = "Code | FailureMode[Any] | str"
"""What an exception becomes: a code, a failure mode, or a reason that the calling tool's contract declares."""

_LOGGER: Final = logging.getLogger("mcpcore.services")
_LOGGED: Final = "__mcpcore_logged__"
_LOG_BYTES: Final = 4_096
_BODY_BYTES: Final = 64 * 1024


class guard:  # noqa: N801 - used as `with guard(...)` and `@guard(...)`, as `contextlib.suppress` is
    """Give exceptions of a service a code or a declared reason, and log them once; never swallows.

    Works as `with`, as `async with` and as a decorator of functions and methods, sync and async; one guard may serve
    many functions and many calls at once. A `CodedError` passes through as it is; any other `Exception` becomes one,
    with the exception as its cause. Cancellation and exits pass untouched. In a group, each member becomes what it
    would alone; members that all become the same are told as one.

    The exception's own text goes to the log, in the message and in the traceback without secrets, and never to the
    client. (`LogRecord.exc_info` is the exception as it was: a handler that formats it itself sees all of it.)

    >>> with guard("Store.get", errors={KeyError: ErrorCode.NOT_FOUND}, context={"id": 7}):  # doctest: +SKIP
    ...     return rows[7]
    """

    def __init__(
        self,
        operation: str | None = None,
        *,
        errors: Mapping[type[BaseException] | tuple[type[BaseException], ...], Target] | None = None,
        code: Code | None = None,
        message: str | None = None,
        ctx: Context[Any, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        input: Any = None,  # noqa: A002 - the name that the log has for it
        critical: bool = False,
        include_stack: bool = True,
        error_mapper: Callable[[Exception], BaseException] | None = None,
    ) -> None:
        """Describe the operation.

        Args:
            operation: Its name in the log; a decorated function's own where left out.
            errors: What exceptions become, by type; the most specific type decides, then, in order, a type that the
                exception's own is registered with (`abc`).
            code: What any other exception becomes; left out, what `classify` says.
            message: What the client reads; left out, the declared `when` or the code's own sentence.
            ctx: The context whose contract declares the reasons in `errors`; left out, that of the tool that is
                running.
            context: Facts for the log.
            input: What the operation was given, for the log; or a function that tells it, of the arguments of the
                decorated function.
            critical: Log as critical.
            include_stack: Log the traceback.
            error_mapper: Makes the error to raise, in place of all of the above.

        Raises:
            TypeError: If `code`, or a key or value of `errors`, is none of what it can be.
        """
        if operation is not None and not isinstance(operation, str):
            raise TypeError("guard takes the operation's name; as a decorator, write @guard() or @guard('Store.get')")
        if code is not None and not is_code(code):
            raise TypeError(f"guard(code=...) must be an ErrorCode or a CustomCode, not {code!r}")
        self._errors: dict[type[BaseException], Target] = {}
        for kinds, target in (errors or {}).items():
            for kind in kinds if isinstance(kinds, tuple) else (kinds,):
                _require_caught(kind)
                self._errors[kind] = target
            if not is_code(target) and not isinstance(target, FailureMode | str):
                raise TypeError(f"guard(errors=...) has codes, failure modes or reasons as values, not {target!r}")
        self._operation = operation
        self._code = code
        self._message = message
        self._ctx = ctx
        self._context = context
        self._input = input
        self._critical = critical
        self._include_stack = include_stack
        self._mapper = error_mapper

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise what the exception becomes."""
        if isinstance(exc, Exception):
            self._raise(exc, self._operation or "operation", (), {})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise what the exception becomes."""
        self.__exit__(kind, exc, trace)

    def __call__(self, fn: F) -> F:
        """Guard every call of `fn`, which keeps its signature; a coroutine is guarded until it is done.

        Raises:
            TypeError: If `fn` is no function, or a generator, whose body runs when nobody guards it any more.
        """
        return decorated(fn, "guard", self._guarding)

    def _guarding(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        name = self._operation or getattr(fn, "__qualname__", None) or type(fn).__qualname__

        async def finish(found: Awaitable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            try:
                return await found
            except Exception as exc:
                self._raise(exc, name, args, kwargs)
                raise

        if is_async(fn):

            @functools.wraps(fn)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                return await finish(fn(*args, **kwargs), args, kwargs)

            return guarded_async

        @functools.wraps(fn)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                found = fn(*args, **kwargs)
            except Exception as exc:
                self._raise(exc, name, args, kwargs)
                raise
            return finish(found, args, kwargs) if inspect.iscoroutine(found) else found

        return guarded

    def _raise(self, exc: Exception, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Log `exc`, and raise what it becomes; returns where it stays what it is."""
        becomes = self._becomes(exc, name)
        hand_on(exc, becomes)
        self._log(exc, becomes, name, args, kwargs)
        if becomes is exc:
            return
        if becomes.__cause__ is not None or _is_behind(becomes, exc):
            raise becomes  # a mapper's error has a cause of its own, or is the cause of what it was made from
        raise becomes from exc

    def _becomes(self, exc: Exception, name: str) -> BaseException:
        if self._mapper is not None:
            try:
                mapped = self._mapper(exc)
            except Exception:
                _LOGGER.exception("%s: error_mapper raised; the error goes on as it would without it", name)
            else:
                if isinstance(mapped, BaseException):
                    return mapped
                _LOGGER.error(
                    "%s: error_mapper returned %s, not an exception; the error goes on as it would without it",
                    name,
                    type(mapped).__name__,
                )
        if isinstance(exc, CodedError):
            return exc
        target = self._target(exc)
        if target is None and isinstance(exc, BaseExceptionGroup):
            return self._of_members(exc)
        return self._told(exc, target)

    def _of_members(self, group: Exception) -> Exception:
        """What a group without an entry of its own becomes."""
        from mcpcore.boundary import leaves_of

        leaves = [leaf for leaf in leaves_of(group) if isinstance(leaf, Exception)]
        targets = [None if isinstance(leaf, CodedError) else self._target(leaf) for leaf in leaves]
        coded = any(isinstance(leaf, CodedError) for leaf in leaves)
        if targets and all(target is not None and target == targets[0] for target in targets):
            return self._told(group, targets[0])
        if all(target is None for target in targets):
            return group if coded else self._told(group, None)  # the boundary finds the coded one
        members: list[Exception] = []
        for leaf, target in zip(leaves, targets, strict=True):
            told = leaf if isinstance(leaf, CodedError) else self._told(leaf, target)
            if told is not leaf:
                told.__cause__ = leaf
                hand_on(leaf, told)
            members.append(told)
        return ExceptionGroup("a group of failures", members)

    def _target(self, exc: Exception) -> Target | None:
        for kind in type(exc).__mro__:
            if kind in self._errors:
                return self._errors[kind]
        return next((target for kind, target in self._errors.items() if issubclass(type(exc), kind)), None)

    def _told(self, exc: Exception, target: Target | None) -> CodedError:
        from mcpcore.classify import explain

        explained = explain(exc)
        # What the exception says of its own: a Retry-After, a status that is never worth another try.
        special = None if explained.retry == explained.code.retry else explained.retry
        if target is None:
            code = self._code if self._code is not None else explained.code
            return CodedError(code, self._message, retry=special if code == explained.code else None)
        if isinstance(target, str):
            entry = self._declared(target)
            if entry is None:
                return CodedError(explained.code, self._message, reason=target, retry=special)
            target = entry
        if isinstance(target, FailureMode):
            says_nothing = target.retry is None and target.code == explained.code
            return failure_of(target, self._message, None, retry=special if says_nothing else None)
        return CodedError(target, self._message, retry=special if target == explained.code else None)

    def _declared(self, reason: str) -> FailureMode[Any] | None:
        return declared(reason) if self._ctx is None else self._ctx.contract.get(reason)

    def _log(
        self, exc: Exception, becomes: BaseException, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        if _is_logged(exc):
            _mark(becomes)
            return
        _mark(exc)
        _mark(becomes)
        code = becomes.code if isinstance(becomes, CodedError) else None
        level = logging.CRITICAL if self._critical else _level(code)
        if not _LOGGER.isEnabledFor(level):
            return
        facts: dict[str, Any] = {"operation": name, "error": type(exc).__qualname__}
        if code is not None:
            facts["code"] = code.name
        if isinstance(becomes, CodedError) and becomes.reason is not None:
            facts["reason"] = becomes.reason
        if self._context:
            facts["context"] = _sanitised(self._context)
        given = self._given(args, kwargs)
        if given is not None:
            facts["input"] = _sanitised(given)
        facts = to_json_object(facts)
        stack = (type(exc), exc, exc.__traceback__) if self._include_stack else None
        _LOGGER.log(level, "%s failed: %s %s", name, _line(exc), dumps(facts), exc_info=stack, extra={"mcpcore": facts})

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not callable(self._input):
            return self._input
        try:
            return self._input(*args, **kwargs)
        except Exception as failed:  # noqa: BLE001 - what is told of a failure must not take its place
            return f"input= raised {type(failed).__name__}"


def declared(reason: str) -> FailureMode[Any] | None:
    """The entry of a reason in the contract of the tool that is running."""
    from mcpcore.context import current

    request = current.get()
    return request.contract.get(reason) if request is not None else None


def decorated(fn: F, decorator: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> F:
    """`fn` as `wrap` makes it; what stands under `classmethod` and `staticmethod` is wrapped inside them.

    Raises:
        TypeError: If `fn` is no function, or a generator.
    """
    found: Any = fn
    if isinstance(found, classmethod | staticmethod):
        return cast("F", type(found)(decorated(found.__func__, decorator, wrap)))
    tools: Any = sys.modules.get("mcpcore.tool")
    if tools is not None and isinstance(found, tools.Tool | tools.MethodTool):
        raise TypeError(f"@{decorator}(...) goes below @tool, nearest to the function: it decorates the handler")
    if not callable(found) or isinstance(found, type):
        raise TypeError(f"@{decorator}(...) decorates functions and methods, not {found!r}")
    if inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found):
        raise TypeError(
            f"{decorator} cannot decorate the generator {found.__qualname__}, whose body runs after the call; "
            f"put {decorator}(...) inside it"
        )
    return cast("F", wrap(found))


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether calling `fn`, a function, a partial or a callable object, makes a coroutine, so far as its type tells."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    called: Any = type(fn).__call__
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(called)


def _require_caught(kind: object) -> None:
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        raise TypeError(f"guard(errors=...) has exception types as its keys, not {kind!r}")
    if not issubclass(kind, Exception) and kind not in (BaseException, BaseExceptionGroup):
        raise TypeError(f"guard(errors=...) cannot map {kind.__name__}: cancellation and exits are no failures")


def _is_behind(one: BaseException, exc: BaseException) -> bool:
    """Whether `one` is a cause or a context of `exc`; chaining them the other way round would make a ring."""
    seen: set[int] = set()
    stack: list[BaseException | None] = [exc.__cause__, exc.__context__]
    while stack:
        behind = stack.pop()
        if behind is one:
            return True
        if behind is not None and id(behind) not in seen:
            seen.add(id(behind))
            stack += [behind.__cause__, behind.__context__]
    return False


def _sanitised(value: Any) -> JSON:
    """`value` for the log. As JSON first: a model or a dataclass has its secrets in fields."""
    from mcpcore.redact import redact

    return fit(redact(to_json(value)), _LOG_BYTES)


def _line(exc: BaseException) -> str:
    """The text of an exception in one line, without secrets; redacted before it is cut, lest half of one stays."""
    from mcpcore.redact import redact_text

    text = redact_text(clean_text(safe_str(exc, limit=10_000)))
    return cut_text(text.replace("\r", "\\r").replace("\n", "\\n"), 1_000)


class _WithoutSecrets(logging.Filter):
    """Formats the traceback of a record once, without secrets; the formatters of the standard library keep that."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and not record.exc_text:
            from mcpcore.redact import redact_text

            try:
                record.exc_text = redact_text(logging.Formatter().formatException(cast("Any", record.exc_info)))
            except Exception as failed:  # noqa: BLE001 - formatting calls the exception's own code
                record.exc_text = f"(the traceback could not be formatted: {type(failed).__name__})"
        return True


_LOGGER.addFilter(_WithoutSecrets())


def from_http_response(
    response: Any,
    *,
    service: str | None = None,
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    reason: str | None = None,
    body: bool = False,
    body_limit: int = 2_000,
) -> CodedError:
    """The failure that an HTTP response tells of, to be raised; for httpx, httpx2, requests and aiohttp.

    Sync: a body that has not been read stays unread. The body and the URL without its query go to the log, without
    what looks like a secret; headers and queries go nowhere.

    Args:
        response: A response with a status from 300 up.
        service: What answered, for the message; left out, nothing names it.
        message: Replaces the message.
        data: Facts to add for the client; they have the last word over `status`, `service` and the like.
        reason: The reason of the contract that this failure is; what the contract says of it holds.
        body: Whether the client may see the body, and the problem details (RFC 9457) in it.
        body_limit: Characters of the body that are kept; 0 keeps it out of everything.

    Raises:
        TypeError: If `response` is not a response.
        ValueError: If the response is not a failure.
    """
    content = _read_already(response) if body_limit > 0 else None
    return _http_error(response, content, service, message, data, reason, body=body, limit=body_limit)


async def from_http_response_async(
    response: Any,
    *,
    service: str | None = None,
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    reason: str | None = None,
    body: bool = False,
    body_limit: int = 2_000,
) -> CodedError:
    """As `from_http_response`, and reads a body that has not been read, up to 64 KiB of it.

    A body that is read here cannot be read again. Of one that breaks off, what the client handed over counts.

    Raises:
        TypeError: If `response` is not a response.
        ValueError: If the response is not a failure.
    """
    code_for_status(_status(response))  # refuse what is no failure before anything of it is read
    content = _read_already(response) if body_limit > 0 else None
    if content is None and body_limit > 0:
        found = bytearray()
        try:
            await _read(response, found)
        except Exception as exc:  # noqa: BLE001 - the status tells enough; that the body broke off goes to the log
            _LOGGER.warning("the body of a failed response could not be read whole: %s", type(exc).__qualname__)
        content = bytes(found[:_BODY_BYTES])
    return _http_error(response, content, service, message, data, reason, body=body, limit=body_limit)


def _http_error(
    response: Any,
    content: bytes | None,
    service: str | None,
    message: str | None,
    data: Mapping[str, Any] | None,
    reason: str | None,
    *,
    body: bool,
    limit: int,
) -> CodedError:
    from mcpcore.redact import redact, redact_text

    status = _status(response)
    code = code_for_status(status)
    kind = _header(response, "content-type") or ""
    phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else ""
    text = _text(content, kind) if content else None
    # Redacted before it is cut, lest half of a secret stays.
    told = None if text is None else cut_text(redact_text(text), limit)
    problem: Any = redact(_problem(content, kind)) if text is not None else None
    facts: dict[str, Any] = {"status": status}
    if service is not None:
        facts["service"] = service
    wait = parse_retry_after(_header(response, "retry-after")) if status in RETRY_AFTER_STATUSES else None
    if wait is not None:
        facts["retryAfter"] = wait
    if body and told:
        facts["body"] = told
    if body and problem:
        facts["problem"] = problem
    said = f"{service or 'The service'} answered {status}{f' {phrase}' if phrase else ''}."
    shown = told or (f"({len(content)} bytes that are no text)" if content else "(no body read)")
    _LOGGER.log(
        _level(code),
        "%s answered %d to %s %s: %s",
        service or "a service",
        status,
        _method(response),
        _place(response),
        shown.replace("\r", "\\r").replace("\n", "\\n"),
        extra={"mcpcore": {"service": service, "status": status, "code": code.name, "problem": problem}},
    )
    return CodedError(
        code,
        said if message is None else message,
        {**facts, **_facts_of(data)},
        reason=reason,
        retry=_retry(status, code, wait, reason),
    )


def _retry(status: int, code: Code, wait: float | None, reason: str | None) -> Retry | None:
    """The advice of a response; None where it says no more than its code, and what the contract declares holds."""
    advice = retry_for_status(status) if wait is None else as_retry(wait)
    entry = None if reason is None else declared(reason)
    if entry is not None and entry.retry is not None and (wait is None or not entry.retry.retryable):
        return None
    return None if advice == code.retry else advice


def _facts_of(data: Any) -> Mapping[str, Any]:
    """`data` as a mapping: a model or a dataclass has its facts in fields."""
    if data is None or isinstance(data, Mapping):
        return data or {}
    return to_json_object(data)


_BINARY: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_CHARSETS: Final = re.compile(
    r"utf-?(8|16|32)([-_]?[bl]e)?(-sig)?|us-ascii|ascii|latin-?1|iso-?8859-\d+|windows-\d+|cp\d+|"
    r"shift[-_]jis|euc[-_](jp|kr)|gb(k|2312|18030)|big5|koi8-[ru]",
    re.IGNORECASE,
)
"""Charsets that texts on the web have; Python's other codecs are transformations, of which some are slow."""


def _text(content: bytes, kind: str) -> str | None:
    """A body as text; None where it is none."""
    named = _CHARSET.search(kind)
    charset = named[1] if named is not None and _CHARSETS.fullmatch(named[1]) else "utf-8"
    try:
        text = content.decode(charset, "replace")
    except (LookupError, ValueError):
        text = content.decode("utf-8", "replace")
    strange = len(_BINARY.findall(text))
    return clean_text(text) if strange * 10 <= len(text) else None


_KNOWN_STATUSES: Final = frozenset(status.value for status in HTTPStatus)
_PROBLEM_FIELDS: Final = {"type": str, "title": str, "status": int, "detail": str, "instance": str}
"""RFC 9457, section 3.1."""


def _status(response: Any) -> int:
    status = getattr(response, "status_code", None)
    if status is None:
        status = getattr(response, "status", None)
    if isinstance(status, bool) or not isinstance(status, int):
        raise TypeError(f"not an HTTP response of httpx, requests or aiohttp: {type(response).__qualname__}")
    return int(status)


def _header(response: Any, name: str) -> str | None:
    """A header, whatever case it has: a response made by hand may have a plain dict."""
    headers = getattr(response, "headers", None)
    try:
        value = headers.get(name) if headers is not None else None
        if value is None and isinstance(headers, Mapping):
            value = next((found for key, found in headers.items() if str(key).lower() == name), None)
    except Exception:  # noqa: BLE001 - the status alone makes the failure
        return None
    return value if isinstance(value, str) else None


def _read_already(response: Any) -> bytes | None:
    """The body, where it has been read; nothing is read for it."""
    kept = getattr(response, "_content", None)  # httpx, httpx2, requests
    if kept is None or kept is False:
        kept = getattr(response, "_body", None)  # aiohttp
    return bytes(kept[:_BODY_BYTES]) if isinstance(kept, bytes | bytearray) else None


async def _read(response: Any, found: bytearray) -> None:
    """Read the body into `found`, about as much as is kept; what is there before something breaks stays."""
    if getattr(response, "is_stream_consumed", False) or getattr(response, "_content_consumed", False):
        return
    if hasattr(getattr(response, "stream", None), "__aiter__"):  # httpx, httpx2
        async for chunk in response.aiter_bytes():
            found += chunk
            if len(found) >= _BODY_BYTES:
                return
        return
    stream: Any = getattr(response, "content", None) if hasattr(response, "_body") else None
    if stream is not None:  # aiohttp
        while len(found) < _BODY_BYTES and (chunk := await stream.read(_BODY_BYTES - len(found))):
            found += chunk
        return
    pieces: Any = None
    if hasattr(response, "iter_bytes"):  # httpx, httpx2, sync
        pieces = response.iter_bytes()
    elif hasattr(response, "iter_content"):  # requests
        pieces = response.iter_content(_CHUNK)
    if pieces is not None:
        import anyio.to_thread

        await anyio.to_thread.run_sync(_collect, pieces, found)


_CHUNK: Final = 8 * 1024


def _collect(pieces: Iterable[bytes], found: bytearray) -> None:
    for piece in pieces:
        found += piece
        if len(found) >= _BODY_BYTES:
            return


def _problem(content: bytes | None, kind: str) -> dict[str, Any] | None:
    """The problem details of a response, without extensions; None where it has none."""
    if not content or kind.partition(";")[0].strip().lower() != "application/problem+json":
        return None
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    found: dict[str, Any] = {}
    for name, expected in _PROBLEM_FIELDS.items():
        value = parsed.get(name)
        if isinstance(value, bool) or not isinstance(value, expected):
            continue
        if name in ("type", "instance"):
            value = _without_query(str(value))
        found[name] = cut_text(clean_text(value), 500) if isinstance(value, str) else value
    return found or None


def _without_query(reference: str) -> str:
    """A URI reference without credentials and query."""
    try:
        parts = urlsplit(reference)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
    except ValueError:
        return reference.partition("?")[0]


def _method(response: Any) -> str:
    method = getattr(response, "method", None)
    if not isinstance(method, str):
        try:
            method = response.request.method
        except Exception:  # noqa: BLE001 - a response that was made by hand has no request, and says so by raising
            return "?"
    return method if isinstance(method, str) else "?"


def _place(response: Any) -> str:
    """Where the response came from, without credentials, query and fragment."""
    from mcpcore.redact import redact_text

    try:
        parts = urlsplit(str(response.url))
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except Exception:  # noqa: BLE001 - see _method
        return "?"
    return redact_text(clean_text(place))


def _level(code: Code | None) -> int:
    return logging.ERROR if code is None or code.category == "server" else logging.WARNING


def _is_logged(exc: BaseException) -> bool:
    """Whether a guard further in has logged `exc` in this call; one that is raised in many calls is logged in each."""
    try:
        marked = BaseException.__getattribute__(exc, "__dict__").get(_LOGGED, _UNMARKED)
    except Exception:  # noqa: BLE001 - an exception may refuse even that
        return False
    return marked is not _UNMARKED and marked == call_number()


def _mark(exc: BaseException) -> None:
    # Past the class, which may refuse attributes; where even that fails, each guard on the way logs.
    with contextlib.suppress(Exception):
        BaseException.__setattr__(exc, _LOGGED, call_number())


_UNMARKED: Final = object()
