"""`raises_reason` and `assert_fails`: a call must fail for a reason. A mismatch shows both surfaces of the failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, cast

from mcpcore.boundary.mapper import FailureMapper
from mcpcore.boundary.outcome import FailedCall, described_breaches
from mcpcore.client.failures import ToolCallFailed
from mcpcore.contract.codes import Code, CustomCode, ErrorCode
from mcpcore.contract.errors import CodedError
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract
from mcpcore.reports import counted
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import to_json
from mcpcore.values.unwrapping import leaves_of
from mcpcore.wire.dialects.result_forms import Answer, answer_of
from mcpcore.wire.envelope import Envelope
from mcpcore.wire.envelope_text import read as read_text

_MAX_SHOWN: Final = 10_000
"""Characters of each surface in a message."""


class RaisedFailure:
    """The failure that a block raised; it has its values once the block has ended.

    ```python
    from mcpcore import not_found
    from mcpcore.testing import raises_reason

    with raises_reason("no_order") as failure:
        raise not_found("There is no order A-9.", reason="no_order")
    assert failure.envelope.message == "There is no order A-9."
    ```
    """

    def __init__(self) -> None:
        """Start without a failure."""
        self._exception: BaseException | None = None
        self._envelope: Envelope | None = None

    @property
    def exception(self) -> BaseException:
        """The exception itself: a `CodedError`, a `ToolCallFailed`, or an error of a client."""
        if self._exception is None:
            raise ValueError("the block has not raised a failure yet; read it after the block")
        return self._exception

    @property
    def envelope(self) -> Envelope:
        """The failure as a client receives it."""
        if self._envelope is None:
            raise ValueError("the block has not raised a failure yet; read it after the block")
        return self._envelope

    @property
    def reason(self) -> str | None:
        """The reason."""
        return self.envelope.reason

    @property
    def code(self) -> Code | None:
        """The code; None if this program does not know it."""
        return self.envelope.error_code

    @property
    def message(self) -> str:
        """The message for the client."""
        return self.envelope.message

    @property
    def data(self) -> dict[str, Any]:
        """The author's data, as JSON."""
        return self.envelope.details


class raises_reason:  # noqa: N801 - reads like `pytest.raises`
    """A block that must raise a failure with this reason; as `with` and as `async with`.

    ```python
    with raises_reason("no_order", data={"order_id": "A-9"}) as failure:
        await get_order(order_id="A-9")
    assert failure.envelope.fallback_tool == "list_orders"
    ```

    A failure is a `CodedError`, as a tool raises it that is called like a function, a `ToolCallFailed`, or an error of
    a client, also if it is in an exception group. Any other exception passes through.

    Args:
        reason: The reason.
        code: The code; by default, any.
        data: Values that the author's data must have. Other keys may be there too.

    Raises:
        AssertionError: At the end of the block, if it raises no failure, a failure with another reason, code or data,
            or a failure that breaks its contract.
    """

    def __init__(self, reason: str, *, code: Code | None = None, data: Mapping[str, Any] | None = None) -> None:
        _require_code(code)
        self._expected = reason, code, data
        self._failure = RaisedFailure()

    def __enter__(self) -> RaisedFailure:
        return self._failure

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> bool:
        __tracebackhide__ = True
        if exc is None:
            raise AssertionError(f"expected a failure with the reason {self._expected[0]!r}, but the block raised none")
        matches = _failures_in(exc)
        if not matches:
            return False
        # In a group, the expected failure counts, wherever it stands.
        chosen = next((match for match in matches if match[1].reason == self._expected[0]), matches[0])
        exception, envelope, answer, breaches = chosen
        problem = _mismatch(envelope, *self._expected) or breaches
        if problem is not None:
            raise AssertionError(f"{problem}\n\n{_surfaces(envelope, answer)}") from exc
        self._failure._exception, self._failure._envelope = exception, envelope  # noqa: SLF001 - its own
        return True

    async def __aenter__(self) -> RaisedFailure:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> bool:
        __tracebackhide__ = True
        return self.__exit__(kind, exc, tb)


def assert_fails(
    result: object,
    reason: str,
    *,
    code: Code | None = None,
    data: Mapping[str, Any] | None = None,
    item: int | None = None,
) -> Envelope:
    """Check that the result of a call is a failure with this reason, and return the failure.

    ```python
    result = await client.call_tool("get_order", {"order_id": "A-9"})
    failure = assert_fails(result, "no_order", data={"order_id": "A-9"})
    assert failure.fallback_tool == "list_orders"
    ```

    Args:
        result: What a client of the SDK or of FastMCP returned or raised, or the JSON of it.
        reason: The reason.
        code: The code; by default, any.
        data: Values that the author's data must have. Other keys may be there too.
        item: For a batch, the failed item to check and to return in place of the call: its index in `failed`.

    Raises:
        AssertionError: If the call succeeded, failed in another way or has no such item, or if the text and the
            structured content of the result say different things.
        TypeError: If `result` is an object of an unknown type, or `code` or `item` is not what it takes.
    """
    __tracebackhide__ = True
    _require_code(code)
    if item is not None and (isinstance(item, bool) or not isinstance(item, int)):
        raise TypeError(f"item= takes the index of a failed item such as 0, not {item!r}")
    envelope, answer = Envelope.from_result(result), _answer(result)
    if item is not None:
        failed = _failed_items(envelope, answer)
        if not -len(failed) <= item < len(failed):
            raise AssertionError(
                f"expected failed[{item}] with the reason {reason!r}, but {counted(len(failed), 'item')} failed\n\n"
                f"{_surfaces(envelope, answer)}"
            )
        structured = {"error": failed[item].get("error")}
        # An item has no text that could contradict it.
        envelope, answer = Envelope.from_result({"isError": True, "structuredContent": structured, "content": []}), None
    if envelope is None:
        raise AssertionError(
            f"expected a failure with the reason {reason!r}, but the call succeeded\n\n{_surfaces(None, answer)}"
        )
    problem = _mismatch(envelope, reason, code, data) or _contradiction(envelope, answer)
    if problem is not None:
        raise AssertionError(f"{problem}\n\n{_surfaces(envelope, answer)}")
    return envelope


def _failed_items(envelope: Envelope | None, answer: Answer | None) -> list[Any]:
    """The failed items of a batch, some or all of whose items failed."""
    holder: Any = envelope.details if envelope is not None else answer and answer.structured
    failed = holder.get("failed") if isinstance(holder, Mapping) else None
    return [entry for entry in failed if isinstance(entry, Mapping)] if isinstance(failed, list) else []


def _require_code(code: object) -> None:
    if code is not None and not isinstance(code, ErrorCode | CustomCode):
        raise TypeError(f"code= takes a code such as ErrorCode.NOT_FOUND, not {code!r}")


def _failures_in(exc: BaseException) -> list[tuple[BaseException, Envelope, Answer | None, str | None]]:
    """The failures in `exc` or in its group, each with how it breaks its contract."""
    failures = []
    for leaf in leaves_of(exc):
        breaches = None
        answer = None
        if isinstance(leaf, CodedError):
            # The failure knows its entry, and not the whole contract.
            contract = NO_CONTRACT if leaf.entry is None else Contract([leaf.entry])
            outcome = FailureMapper().outcome(leaf, FailedCall(name=None, contract=contract))
            envelope = outcome.envelope
            if outcome.breaches:
                breaches = f"the failure breaks its contract: {described_breaches(outcome.breaches)}"
        elif isinstance(leaf, ToolCallFailed):
            envelope, answer = leaf.envelope, _answer(leaf.result)
        else:
            try:
                # No exception of a client says that the call succeeded.
                envelope, answer = cast("Envelope", Envelope.from_result(leaf)), _answer(leaf)
            except TypeError:
                continue
        failures.append((leaf, envelope, answer, breaches))
    return failures


def _answer(result: object) -> Answer | None:
    answer = result if isinstance(result, Envelope) else answer_of(result)
    return answer if isinstance(answer, Answer) else None


def _mismatch(envelope: Envelope, reason: str, code: Code | None, data: Mapping[str, Any] | None) -> str | None:
    if envelope.reason != reason:
        actual = "without a reason" if envelope.reason is None else f"with the reason {envelope.reason!r}"
        return f"expected a failure with the reason {reason!r}, but it failed {actual} ({clean_text(envelope.name)})"
    if code is not None and envelope.name != code.name:
        return f"{reason!r}: expected the code {code.name}, not {clean_text(envelope.name)}"
    if data is None:
        return None
    details = envelope.details
    problems = []
    for key, value in data.items():
        # The data of a failure is JSON, so a date in `data=` is compared as a text.
        expected: Any = to_json(value)
        if key not in details:
            problems.append(f"{key!r} is missing, expected {expected!r}")
        elif details[key] != expected:
            problems.append(f"{key!r} is {details[key]!r}, expected {expected!r}")
    return f"{reason!r}: the data differs: {'; '.join(problems)}" if problems else None


def _contradiction(envelope: Envelope, answer: Answer | None) -> str | None:
    """How the text contradicts the structured content, where both are of the canonical dialect."""
    if answer is None or answer.structured is None:
        return None
    for text in answer.texts:
        fields = read_text(text)
        if fields is None:
            continue
        for name, shown, sent in (
            ("reason", fields.reason, envelope.reason),
            ("code", fields.name, envelope.name),
            ("retry advice", fields.retry, envelope.retry),
            ("fallback tool", fields.fallback_tool, envelope.fallback_tool),
        ):
            if shown != sent:
                return f"the text and the structured content have different values of the {name}: {shown!r}, {sent!r}"
    return None


def _surfaces(envelope: Envelope | None, answer: Answer | None) -> str:
    """The text and the structured content; those that a server would send for a failure that was only raised."""
    if answer is not None and (answer.texts or answer.structured is not None):
        texts, structured = list(answer.texts), answer.structured
    elif envelope is not None:
        texts, structured = [envelope.text()], {"error": envelope.to_json()}
    else:
        texts, structured = [], None
    shown = json.dumps(to_json(structured), indent=2, ensure_ascii=False) if structured is not None else "(none)"
    text = "\n".join(clean_text(text) for text in texts) or "(none)"
    return f"text:\n{text[:_MAX_SHOWN]}\n\nstructured content:\n{clean_text(shown)[:_MAX_SHOWN]}"
