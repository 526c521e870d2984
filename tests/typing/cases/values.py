"""Values: failure modes, contracts, codes, retry advice, errors and their factories, envelopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from typing_extensions import assert_type

import mcpcore
import mcpcore.testing
from mcpcore import (
    CodedError,
    Contract,
    CustomCode,
    Envelope,
    ErrorCode,
    FailureMode,
    Retry,
    classify,
    conflict,
    explain,
    internal_error,
    not_found,
    rate_limited,
    service_unavailable,
    validation_error,
)

QUOTA_SPENT: Final = CustomCode(
    "QUOTA_SPENT", 1402, http_status=402, category="client", retry=Retry.never(), sentence="The quota is spent."
)
CustomCode("A", 1, http_status=402, category="clinet", retry=Retry.never(), sentence="")  # E: all - misspelt category


class Facts(BaseModel):
    path: str


full = FailureMode(
    "quota_spent",
    QUOTA_SPENT,
    when="The quota is spent.",
    recovery="Wait for the next month.",
    retry=Retry.after(seconds=30),
    fallback_tool="other",
    strategy="retry_later",
    actions=["wait"],
    corrective_params={"limit": 1},
    user_message="Your quota is spent.",
    data=Facts,
    example={"path": "/"},
)
FailureMode("a", "NOT_FOUND", when="", recovery="")  # E: all - a name is no code
FailureMode("a", ErrorCode.NOT_FUND, when="", recovery="")  # E: all - misspelt code
FailureMode("a", ErrorCode.NOT_FOUND, when="")  # E: all - no recovery
FailureMode("a", ErrorCode.NOT_FOUND, when="", recovery="", strategy="retry")  # E: all - misspelt strategy
full.when = "Now."  # E: all - a failure mode is frozen

contract = Contract([full, FailureMode("two", ErrorCode.CONFLICT, when="Two.", recovery="Do two.")])
assert_type(contract[0].when, str)
assert_type(contract["two"].retry, Retry | None)
assert_type(ErrorCode.NOT_FOUND.http_status, int)
assert_type(Retry.after(seconds=1.5).seconds, float | None)
Retry.after(30)  # E: all - seconds is keyword-only


def raises(kind: int) -> None:
    match kind:
        case 0:
            raise not_found("None.", data={"reason": "no_match"})
        case 1:
            raise conflict(reason="taken", recovery="Choose another.", retry=Retry.now())
        case 2:
            raise rate_limited("Too many.", retry=Retry.after(seconds=3)) from ValueError()
        case 3:
            raise validation_error("Bad.", {"field": "a"}, recovery=None)
        case 4:
            raise CodedError(ErrorCode.TIMEOUT, "Late.", {"after": 3}, reason="late")
        case 5:
            raise CodedError(QUOTA_SPENT)
        case 6:
            raise internal_error(messag="a")  # E: all - no such parameter
        case 7:
            raise mcpcore.not_fond()  # E: all - no such name
        case 8:
            mcpcore.testing.assert_fail()  # E: all - no such name
        case _:
            raise service_unavailable()


def reads(error: CodedError, exc: BaseException, result: object) -> None:
    assert_type(error.message, str)
    assert_type(error.reason, str | None)
    assert_type(error.data, Mapping[str, Any] | None)
    assert_type(classify(exc), ErrorCode | CustomCode)
    assert_type(explain(exc).retry, Retry)
    envelope = Envelope.from_result(result)
    print(envelope.message)  # E: all - there may be no failure
    if envelope is not None:
        assert_type(envelope.message, str)
        assert_type(envelope.retry.retryable, bool)
        assert_type(envelope.error_code, ErrorCode | CustomCode | None)
