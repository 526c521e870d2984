"""`guard`: gives the exceptions of a service a code or a declared reason, and logs them once."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeAlias, TypeVar, cast

from mcpcore.contract.bound_fields import hand_on
from mcpcore.contract.codes import Code, is_code
from mcpcore.contract.errors import CodedError, failure_of
from mcpcore.contract.failure_modes import RESERVED_DATA_KEYS, Contract, ContractError, FailureMode
from mcpcore.contract.mapping import Target
from mcpcore.services._shared import LOGGER, F, declared, decorated, level_of, log_traced
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import JSON, cut_text, dumps, fit, safe_str, to_json, to_json_object
from mcpcore.values.request_var import call_number
from mcpcore.values.untrusted import is_async, quietly
from mcpcore.values.unwrapping import cause_of, context_of, is_a, leaves_of, relayed_failure, unwrapped

if TYPE_CHECKING:
    from types import TracebackType

    from mcpcore.declare.context import Context, FailureData


Becomes: TypeAlias = "Code | FailureMode[Any] | str"
"""What an exception becomes: a code, a failure mode, or a reason that the calling tool's contract declares."""

Guarded: TypeAlias = "type[BaseException] | Code | tuple[type[BaseException] | Code, ...]"
"""What a guard translates: exception classes, and the codes of coded errors without a reason."""

if TYPE_CHECKING:
    K_co = TypeVar("K_co", covariant=True)
    V_co = TypeVar("V_co", covariant=True)

    class Table(Protocol[K_co, V_co]):
        """A mapping. The keys of `Mapping` are invariant, so that it would refuse a table of classes alone."""

        def items(self) -> Iterable[tuple[K_co, V_co]]: ...  # noqa: D102 - see Mapping


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
    may serve many functions and concurrent calls. A `CodedError` passes through as it is, unless it has no reason and
    `errors` has its code; any other `Exception` becomes one, with the exception as its cause. Cancellation and exits
    pass untouched. In a group, each member becomes what it would alone; if all members become the same failure, that
    one is raised.

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
        errors: Table[Guarded, Becomes] | None = None,
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
                exception's own is registered with (`abc`). A code is a key too: for coded errors without a reason,
                which keep their data, as far as the data model admits it, and their retry advice.
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
        self._targets: dict[Any, Target] = {}
        for kind, becomes in by_kind({} if errors is None else errors).items():
            self._targets[kind] = Target(becomes, data, message)
            if not is_code(becomes) and not isinstance(becomes, FailureMode | str):
                raise TypeError(f"guard(errors=...) has codes, failure modes or reasons as values, not {becomes!r}")
        self._otherwise = None if code is None else Target(code, data, message)
        self._operation = operation
        self.block_name = "operation"
        """The name in the log of a guarded block without `operation`; `ctx.guard` sets the name of the tool."""

        self._message = message
        self._contract = None if ctx is None else ctx.contract
        self._only_mapped = False
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

        # A handler may return any awaitable; other callers get the one that the function made.
        is_awaited = inspect.isawaitable if self._only_mapped else inspect.iscoroutine
        if inspect.isasyncgenfunction(fn):

            @functools.wraps(fn)
            async def guarded_steps_async(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
                inner = fn(*args, **kwargs)
                # By hand, since `yield from` does not exist in async generators: values, exceptions and the end go in
                # and out.
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
            return finish(result, self._guarded_call(name, args, kwargs)) if is_awaited(result) else result

        return guarded

    def _guarded_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _GuardedCall:
        return _GuardedCall(functools.partial(self._raise, name=name, args=args, kwargs=kwargs))

    def _raise(self, exc: Exception, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Log `exc`, and raise what it becomes; returns where it stays what it is."""
        becomes = self._becomes(exc, name)
        if becomes is exc and self._only_mapped:
            return
        hand_on(exc, becomes)
        self._log(exc, becomes, name, args, kwargs)
        if becomes is exc:
            return
        if cause_of(becomes) is not None or _is_behind(becomes, exc):
            raise becomes  # a mapper's error has a cause already, or is itself behind the exception
        raise becomes from exc

    def _becomes(self, exc: Exception, name: str) -> BaseException:
        if self._mapper is not None:
            try:
                mapped = self._mapper(exc)
            except KeyboardInterrupt:
                raise
            except BaseException as failed:  # noqa: BLE001 - whatever it is, the failure goes on
                sentence = "%s: error_mapper raised; the error is raised unchanged"
                log_traced(logging.ERROR, failed, sentence, name)
            else:
                if isinstance(mapped, BaseException):
                    return mapped
                LOGGER.error(
                    "%s: error_mapper returned %s, not an exception; the error is raised unchanged",
                    name,
                    type(mapped).__name__,
                )
        target = self._target(exc)
        if target is None and is_a(exc, BaseExceptionGroup):
            return self._of_members(exc, name)
        return exc if target is None and self._stays(exc) else self._translate(exc, target, name)

    def _stays(self, exc: Exception) -> bool:
        """Whether an exception that is not mapped stays what it is."""
        return self._only_mapped or is_a(exc, CodedError)

    def _of_members(self, group: Exception, name: str) -> Exception:
        """The failure of a group that is not mapped itself."""
        leaves = [leaf for leaf in leaves_of(group) if isinstance(leaf, Exception)]
        targets = [self._target(leaf) for leaf in leaves]
        first = targets[0] if targets else None
        # Coded errors may differ in what they changed, so that the boundary has to read each of them.
        if first is not None and all(map(first.is_like, targets)) and not any(map(self._coded, leaves)):
            return self._translate(group, first, name, leaf=leaves[0])
        if not any(targets):
            # The boundary finds the one that has a code.
            return group if any(map(self._stays, leaves)) else self._translate(group, None, name)
        members: list[Exception] = []
        for leaf, target in zip(leaves, targets, strict=True):
            stays = target is None and self._stays(leaf)
            failure = leaf if stays else self._translate(leaf, target, name)
            if failure is not leaf:
                # As `raise failure from leaf` would, which a member of a group never goes through.
                failure.__cause__ = leaf
                hand_on(leaf, failure)
            members.append(failure)
        return ExceptionGroup("a group of failures", members)

    def _target(self, exc: Exception) -> Target | None:
        """What `exc` is mapped to; None also where a reason that it carries already decides."""
        if self._only_mapped and is_a(exc, ContractError):
            return None  # a mistake of the handler, such as an undeclared reason
        if self._only_mapped and is_a(exc, BaseExceptionGroup) and any(map(self._coded, leaves_of(exc))):
            return None  # the class of a group says less than a member that has a code
        coded = self._coded(exc)
        if coded is not None and (coded.sent_reason is not None or self._declared(coded.reason) is not None):
            return None
        if coded is not None and coded.omits_effects:
            return None  # of a batch whose items failed for different reasons, none of which speaks for all
        # The class of a coded error says nothing: it is mapped by its code.
        if coded is not exc:
            for kind in type(exc).__mro__:
                if kind in self._targets:
                    return self._targets[kind]
            for kind, target in self._targets.items():
                if isinstance(kind, type) and issubclass(type(exc), kind):
                    return target
        return None if coded is None else self._targets.get(coded.code)

    def _coded(self, exc: BaseException) -> CodedError | None:
        """The coded error that `exc` is, or that an error of a framework carries out of a handler."""
        if self._only_mapped and not is_a(exc, CodedError):
            exc = unwrapped(exc)
            exc = relayed_failure(exc) or exc
        return cast("CodedError", exc) if is_a(exc, CodedError) else None

    def _translate(
        self, exc: Exception, target: Target | None, name: str, *, leaf: Exception | None = None
    ) -> CodedError:
        """What `exc` becomes; of a group whose members all become the same, `leaf` is the first."""
        leaf = exc if leaf is None else leaf
        coded = self._coded(leaf)
        if coded is None:
            from mcpcore.classification import explain

            explained = explain(exc)
            # The exception's own advice: a Retry-After, or a status that is never worth another try.
            code, special = explained.code, None if explained.retry == explained.code.retry else explained.retry
        else:
            code, special = coded.code, coded.retry
        target = target or self._otherwise
        if target is None:
            return CodedError(code, self._message).with_found_advice(special)
        data, no_data = _made("data", target.data, leaf, name)
        message, no_message = _made("message", target.message, leaf, name)
        if message is not None and not isinstance(message, str):
            message, no_message = None, f"message made {type(message).__name__}, not a sentence"
        keeps = coded is not None and target.data is None
        if keeps:
            data = _own_data(coded, None)
        effects = None if coded is None else coded.effects
        entry = self._declared(target.becomes) if isinstance(target.becomes, str) else target.becomes
        if not isinstance(entry, FailureMode):
            reason = target.becomes if entry is None else None
            failure = CodedError(entry or code, message, data, reason=reason, effects=effects)
            return failure.with_found_advice(special if failure.code == code else None)
        failure = failure_of(entry, message, data, effects=effects)
        misfit = _misfit(failure, entry)
        if misfit is not None:
            if not keeps:
                no_data = f"the data that was made for {entry.reason!r} breaks its model: {misfit}"
            kept = failure_of(entry, message, _own_data(coded, entry) if keeps else None, effects=effects)
            failure = kept if _misfit(kept, entry) is None else failure_of(entry, message, None, effects=effects)
        failure.unusable_advice = no_data or no_message or (None if coded is None else coded.unusable_advice)
        # Another code's wait is kept, and its advice never to retry is not.
        waits = coded is not None and special is not None and special.retryable and entry.code.retry.retryable
        return failure.with_found_advice(special if entry.retry is None and (entry.code == code or waits) else None)

    def _declared(self, reason: str | None) -> FailureMode[Any] | None:
        if reason is None:
            return None
        return declared(reason) if self._contract is None else self._contract.get(reason)

    def _log(
        self, exc: Exception, becomes: BaseException, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        if _is_logged(exc):
            _mark(becomes)
            return
        # Both, since a guard further out may see either: a handler may raise the original again.
        _mark(exc)
        _mark(becomes)
        code = becomes.code if isinstance(becomes, CodedError) else None
        level = logging.CRITICAL if self._critical else level_of(code)
        if not LOGGER.isEnabledFor(level):
            return
        has_context = quietly(lambda: bool(self._context), otherwise=True)
        values = self._input_of(args, kwargs)
        known = {
            "operation": name,
            "error": type(exc).__qualname__,
            "code": None if code is None else code.name,
            "reason": becomes.reason if isinstance(becomes, CodedError) else None,
            "context": _sanitised(self._context) if has_context else None,
            "input": None if values is None else _sanitised(values),
        }
        facts = to_json_object({key: value for key, value in known.items() if value is not None})
        sentence = "%s failed: %s %s"
        if self._include_stack:
            log_traced(level, exc, sentence, name, _line(exc), dumps(facts), extra={"mcpcore": facts})
        else:
            LOGGER.log(level, sentence, name, _line(exc), dumps(facts), extra={"mcpcore": facts})

    def _input_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not callable(self._input):
            return self._input
        try:
            return self._input(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as failed:  # noqa: BLE001 - an error in what is logged must not replace the failure
            return f"input= raised {type(failed).__name__}"


def contract_guard(contract: Contract[Any]) -> guard:
    """The guard around a handler, or an item of a batch, whose contract maps exceptions; all others stay."""
    around = guard(contract.tool)
    around._contract = contract  # noqa: SLF001 - its own
    around._targets = dict(contract.mapped)  # noqa: SLF001 - its own
    around._only_mapped = True  # noqa: SLF001 - its own
    return around


def _made(noun: str, option: Any, exc: Exception, name: str) -> tuple[Any, str | None]:
    """The data or the message of the failure that `exc` becomes, and why it could not be made, or None."""
    if not callable(option):
        return option, None
    try:
        return option(exc), None
    except KeyboardInterrupt:
        raise
    except BaseException as failed:  # noqa: BLE001 - whatever it is, the failure goes on
        log_traced(logging.ERROR, failed, f"%s: {noun} raised; the failure goes on without {noun}", name)
        return None, f"{noun} raised {type(failed).__name__}"


def _own_data(coded: CodedError | None, entry: FailureMode[Any] | None) -> dict[str, Any] | None:
    """The data of a coded error that another failure keeps; with `entry`, only the fields of its model."""
    data: Any = None if coded is None else coded.data
    kept = quietly(
        lambda: {
            key: value
            for key, value in data.items()
            if key not in RESERVED_DATA_KEYS and (entry is None or entry.has_field(key))
        },
        None,
    )
    return kept or None


def _misfit(failure: CodedError, entry: FailureMode[Any]) -> str | None:
    """Why the data of `failure`, if it has any, breaks the model of its entry; None if it fits."""
    if failure.data is None:
        return None
    return quietly(lambda: entry.check_data(failure.data, dumped=failure.is_dumped), "it cannot be read")


def by_kind(errors: Any) -> dict[Any, Any]:
    """`errors` with an entry for each exception type and each code, also for those in tuples.

    Raises:
        TypeError: If it is no mapping, or if a key is anything else.
    """
    targets: dict[Any, Any] = {}
    if not isinstance(errors, Mapping):
        raise TypeError(f"guard(errors=...) must be a mapping from exception types, not {type(errors).__name__}")
    for kinds, becomes in errors.items():
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            targets[kind] = becomes
            if is_code(kind):
                continue
            if not isinstance(kind, type) or not issubclass(kind, BaseException):
                raise TypeError(f"guard(errors=...) has exception types and codes as its keys, not {kind!r}")
            if not issubclass(kind, Exception) and kind not in (BaseException, BaseExceptionGroup):
                raise TypeError(
                    f"guard(errors=...) cannot map {kind.__name__}: cancellation and exits are not failures"
                )
    return targets


def _is_behind(error: BaseException, exc: BaseException) -> bool:
    """Whether `error` is a cause or a context of `exc`; chaining them the other way round would make a ring."""
    seen: set[int] = set()
    stack = [cause_of(exc), context_of(exc)]
    while stack:
        behind = stack.pop()
        if behind is error:
            return True
        if behind is not None and id(behind) not in seen:
            seen.add(id(behind))
            stack += [cause_of(behind), context_of(behind)]
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
