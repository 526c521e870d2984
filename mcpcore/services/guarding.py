"""`guard`: gives the exceptions of a service a code or a declared reason, and logs them once."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from mcpcore.contract.bound_fields import hand_on
from mcpcore.contract.codes import Code, is_code
from mcpcore.contract.errors import CodedError, failure_of
from mcpcore.contract.failure_modes import FailureMode
from mcpcore.services._logging import LOGGER, log_traced
from mcpcore.services._wrapping import declared, decorated, level_of
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import cut_text, dumps, fit, safe_str, to_json, to_json_object
from mcpcore.values.request_var import call_number
from mcpcore.values.untrusted import is_async, quietly
from mcpcore.values.unwrapping import leaves_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
    from types import TracebackType
    from typing import Self

    from mcpcore.declare.context import Context, FailureData
    from mcpcore.values.jsonable import JSON

F = TypeVar("F", bound="Callable[..., Any] | classmethod[Any, ..., Any] | staticmethod[..., Any]")

Target: TypeAlias = "Code | FailureMode[Any] | str"
"""What an exception becomes: a code, a failure mode, or a reason that the calling tool's contract declares."""

_LOGGED: Final = "__mcpcore_logged__"
_LOG_BYTES: Final = 4_096


class _GuardedCall:
    """One guarded call.

    `contextlib.contextmanager` will not do: on the way out it sets `__traceback__`, which a hostile exception forbids.
    """

    __slots__ = ("_failed",)

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed

    def __enter__(self) -> None:
        """Begin the call."""

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        """Raise what an exception becomes; it goes on where it stays what it is."""
        if kind is not None and issubclass(kind, Exception):
            self._failed(cast("Exception", exc))


class guard:  # noqa: N801 - used as `with guard(...)` and `@guard(...)`, as `contextlib.suppress` is
    """Give exceptions of a service a code or a declared reason, and log them once; never swallows.

    Works as `with`, as `async with` and as a decorator of functions, methods and generators, sync and async; one guard
    may serve many functions and concurrent calls. A `CodedError` passes through as it is; any other `Exception`
    becomes one, with the exception as its cause. Cancellation and exits pass untouched. In a group, each member becomes
    what it would alone; if all members become the same failure, that one is raised.

    The exception's own text and those of its causes go to the log without secrets, and never to the client.
    `LogRecord.exc_info` has a stand-in with the redacted text, and the redacted tracebacks as its note: a handler that
    formats it itself, as those for JSON do, finds all of the chain there and no secret.

    ```python
    @guard("Store.get", errors={KeyError: ErrorCode.NOT_FOUND})
    def get_row(row_id: int) -> str:
        return {1: "one"}[row_id]
    ```
    """

    def __init__(
        self,
        operation: str | None = None,
        *,
        errors: Mapping[type[BaseException] | tuple[type[BaseException], ...], Target] | None = None,
        code: Code | None = None,
        message: str | None = None,
        data: Callable[[Any], object] | FailureData | None = None,
        ctx: Context[Any, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        input: Any = None,  # noqa: A002 - the name that the log has for it
        critical: bool = False,
        include_stack: bool = True,
        error_mapper: Callable[[Exception], BaseException] | None = None,
    ) -> None:
        """Describe the operation.

        Args:
            operation: Its name in the log; by default, the name of the decorated function, or "operation" for a block.
            errors: What exceptions become, by type; the most specific type decides, then, in order, a type that the
                exception's own is registered with (`abc`).
            code: What any other exception becomes; left out, what `classify` says.
            message: What the client reads; left out, the declared `when` or the code's own sentence.
            data: Makes the data of the failure of the exception, for one that `errors` or `code` translates; or is that
                data. If it raises, the failure goes on without data.
            ctx: The context whose contract declares the reasons in `errors`; left out, that of the tool that is
                running.
            context: Facts for the log.
            input: The input of the operation, for the log; or a function that makes it from the arguments of the
                decorated function.
            critical: Log as critical.
            include_stack: Log the traceback.
            error_mapper: Makes the error to raise, in place of all of the above.

        Raises:
            TypeError: If `code`, `data`, or a key or value of `errors`, is of the wrong type.
        """
        if operation is not None and not isinstance(operation, str):
            raise TypeError("guard takes the operation's name; as a decorator, write @guard() or @guard('Store.get')")
        if code is not None and not is_code(code):
            raise TypeError(f"guard(code=...) must be an ErrorCode or a CustomCode, not {code!r}")
        if callable(data) and is_async(data):
            raise TypeError("guard(data=...) must be a function that returns the data, not an async one")
        self._errors: dict[type[BaseException], Target] = {}
        for kinds, target in require_types({} if errors is None else errors).items():
            for kind in kinds if isinstance(kinds, tuple) else (kinds,):
                self._errors[kind] = target
            if not is_code(target) and not isinstance(target, FailureMode | str):
                raise TypeError(f"guard(errors=...) has codes, failure modes or reasons as values, not {target!r}")
        self._operation = operation
        self.block_name = "operation"
        """The name in the log of a guarded block without `operation`; `ctx.guard` sets the name of the tool."""

        self._code = code
        self._message = message
        self._data = data
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
            self._raise(exc, self._operation or self.block_name, (), {})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise what the exception becomes."""
        self.__exit__(kind, exc, trace)

    def __call__(self, fn: F) -> F:
        """Guard every call of `fn`, which keeps its signature; a coroutine or a generator is guarded until it is done.

        Raises:
            TypeError: If `fn` is no function.
        """
        return decorated(fn, "guard", self._guarding, generators=True)

    def _guarding(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        name = self._operation or getattr(fn, "__qualname__", None) or type(fn).__qualname__

        async def finish(running: Awaitable[Any], guarding: _GuardedCall) -> Any:
            with guarding:
                return await running

        if inspect.isasyncgenfunction(fn):

            @functools.wraps(fn)
            async def guarded_steps_async(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
                inner = fn(*args, **kwargs)
                step = inner.__anext__()
                with self._guarded_call(name, args, kwargs):
                    while True:
                        try:
                            made = await step
                        except StopAsyncIteration:
                            return
                        try:
                            sent = yield made
                        except GeneratorExit:
                            await inner.aclose()
                            raise
                        except BaseException as thrown:  # noqa: BLE001 - it goes on into the generator
                            step = inner.athrow(thrown)
                        else:
                            step = inner.asend(sent)

            return guarded_steps_async

        if inspect.isgeneratorfunction(fn):

            @functools.wraps(fn)
            def guarded_steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
                with self._guarded_call(name, args, kwargs):
                    return (yield from fn(*args, **kwargs))

            return guarded_steps

        if is_async(fn):

            @functools.wraps(fn)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                return await finish(fn(*args, **kwargs), self._guarded_call(name, args, kwargs))

            return guarded_async

        @functools.wraps(fn)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            with self._guarded_call(name, args, kwargs):
                result = fn(*args, **kwargs)
            return finish(result, self._guarded_call(name, args, kwargs)) if inspect.iscoroutine(result) else result

        return guarded

    def _guarded_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _GuardedCall:
        return _GuardedCall(functools.partial(self._raise, name=name, args=args, kwargs=kwargs))

    def _raise(self, exc: Exception, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Log `exc`, and raise what it becomes; returns where it stays what it is."""
        becomes = self._becomes(exc, name)
        hand_on(exc, becomes)
        self._log(exc, becomes, name, args, kwargs)
        if becomes is exc:
            return
        if becomes.__cause__ is not None or _is_behind(becomes, exc):
            raise becomes  # a mapper's error has a cause already, or is itself behind the exception
        raise becomes from exc

    def _becomes(self, exc: Exception, name: str) -> BaseException:
        if self._mapper is not None:
            try:
                mapped = self._mapper(exc)
            except KeyboardInterrupt:
                raise
            except BaseException as failed:  # noqa: BLE001 - whatever it is, the failure goes on
                said = "%s: error_mapper raised; the error goes on as it would without it"
                log_traced(logging.ERROR, failed, said, name)
            else:
                if isinstance(mapped, BaseException):
                    return mapped
                LOGGER.error(
                    "%s: error_mapper returned %s, not an exception; the error goes on as it would without it",
                    name,
                    type(mapped).__name__,
                )
        if isinstance(exc, CodedError):
            return exc
        target = self._target(exc)
        if target is None and isinstance(exc, BaseExceptionGroup):
            return self._of_members(exc, name)
        return self._translate(exc, target, name)

    def _of_members(self, group: Exception, name: str) -> Exception:
        """The failure of a group that `errors` does not name itself."""
        leaves = [leaf for leaf in leaves_of(group) if isinstance(leaf, Exception)]
        targets = [None if isinstance(leaf, CodedError) else self._target(leaf) for leaf in leaves]
        coded = any(isinstance(leaf, CodedError) for leaf in leaves)
        if targets and all(target is not None and target == targets[0] for target in targets):
            return self._translate(group, targets[0], name, leaf=leaves[0])
        if all(target is None for target in targets):
            return group if coded else self._translate(group, None, name)  # the boundary finds the coded one
        members: list[Exception] = []
        for leaf, target in zip(leaves, targets, strict=True):
            failure = leaf if isinstance(leaf, CodedError) else self._translate(leaf, target, name)
            if failure is not leaf:
                failure.__cause__ = leaf
                hand_on(leaf, failure)
            members.append(failure)
        return ExceptionGroup("a group of failures", members)

    def _target(self, exc: Exception) -> Target | None:
        for kind in type(exc).__mro__:
            if kind in self._errors:
                return self._errors[kind]
        return next((target for kind, target in self._errors.items() if issubclass(type(exc), kind)), None)

    def _translate(
        self, exc: Exception, target: Target | None, name: str, *, leaf: Exception | None = None
    ) -> CodedError:
        """What `exc` becomes; of a group whose members all become the same, `leaf` is the first."""
        from mcpcore.classification import explain

        explained = explain(exc)
        # The exception's own advice: a Retry-After, or a status that is never worth another try.
        special = None if explained.retry == explained.code.retry else explained.retry
        if target is None and self._code is None:
            return CodedError(explained.code, self._message).with_found_advice(special)
        data = self._data_of(exc if leaf is None else leaf, name)
        if target is None:
            target = self._code
        if isinstance(target, str):
            entry = self._declared(target)
            if entry is None:
                return CodedError(explained.code, self._message, data, reason=target).with_found_advice(special)
            target = entry
        if isinstance(target, FailureMode):
            says_nothing = target.retry is None and target.code == explained.code
            return failure_of(target, self._message, data).with_found_advice(special if says_nothing else None)
        assert target is not None
        return CodedError(target, self._message, data).with_found_advice(special if target == explained.code else None)

    def _data_of(self, exc: Exception, name: str) -> Any:
        """The data of the failure that `exc` becomes."""
        if not callable(self._data):
            return self._data
        try:
            return self._data(exc)
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - whatever it is, the failure goes on
            log_traced(logging.ERROR, failed, "%s: data raised; the failure goes on without data", name)
            return None

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
        level = logging.CRITICAL if self._critical else level_of(code)
        if not LOGGER.isEnabledFor(level):
            return
        facts: dict[str, Any] = {"operation": name, "error": type(exc).__qualname__}
        if code is not None:
            facts["code"] = code.name
        if isinstance(becomes, CodedError) and becomes.reason is not None:
            facts["reason"] = becomes.reason
        if quietly(lambda: bool(self._context), otherwise=True):
            facts["context"] = _sanitised(self._context)
        given = self._given(args, kwargs)
        if given is not None:
            facts["input"] = _sanitised(given)
        facts = to_json_object(facts)
        said = "%s failed: %s %s"
        if self._include_stack:
            log_traced(level, exc, said, name, _line(exc), dumps(facts), extra={"mcpcore": facts})
        else:
            LOGGER.log(level, said, name, _line(exc), dumps(facts), extra={"mcpcore": facts})

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not callable(self._input):
            return self._input
        try:
            return self._input(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - an error in what is logged must not replace the failure
            return f"input= raised {type(failed).__name__}"


Errors = TypeVar("Errors")


def require_types(errors: Errors) -> Errors:
    """`errors`, whose keys are exception types or tuples of them.

    Raises:
        TypeError: If it is anything else.
    """
    if not isinstance(errors, Mapping):
        raise TypeError(f"guard(errors=...) must be a mapping from exception types, not {type(errors).__name__}")
    for kinds in errors:
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if not isinstance(kind, type) or not issubclass(kind, BaseException):
                raise TypeError(f"guard(errors=...) has exception types as its keys, not {kind!r}")
            if not issubclass(kind, Exception) and kind not in (BaseException, BaseExceptionGroup):
                raise TypeError(f"guard(errors=...) cannot map {kind.__name__}: cancellation and exits are no failures")
    return errors


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
    from mcpcore.wire.redaction import redact

    return fit(redact(to_json(value, room=_LOG_BYTES)), _LOG_BYTES)


def _line(exc: BaseException) -> str:
    """The text of an exception in one line, without secrets; redacted before it is cut, lest half of one stays."""
    from mcpcore.wire.redaction import redact_text

    text = redact_text(clean_text(safe_str(exc, limit=10_000)))
    return cut_text(text.replace("\r", "\\r").replace("\n", "\\n"), 1_000)


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
