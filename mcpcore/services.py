"""What service code uses: `guard`, which gives exceptions a code and a record, and errors made from HTTP responses."""

from __future__ import annotations

import functools
import inspect
import json
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from mcpcore.classify.retry_after import as_retry, parse_retry_after
from mcpcore.classify.status import RETRY_AFTER_STATUSES, code_for_status, retry_for_status
from mcpcore.codes import Code, is_code
from mcpcore.contract import FailureMode
from mcpcore.errors import CodedError, failure_of
from mcpcore.jsonable import clean_text, cut_text, dumps, fit, safe_str, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    from mcpcore.context import Context

__all__ = ["code_for_status", "from_http_response", "from_http_response_async", "guard"]

P = ParamSpec("P")
T = TypeVar("T")

Target: TypeAlias = "Code | FailureMode[Any] | str"
"""What an exception becomes: a code, a failure mode, or a reason that the calling tool's contract declares."""

_LOGGER: Final = logging.getLogger("mcpcore.services")
_LOGGED: Final = "__mcpcore_logged__"
_LOG_BYTES: Final = 4_096
_BODY_BYTES: Final = 64 * 1024


class guard:  # noqa: N801 - used as `with guard(...)` and `@guard(...)`, as `contextlib.suppress` is
    """Give exceptions of a service a code or a declared reason, and log them once; never swallows.

    Works as `with`, as `async with` and as a decorator of sync and async functions. A `CodedError` passes through as it
    is; any other `Exception` becomes one, with the exception as its cause. The exception's own text goes to the log,
    without secrets, and never to the client.

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
            errors: What exceptions become, by type; the most specific type decides.
            code: What any other exception becomes; left out, what `classify` says.
            message: What the client reads; left out, the declared `when` or the code's own sentence.
            ctx: The context whose contract declares the reasons in `errors`; left out, that of the tool that is
                running.
            context: Facts for the log.
            input: What the operation was given, for the log; for a decorator, a function of its arguments.
            critical: Log as critical.
            include_stack: Log the traceback.
            error_mapper: Makes the error to raise, in place of all of the above.

        Raises:
            TypeError: If `code` or a value of `errors` is none of what it can be.
        """
        if callable(operation) or (operation is not None and not isinstance(operation, str)):
            raise TypeError("guard takes the operation's name; as a decorator, write @guard() or @guard('Store.get')")
        if code is not None and not is_code(code):
            raise TypeError(f"guard(code=...) must be an ErrorCode or a CustomCode, not {code!r}")
        for kinds, target in (errors or {}).items():
            for kind in kinds if isinstance(kinds, tuple) else (kinds,):
                if not isinstance(kind, type) or not issubclass(kind, BaseException):
                    raise TypeError(f"guard(errors=...) has exception types as its keys, not {kind!r}")
            if not is_code(target) and not isinstance(target, FailureMode | str):
                raise TypeError(f"guard(errors=...) has codes, failure modes or reasons as values, not {target!r}")
        self._operation = operation
        self._errors: dict[type[BaseException], Target] = {
            kind: target
            for kinds, target in (errors or {}).items()
            for kind in (kinds if isinstance(kinds, tuple) else (kinds,))
        }
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
            self._raise(exc, self._input)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise what the exception becomes."""
        self.__exit__(kind, exc, trace)

    def __call__(self, fn: Callable[P, T]) -> Callable[P, T]:
        """Guard every call of `fn`.

        Raises:
            TypeError: If `fn` is a generator, whose body runs when nobody guards it any more.
        """
        if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
            raise TypeError(f"guard cannot decorate the generator {fn.__qualname__}; write `with guard(...)` inside it")
        if self._operation is None:
            self._operation = getattr(fn, "__qualname__", None) or type(fn).__qualname__
        if inspect.iscoroutinefunction(fn):

            @functools.wraps(fn)
            async def guarded_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                try:
                    return await fn(*args, **kwargs)
                except Exception as exc:
                    self._raise(exc, self._given(args, kwargs))
                    raise

            return cast("Callable[P, T]", guarded_async)

        @functools.wraps(fn)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return fn(*args, **kwargs)
            except Exception as exc:
                self._raise(exc, self._given(args, kwargs))
                raise

        return guarded

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._input(*args, **kwargs) if callable(self._input) else self._input

    def _raise(self, exc: Exception, given: Any) -> None:
        """Log `exc`, and raise what it becomes; returns where it stays what it is."""
        becomes = self._becomes(exc)
        self._log(exc, becomes, given)
        if becomes is exc:
            return
        raise becomes from exc

    def _becomes(self, exc: Exception) -> BaseException:
        if self._mapper is not None:
            try:
                mapped = self._mapper(exc)
            except Exception:
                _LOGGER.exception("%s: error_mapper raised; the error goes on as it would without it", self._name)
            else:
                if isinstance(mapped, BaseException):
                    return mapped
                _LOGGER.error(
                    "%s: error_mapper returned %s, not an exception; the error goes on as it would without it",
                    self._name,
                    type(mapped).__name__,
                )
        if isinstance(exc, CodedError) or _holds_coded(exc):
            return exc
        from mcpcore.classify import explain

        target = next((self._errors[kind] for kind in type(exc).__mro__ if kind in self._errors), None)
        explained = explain(exc)
        if target is None:
            code = self._code if self._code is not None else explained.code
            retry = explained.retry if code == explained.code else None
            return CodedError(code, self._message, retry=retry)
        if isinstance(target, str):
            entry = self._declared(target)
            if entry is None:
                return CodedError(explained.code, self._message, reason=target, retry=explained.retry)
            target = entry
        if isinstance(target, FailureMode):
            return failure_of(target, self._message, None)
        return CodedError(target, self._message, retry=explained.retry if target == explained.code else None)

    def _declared(self, reason: str) -> FailureMode[Any] | None:
        if self._ctx is not None:
            return self._ctx.contract.get(reason)
        from mcpcore.context import current

        request = current.get()
        return request.contract.get(reason) if request is not None else None

    @property
    def _name(self) -> str:
        return self._operation or "operation"

    def _log(self, exc: Exception, becomes: BaseException, given: Any) -> None:
        if getattr(exc, _LOGGED, False):
            _mark(becomes)
            return
        _mark(exc)
        _mark(becomes)
        from mcpcore.redact import redact, redact_text

        code = becomes.code if isinstance(becomes, CodedError) else None
        facts: dict[str, Any] = {"operation": self._name, "error": type(exc).__qualname__}
        if code is not None:
            facts["code"] = code.name
        if isinstance(becomes, CodedError) and becomes.reason is not None:
            facts["reason"] = becomes.reason
        if self._context:
            facts["context"] = fit(to_json(redact(dict(self._context))), _LOG_BYTES)
        if given is not None:
            facts["input"] = fit(to_json(redact(given)), _LOG_BYTES)
        level = logging.CRITICAL if self._critical else _level(code)
        text = redact_text(cut_text(safe_str(exc), 1_000))
        stack = (type(exc), exc, exc.__traceback__) if self._include_stack else None
        _LOGGER.log(
            level, "%s failed: %s %s", self._name, text, dumps(to_json(facts)), exc_info=stack, extra={"mcpcore": facts}
        )


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

    Sync: a body that has not been read stays unread. The body and the URL without its query go to the log.

    Args:
        response: A response with a status from 300 up.
        service: What answered, for the message; left out, nothing names it.
        message: Replaces the message.
        data: Facts to add for the client.
        reason: The reason of the contract that this failure is.
        body: Whether the client may see the body, and the problem details (RFC 9457) in it.
        body_limit: Characters of the body that are kept.

    Raises:
        TypeError: If `response` is not a response.
        ValueError: If the response is not a failure.
    """
    return _http_error(response, _read_already(response), service, message, data, reason, body=body, limit=body_limit)


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

    Raises:
        TypeError: If `response` is not a response.
        ValueError: If the response is not a failure.
    """
    found = _read_already(response)
    if found is None:
        try:
            found = await _read(response)
        except Exception as exc:  # noqa: BLE001 - the status tells enough; that the body broke off goes to the log
            _LOGGER.warning("the body of a failed response could not be read: %s", type(exc).__qualname__)
    return _http_error(response, found, service, message, data, reason, body=body, limit=body_limit)


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
    from mcpcore.redact import redact_text

    status = _status(response)
    code = code_for_status(status)
    phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else ""
    text = cut_text(clean_text((content or b"").decode("utf-8", "replace")), max(limit, 0)) if content else ""
    problem = _problem(response, content)
    facts: dict[str, Any] = {"status": status}
    if service is not None:
        facts["service"] = service
    wait = parse_retry_after(_header(response, "retry-after")) if status in RETRY_AFTER_STATUSES else None
    if wait is not None:
        facts["retryAfter"] = wait
    if body and text:
        facts["body"] = text
    if body and problem:
        facts["problem"] = problem
    told = f"{service or 'The service'} answered {status}{f' {phrase}' if phrase else ''}."
    _LOGGER.log(
        _level(code),
        "%s answered %d to %s %s: %s",
        service or "a service",
        status,
        _method(response),
        _place(response),
        redact_text(text) if text else "(no body read)",
        extra={"mcpcore": {"service": service, "status": status, "code": code.name, "problem": problem}},
    )
    return CodedError(
        code,
        told if message is None else message,
        {**facts, **(data or {})},
        reason=reason,
        retry=retry_for_status(status) if wait is None else as_retry(wait),
    )


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
    headers = getattr(response, "headers", None)
    value = headers.get(name) if headers is not None else None
    return value if isinstance(value, str) else None


def _read_already(response: Any) -> bytes | None:
    """The body, where it has been read; nothing is read for it."""
    kept = getattr(response, "_content", None)  # httpx, httpx2, requests
    if kept is None or kept is False:
        kept = getattr(response, "_body", None)  # aiohttp
    return bytes(kept[:_BODY_BYTES]) if isinstance(kept, bytes | bytearray) else None


async def _read(response: Any) -> bytes | None:
    chunks = getattr(response, "aiter_bytes", None)  # httpx, httpx2
    if chunks is not None and not getattr(response, "is_stream_consumed", False):
        found = bytearray()
        async for chunk in chunks():
            found += chunk
            if len(found) >= _BODY_BYTES:
                break
        return bytes(found[:_BODY_BYTES])
    stream: Any = getattr(response, "content", None)
    if hasattr(stream, "read") and inspect.iscoroutinefunction(stream.read):  # aiohttp
        found = bytearray()
        while len(found) < _BODY_BYTES and (chunk := await stream.read(_BODY_BYTES - len(found))):
            found += chunk
        return bytes(found)
    if hasattr(response, "iter_content") and not getattr(response, "_content_consumed", True):  # requests
        import anyio.to_thread

        read = functools.partial(next, response.iter_content(_BODY_BYTES), b"")
        return bytes(await anyio.to_thread.run_sync(read))
    return None


def _problem(response: Any, content: bytes | None) -> dict[str, Any] | None:
    """The problem details of a response, without extensions; None where it has none."""
    if not content or "problem+json" not in (_header(response, "content-type") or ""):
        return None
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    known = {name: parsed[name] for name, kind in _PROBLEM_FIELDS.items() if isinstance(parsed.get(name), kind)}
    return {name: cut_text(value, 500) if isinstance(value, str) else value for name, value in known.items()} or None


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
    try:
        parts = urlsplit(str(response.url))
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except Exception:  # noqa: BLE001 - see _method
        return "?"
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _level(code: Code | None) -> int:
    return logging.ERROR if code is None or code.category == "server" else logging.WARNING


def _holds_coded(exc: BaseException) -> bool:
    """Whether a group holds a coded error, which the boundary finds in it."""
    return isinstance(exc, BaseExceptionGroup) and exc.subgroup(CodedError) is not None


def _mark(exc: BaseException) -> None:
    try:
        setattr(exc, _LOGGED, True)
    except Exception:  # noqa: BLE001 - an exception that takes no attributes is logged by each guard it passes
        _LOGGER.debug("%s takes no attributes", type(exc).__qualname__)
