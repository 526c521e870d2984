"""Failures that the framework itself raises for a tool: the contract of the tool may say what they mean there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpcore.contract.errors import CodedError, FrameworkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore.contract.codes import Effects, ErrorCode
    from mcpcore.contract.failure_modes import Contract
    from mcpcore.contract.retry import Retry


def own_failure(
    code: ErrorCode,
    message: str,
    data: Mapping[str, Any],
    contract: Contract[Any],
    *,
    reason: str,
    recovery: str,
    retry: Retry | None = None,
    effects: Effects | None = None,
) -> CodedError:
    """A failure that the framework raises for a tool.

    If a single entry of the contract has the code, the failure is that entry's: its reason, its recovery and, unless
    they are given here, its retry advice and its effects.
    """
    entries = [entry for entry in contract if entry.code is code]
    if len(entries) != 1:
        return FrameworkError(code, message, data, reason=reason, recovery=recovery, retry=retry, effects=effects)
    entry = entries[0]
    # Data that the entry describes is the author's.
    own_data = data if entry.data is None else None
    error = FrameworkError(code, message, own_data, reason=entry.reason, retry=retry, effects=effects)
    error.declare(entry)
    return error
