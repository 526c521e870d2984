"""The envelope: one failure as a client receives it, JSON-safe and bounded, as structured content and as text.

Source of the form: the section "The wire" of the design. `mcpcore.contract.codes` has the numbers of the codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Self

from mcpcore import provided
from mcpcore.contract.advice import advice_phrase, read_advice
from mcpcore.contract.codes import Code, Effects, Retry, Strategy, code_named, code_numbered, stated_advice
from mcpcore.contract.effects import as_effects
from mcpcore.contract.failure_modes import WRITTEN_DATA_KEYS
from mcpcore.contract.limits import DEFAULT_LIMITS, Limits
from mcpcore.contract.recovery import sent_recovery
from mcpcore.values.jsonable import JSON
from mcpcore.wire.envelope_text import MAX_REPEATED, Parts, lines_of, write

CANONICAL: Final = "canonical"
# The dialect of an envelope that was not sent, but made of a plain text or a protocol error.
UNKNOWN_DIALECT: Final = "unknown"


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """One failure, as it is sent and as it is read.

    ```python
    error = {"code": -32001, "name": "NOT_FOUND", "message": "No order 7."}
    failure = Envelope.from_result({"isError": True, "structuredContent": {"error": error}})
    assert failure is not None
    assert (failure.name, failure.message) == ("NOT_FOUND", "No order 7.")
    ```

    Attributes:
        code: The number of the code.
        name: The name of the code.
        message: What went wrong, as a sentence.
        retry: Whether and when the same call is worth making again; always there.
        effects: Whether the call changed anything before it failed: "none", "partial" or "unknown"; None where nothing
            is known of it.
        tool: The tool, resource or prompt that failed.
        correlation_id: 16 hex digits, new for each failure; the log has the same.
        timestamp: When, in UTC, ISO 8601 with milliseconds.
        data: The author's facts, with `reason`, `retryable` and `recovery`; None where an undeclared failure is masked.
        context: What the server or the call had bound (session, role, trace, …); None where nothing is.
        repeated: The number of identical calls of the session so far, all of which failed in this way; None where it is
            not worth a word.
        dialect: The dialect that it was read from.
        native_code: The code as the dialect wrote it, if the dialect has its own codes.
        repeatable: Whether a second call does no harm whatever the first one did: the tool is idempotent, or changes
            nothing.
        inferred: Whether the server sent no envelope. Then the code, the advice and the effects follow from its words
            and from the annotations of the tool, and only the message is the server's own.
        injected: Whether a test asked for the failure, and no handler raised it; see `mcpcore.boundary.faults`.
        retry_stated: Whether the failure itself says what `retry` says. Otherwise that is the default of its code. A
            failure in no known form is never retryable then, except for RATE_LIMITED: its tool may have changed
            something.
    """

    code: int
    name: str
    message: str
    retry: Retry
    effects: Effects | None = None
    tool: str | None = None
    correlation_id: str = ""
    timestamp: str = ""
    data: Mapping[str, Any] | None = None
    context: Mapping[str, Any] | None = None
    repeated: int | None = None
    dialect: str = field(default=CANONICAL, compare=False)
    native_code: str | int | None = field(default=None, compare=False)
    repeatable: bool = field(default=False, compare=False)
    inferred: bool = field(default=False, compare=False)
    injected: bool = field(default=False, compare=False)
    retry_stated: bool = field(default=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Envelope], tuple[dict[str, Any]]]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("data", "context"):
            # A view of a mapping can be neither pickled nor copied.
            if isinstance(values[name], MappingProxyType):
                values[name] = dict(values[name])
        return _rebuilt, (values,)

    @property
    def error_code(self) -> Code | None:
        """The code as this program knows it; None where it is one of another application."""
        code = code_named(self.name)
        return code_numbered(self.code) if code is None else code

    @property
    def reason(self) -> str | None:
        """The declared reason, or None."""
        reason = self.data.get("reason") if self.data else None
        return reason if isinstance(reason, str) else None

    @property
    def recovery(self) -> Mapping[str, Any] | None:
        """The recovery in the form of the wire, or None."""
        return sent_recovery(self.data.get("recovery")) if self.data else None

    @property
    def hint(self) -> str | None:
        """The recovery as a sentence, or None."""
        recovery = self.recovery
        return None if recovery is None else recovery.get("hint")

    @property
    def fallback_tool(self) -> str | None:
        """Another tool to look at, or None."""
        recovery = self.recovery
        tool = recovery.get("fallbackTool") if recovery else None
        return tool if isinstance(tool, str) else None

    @property
    def fallback_arguments(self) -> dict[str, Any] | None:
        """The arguments with which a program may call the fallback tool; None if it is advice for the model alone."""
        arguments = (self.recovery or {}).get("fallbackArguments")
        return dict(arguments) if isinstance(arguments, Mapping) else None

    @property
    def strategy(self) -> Strategy | None:
        """What kind of step helps: as sent, else what the advice and the recovery call for, else the code's own.

        None where nothing of that is known here.
        """
        recovery = self.recovery or {}
        sent = recovery.get("strategy")
        if isinstance(sent, str):
            return sent  # type: ignore[return-value]
        if self.retry.retryable:
            return "retry_later"
        if self.fallback_tool is not None:
            return "try_alternative"
        if isinstance(recovery.get("correctiveParams"), Mapping):
            return "check_input"
        code = self.error_code
        if code is None:
            return None
        return "report_to_user" if code.strategy == "retry_later" else code.strategy

    @property
    def actions(self) -> tuple[str, ...]:
        """Steps for an agent: as sent, else the code's own."""
        sent = (self.recovery or {}).get("actions")
        if isinstance(sent, list | tuple) and sent:
            return tuple(str(action) for action in sent)
        code = self.error_code
        return code.actions if code is not None else ()

    @property
    def advice(self) -> str:
        """What may be done next, in words; see `mcpcore.contract.advice`."""
        # Whoever made the envelope may have kept its parts.
        parts: Parts | None = vars(self).get("_parts")
        return lines_of(self)[0] if parts is None else parts[2][0]

    @property
    def item_advice(self) -> str:
        """What may be done next with an item of a batch, in words."""
        retry = self.retry
        return advice_phrase(retry.kind, retry.after_ms, self.effects, repeatable=self.repeatable, of_item=True)

    @property
    def retryable(self) -> bool:
        """Whether the same call is worth making again at all."""
        return self.retry.retryable

    @property
    def details(self) -> dict[str, Any]:
        """The author's own data, without the keys that the framework writes."""
        return {key: value for key, value in (self.data or {}).items() if key not in WRITTEN_DATA_KEYS}

    @classmethod
    def of(cls, values: dict[str, Any], parts: Parts | None) -> Envelope:
        """The envelope with `values`, its fields in order, and `parts` for the next text of it.

        A frozen dataclass sets its fields one by one, which costs more than all else that an envelope is made of.
        """
        envelope = object.__new__(cls)
        values["_parts"] = parts
        object.__setattr__(envelope, "__dict__", values)
        return envelope

    def to_json(self) -> dict[str, JSON]:
        """The envelope as it stands under `structuredContent.error`, in the order in which a model should read it."""
        error: dict[str, JSON] = {"message": self.message}
        if self.data is not None:
            error["data"] = dict(self.data)
        if self.inferred:
            error["inferred"] = True
        if self.injected:
            error["injected"] = True
        error["advice"] = self.advice
        error["retry"] = {"kind": self.retry.kind} if self.retry.after_ms is None else self.retry.to_json()
        if self.effects is not None:
            error["effects"] = self.effects
        if self.repeated is not None:
            error["repeated"] = self.repeated
        error["code"] = self.code
        error["name"] = self.name
        if self.tool is not None:
            error["tool"] = self.tool
        error["correlationId"] = self.correlation_id
        error["timestamp"] = self.timestamp
        if self.context:
            error["context"] = dict(self.context)
        return error

    @classmethod
    def from_json(cls, error: Mapping[str, Any]) -> Self:
        """Read the form that `to_json` writes.

        Args:
            error: The object under `error` in the structured content.

        Raises:
            ValueError: If `error` is not such an object; the message names the field.
        """
        code, name, message = error.get("code"), error.get("name"), error.get("message")
        if isinstance(code, bool) or not isinstance(code, int):
            raise ValueError(f"error.code must be an integer, not {code!r}")  # noqa: TRY004 - what is read is data
        if not isinstance(message, str):
            raise ValueError(f"error.message must be a string, not {message!r}")  # noqa: TRY004 - the same
        known = code_numbered(code)
        if not isinstance(name, str):
            name = known.name if known is not None else "UNKNOWN_ERROR"
        data, context, repeated = error.get("data"), error.get("context"), error.get("repeated")
        stated = _read_retry(error.get("retry"), data, known)
        default = known.retry if known is not None else Retry.never()
        advice = read_advice(error["advice"]) if type(error.get("advice")) is str else None
        return cls(
            code=code,
            name=name,
            message=message,
            retry=default if stated is None else stated,
            retry_stated=stated is not None,
            repeatable=advice is not None and advice.repeatable,
            inferred=error.get("inferred") is True,
            injected=error.get("injected") is True,
            effects=as_effects(error.get("effects")),
            tool=_text(error.get("tool")),
            correlation_id=_text(error.get("correlationId")) or "",
            timestamp=_text(error.get("timestamp")) or "",
            data=data if isinstance(data, Mapping) else None,
            context=context if isinstance(context, Mapping) and context else None,
            repeated=repeated if type(repeated) is int and 0 < repeated < MAX_REPEATED else None,
        )

    @classmethod
    def from_result(cls, result: object) -> Envelope | None:
        """The failure in the answer to a call, in any known dialect; None if the call succeeded.

        A failure hidden in a success (`{"ok": false, …}`) is read; a success is never mistaken for a failure. A result
        that asks for input has not failed, so it gives None. A failure that cannot be read is an UNKNOWN_ERROR of the
        dialect "unknown", with the text that there is.

        Args:
            result: What a client of the MCP SDK or of FastMCP returned or raised: a result of any request, a JSON-RPC
                response or error, an `MCPError` or a `ToolError`. Or the JSON of a result or of a JSON-RPC response, as
                a dict, a str or bytes; an `Envelope` is returned unchanged. A str may also be the text of a failed
                result, and any other text or JSON value is a failure, since it is not the result of a call.

        Raises:
            TypeError: If `result` is a Python object of any other type; the content of an answer never raises.
        """
        read: Callable[[object], Envelope | None] = provided("read_result")
        return read(result)

    def text(self, *, limits: Limits = DEFAULT_LIMITS) -> str:
        """The envelope as the one text block that many clients show the model; see `mcpcore.wire.envelope_text`.

        Args:
            limits: The bounds for the text.
        """
        parts = vars(self).pop("_parts", None)  # once, since the data may change in place afterwards
        return write(self, max_details=limits.details, parts=parts)


def _rebuilt(values: dict[str, Any]) -> Envelope:
    return Envelope(**values)


def _read_retry(retry: object, data: object, known: Code | None) -> Retry | None:
    """The advice that a failure states, or None."""
    stated = stated_advice(retry)
    if stated is None and isinstance(data, Mapping) and isinstance(data.get("retryable"), bool):
        if not data["retryable"]:
            return Retry.never()
        return known.retry if known is not None and known.retry.retryable else Retry.now()
    return stated


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
