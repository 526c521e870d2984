"""The one place that catches: whatever leaves a handler becomes a result or an envelope, and leaves a record.

What the client may see and what the log may see part on the first line: a `Verdict` holds the envelope, which goes out,
and the exception, which never does.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcpcore.audit import AuditError
from mcpcore.codes import BASELINE, Code, ErrorCode
from mcpcore.contract import Contract, ContractError
from mcpcore.envelope import CANONICAL, Envelope, envelope
from mcpcore.errors import CodedError, FrameworkError, declare, recovery_of
from mcpcore.jsonable import JSON, safe_str
from mcpcore.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from mcp_types import CallToolResult

    from mcpcore.audit import AuditTrail

_LOGGER: Final = logging.getLogger("mcpcore")

_MAX_LEAVES: Final = 1_000
"""Members of a group that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of an exception."""

    envelope: Envelope
    """For the client."""

    exception: BaseException
    """For the log alone."""

    expected: bool
    """Whether somebody meant it: a coded error, bad arguments, the SDK's own errors; a crash is not."""

    broken_contract: str | None = None
    """How code and contract part, where they do."""

    others: int = 0
    """Failures of the same group that are not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Turns exceptions into envelopes, by the rules of one server."""

    limits: Limits = DEFAULT_LIMITS
    expose: bool = False

    def verdict(
        self,
        exc: BaseException,
        *,
        contract: Contract[Any],
        name: str | None,
        context: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """What `exc`, raised under `contract`, is to the client and to the log; never raises."""
        chosen, others = _chosen(exc, contract)
        try:
            return self._judged(chosen, exc, others, contract, name, context)
        except Exception as failed:  # noqa: BLE001 - an exception that breaks its own telling is told as a crash
            return Verdict(
                envelope=envelope(
                    ErrorCode.INTERNAL_ERROR,
                    ErrorCode.INTERNAL_ERROR.sentence,
                    retry=ErrorCode.INTERNAL_ERROR.retry,
                    tool=name,
                    masked=True,
                    context=context,
                    limits=self.limits,
                ),
                exception=exc,
                expected=False,
                broken_contract=f"the failure could not be told: {safe_str(failed)}",
                others=others,
            )

    def _judged(
        self,
        chosen: BaseException,
        exc: BaseException,
        others: int,
        contract: Contract[Any],
        name: str | None,
        context: Mapping[str, Any] | None,
    ) -> Verdict:
        if isinstance(chosen, CodedError):
            return self._coded(chosen, exc, others, contract, name, context)
        spoken = _spoken(chosen)
        if spoken is not None:
            code, message, data = spoken
            told = self._envelope(code, message, retry=code.retry, tool=name, data=data, context=context, exception=exc)
            return Verdict(envelope=told, exception=exc, expected=True, others=others)
        code, retry = _classified(chosen)
        message = safe_str(chosen) or type(chosen).__name__ if self.expose else code.sentence
        told = self._envelope(
            code, message, retry=retry, tool=name, masked=not self.expose, context=context, exception=exc
        )
        broken = str(chosen) if isinstance(chosen, ContractError) else None
        return Verdict(envelope=told, exception=exc, expected=False, broken_contract=broken, others=others)

    def _coded(
        self,
        error: CodedError,
        exc: BaseException,
        others: int,
        contract: Contract[Any],
        name: str | None,
        context: Mapping[str, Any] | None,
    ) -> Verdict:
        entry = contract.get(error.reason)
        broken: str | None = None
        retry = error.retry
        recovery = None if error.omits_recovery else error.recovery or recovery_of((error.data or {}).get("recovery"))
        if entry is not None:
            if error.entry is not entry:
                declare(error, entry)
            if error.code != entry.code:
                broken = f"{error.reason!r} is declared as {entry.code.name} and was raised as {error.code.name}"
                retry = retry or entry.retry
            else:
                retry = retry or entry.advice
            if recovery is None and not error.omits_recovery:
                recovery = entry.recovery_json()
            if entry.data is not None and broken is None:
                misfit = entry.check_data(error.data or {})
                broken = None if misfit is None else f"the data of {error.reason!r} breaks its model: {misfit}"
        elif error.reason is not None and len(contract) and not isinstance(error, FrameworkError):
            broken = f"the reason {error.reason!r} is not declared"
        told = self._envelope(
            error.code,
            error.message,
            retry=retry or error.code.retry,
            tool=name,
            data=error.data,
            reason=error.reason,
            recovery=recovery,
            context=context,
            exception=exc,
        )
        return Verdict(envelope=told, exception=exc, expected=True, broken_contract=broken, others=others)

    def _envelope(
        self, code: Code, message: str, *, exception: BaseException, data: Any = None, **rest: Any
    ) -> Envelope:
        if self.expose:
            data = {**(data if isinstance(data, Mapping) else {}), "exception": described(exception)}
        return envelope(code, message, data=data, limits=self.limits, **rest)


class Boundary:
    """The boundary of one server: judges what leaves a handler, records it, and only then answers."""

    def __init__(
        self,
        *,
        server: str,
        expose: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        dialect: str = CANONICAL,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
    ) -> None:
        """Prepare to judge and to record.

        Raises:
            ValueError: If there is no such dialect.
            AuditError: If the trail cannot be used and its policy is to refuse.
        """
        from mcpcore.audit import AuditTrail
        from mcpcore.dialects import dialect_named

        self.judge = Judge(limits=limits, expose=expose)
        self.trail = AuditTrail.from_options(audit)
        self.dialect = dialect_named(dialect)
        self._server = server

    def answer(
        self, exc: BaseException, *, contract: Contract[Any], name: str, context: Mapping[str, Any] | None = None
    ) -> CallToolResult:
        """The result that tells a client of `exc`, recorded first; never raises."""
        return self.result(self.judged(exc, contract=contract, name=name, context=context).envelope)

    def judged(
        self,
        exc: BaseException,
        *,
        contract: Contract[Any],
        name: str,
        context: Mapping[str, Any] | None = None,
        surface: str = "tool",
    ) -> Verdict:
        """The verdict on `exc`, recorded; where it cannot be and the policy is to refuse, a verdict that says so."""
        verdict = self.judge.verdict(exc, contract=contract, name=name, context=context)
        record = self._record(verdict, surface)
        if not verdict.expected or verdict.broken_contract is not None:
            _log(verdict, name)
        try:
            self.trail.record(record)
        except AuditError as failed:
            _LOGGER.critical("the failure %s could not be recorded: %s", verdict.envelope.correlation_id, failed)
            return self.judge.verdict(_unrecorded(), contract=contract, name=name, context=context)
        return verdict

    def result(self, envelope: Envelope) -> CallToolResult:
        """The envelope as the result of a call, in the server's dialect."""
        from mcp_types import CallToolResult, TextContent

        structured, text = self.dialect.write(envelope, limits=self.judge.limits)
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=structured,
            is_error=self.dialect.is_error,
        )

    def _record(self, verdict: Verdict, surface: str) -> dict[str, Any]:
        told, exc = verdict.envelope, verdict.exception
        record: dict[str, Any] = {
            "timestamp": told.timestamp,
            "server": self._server,
            "surface": surface,
            surface: told.tool,
            "code": told.code,
            "name": told.name,
            "reason": told.reason,
            "message": told.message,
            "retry": told.retry.to_json(),
            "correlationId": told.correlation_id,
        }
        if told.context:
            record["context"] = told.context
        if told.details:
            record["data"] = told.details
        told_by_framework = isinstance(exc, FrameworkError)
        if not verdict.expected or (exc.__cause__ is not None and not told_by_framework) or verdict.others:
            exposed = described(exc)
            trace = exposed.pop("traceback")
            record["exception"] = exposed
            if not verdict.expected:
                record["traceback"] = trace
        if verdict.broken_contract is not None:
            record["broken_contract"] = verdict.broken_contract
        if verdict.others:
            record["others"] = verdict.others
        return record


def _log(verdict: Verdict, name: str) -> None:
    identity = verdict.envelope.correlation_id
    try:
        if verdict.broken_contract is not None:
            _LOGGER.warning("%r broke its contract: %s (id %s)", name, verdict.broken_contract, identity)
        if not verdict.expected:
            _LOGGER.error("%r failed unexpectedly (id %s)", name, identity, exc_info=verdict.exception)
    except Exception as failed:  # noqa: BLE001 - a handler's formatting calls the exception's own code
        _LOGGER.error("%r failed unexpectedly (id %s); its traceback raised %s", name, identity, type(failed).__name__)  # noqa: TRY400


def _unrecorded() -> FrameworkError:
    return FrameworkError(
        ErrorCode.INTERNAL_ERROR,
        "The tool failed, and the failure could not be recorded.",
        reason="audit_failed",
        recovery="Tell whoever runs the server that its audit trail cannot be written.",
    )


def passes_through(exc: BaseException) -> bool:
    """Whether `exc` is no failure: the cancellation of this very call, or an exit that must not be caught."""
    if isinstance(exc, KeyboardInterrupt | GeneratorExit):
        return True
    if isinstance(exc, anyio.get_cancelled_exc_class()):
        return _being_cancelled()
    if isinstance(exc, BaseExceptionGroup):
        leaves = list(_leaves(exc))
        if any(isinstance(leaf, KeyboardInterrupt | GeneratorExit) for leaf in leaves):
            return True
        return all(passes_through(leaf) for leaf in leaves)
    return False


def described(exc: BaseException) -> dict[str, JSON]:
    """An exception for those who may see everything: its type, text, causes and traceback."""
    import traceback

    causes: list[JSON] = []
    seen = {id(exc)}
    cause = exc.__cause__ or (None if exc.__suppress_context__ else exc.__context__)
    while cause is not None and id(cause) not in seen and len(causes) < 10:
        seen.add(id(cause))
        causes.append({"type": _type_name(cause), "message": safe_str(cause, limit=2_000)})
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    try:
        trace = "".join(traceback.format_exception(exc, limit=-30, chain=False))[-8_000:]
    except Exception as failed:  # noqa: BLE001 - formatting calls the exception's own code
        trace = f"<{type(failed).__name__} while formatting the traceback>"
    return {
        "type": _type_name(exc),
        "message": safe_str(exc, limit=2_000),
        "causes": causes,
        "traceback": trace,
    }


def _type_name(exc: BaseException) -> str:
    kind = type(exc)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _being_cancelled() -> bool:
    """Whether the task that runs now is being cancelled, by a scope of anyio's or by asyncio itself.

    A `CancelledError` in a task that nobody cancels comes from something that the handler waited for; it is a
    failure like any other.
    """
    if anyio.current_effective_deadline() == -math.inf:
        return True
    if "trio" in sys.modules:  # pragma: no cover - trio raises Cancelled in nothing but a cancelled task
        import sniffio

        if sniffio.current_async_library() == "trio":
            return True
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _leaves(exc: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, in order, whatever it nests; `exc` itself where it is none."""
    stack, seen, found = [exc], set(), 0
    while stack and found < _MAX_LEAVES:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, BaseExceptionGroup):
            stack.extend(reversed(one.exceptions))
        else:
            found += 1
            yield one


def _chosen(exc: BaseException, contract: Contract[Any]) -> tuple[BaseException, int]:
    """The exception that speaks for `exc`, and how many of the same group do not."""
    if not isinstance(exc, BaseExceptionGroup):
        return _unwrapped(exc), 0
    leaves = [_unwrapped(leaf) for leaf in _leaves(exc)]
    if not leaves:
        return exc, 0
    best = min(leaves, key=lambda leaf: _rank(leaf, contract))
    if _rank(best, contract)[0] >= _UNDECLARED:
        return (best, 0) if len(leaves) == 1 else (exc, len(leaves) - 1)
    return best, len(leaves) - 1


_UNDECLARED: Final = 5


def _rank(exc: BaseException, contract: Contract[Any]) -> tuple[int, bool]:
    """How much an exception of a group has to say: least first."""
    if isinstance(exc, CodedError):
        entry = contract.get(exc.reason)
        general = exc.code in BASELINE
        if entry is not None:
            return (0 if entry.code == exc.code else 1), general
        return (2 if exc.reason is not None else 3), general
    return (4, False) if _spoken(exc) is not None else (_UNDECLARED, False)


def _unwrapped(exc: BaseException) -> BaseException:
    """What the SDK wrapped: a crash or a deliberate failure in a tool or a resource that was called in turn."""
    exceptions = sys.modules.get("mcp.server.mcpserver.exceptions")
    if exceptions is None:
        return exc
    wrappers = (exceptions.ToolError, exceptions.ResourceError)
    for _ in range(20):
        cause = exc.__cause__
        if not isinstance(exc, wrappers) or cause is None:
            break
        if isinstance(exc, exceptions.UnexpectedToolError | exceptions.UnexpectedResourceError) or (
            isinstance(cause, (*wrappers, CodedError))
        ):
            exc = cause
        else:
            break
    return exc


def _spoken(exc: BaseException) -> tuple[Code, str, Any] | None:
    """The code, text and data of an error of the SDK's own, whose author meant it to be read; None for any other."""
    exceptions = sys.modules.get("mcp.server.mcpserver.exceptions")
    if exceptions is not None:
        if isinstance(exc, exceptions.ResourceNotFoundError):
            return ErrorCode.NOT_FOUND, safe_str(exc), None
        if isinstance(exc, exceptions.ToolError | exceptions.ResourceError):
            return ErrorCode.INTERNAL_ERROR, safe_str(exc), None
    shared = sys.modules.get("mcp.shared.exceptions")
    if shared is not None and isinstance(exc, shared.MCPError):
        code = PROTOCOL_CODES.get(exc.code, ErrorCode.INTERNAL_ERROR)
        return code, safe_str(exc.message), exc.data
    return None


PROTOCOL_CODES: Final[Mapping[int, ErrorCode]] = {
    -32700: ErrorCode.PARSE_ERROR,
    -32600: ErrorCode.INVALID_REQUEST,
    -32601: ErrorCode.METHOD_NOT_FOUND,
    -32602: ErrorCode.INVALID_PARAMS,
    -32603: ErrorCode.INTERNAL_ERROR,
    -32000: ErrorCode.SERVICE_UNAVAILABLE,  # the SDK's CONNECTION_CLOSED
    -32001: ErrorCode.TIMEOUT,  # the SDK's REQUEST_TIMEOUT
    -32002: ErrorCode.NOT_FOUND,  # "resource not found" before 2026-07-28
}
"""The nearest code of a tool for each code that the protocol or its SDK has; the numbers overlap, the meanings do not."""


def _classified(exc: BaseException) -> tuple[Code, Any]:
    if isinstance(exc, ContractError):
        return ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.retry
    if not isinstance(exc, Exception) and not isinstance(exc, BaseExceptionGroup | asyncio.CancelledError):
        return ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.retry
    from mcpcore.classify import explain

    explained = explain(exc)
    return explained.code, explained.retry
