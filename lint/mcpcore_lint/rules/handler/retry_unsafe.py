"""retry-unsafe: the agent is advised to repeat a call that may have taken effect."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Related, Severity
from mcpcore_lint.engine.registrations.hints import hints_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CodeValue,
    Contract,
    ContractEntry,
    ErrorSite,
    Missing,
    ToolDef,
    Value,
    is_left_out,
    options,
    string,
)
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import contracts_of, element_of, entries_of

_STEP: Final = (
    'say effects="none" if the call fails before it changes anything, "unknown" or "partial" if it may have changed '
    "something; or Retry.never()"
)
_RETRYING: Final = frozenset({"mcpcore.Retry.now", "mcpcore.Retry.after"})
"""Calls that create advice to call again."""


class RetryUnsafe(Rule):
    """Advice to repeat a call that may have taken effect.

    Summary: the agent may do something twice: retry advice without `effects` on a tool that is neither read-only nor
        idempotent
    Why: A call can fail after it has taken effect: the order is placed, and the answer is lost. An agent that is
        advised to call again places the order twice. The annotations say that a second call changes something again,
        and only you know whether anything has changed when this failure is raised. Advice that comes from the code
        alone is not reported, because the runtime does not send it for such a tool. Nor is a tool whose annotations
        leave the question open.
    How to fix: Say what the failed call may have done: `effects="none"` if the handler fails before it changes
        anything, `"partial"` or `"unknown"` if it may have, in the entry or where the failure is raised. Or use
        `Retry.never()`, and let the recovery say how to find out what happened. If a second call changes nothing more,
        set `idempotent=True`.
    When to suppress: If the upstream ignores a repeated call, and clients need the annotation unchanged.

    Bad:
        @tool(
            read_only=False,
            idempotent=False,
            errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...", retry=Retry.now())],
        )
    Good:
        @tool(
            read_only=False,
            idempotent=False,
            errors=[
                FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...", effects="unknown"),
                FailureMode("refused", ErrorCode.TIMEOUT, when="...", recovery="...",
                            retry=Retry.after(seconds=30), effects="none"),
            ],
        )
    """

    severity = Severity.WARNING

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report the retry advice of each unsafe tool, once at each place."""
        seen: set[object] = set()
        for tool in ctx.tools:
            if tool.kind == "tool" and hints_of(tool).unsafe:
                for contract in contracts_of(tool):
                    _check_entries(contract, tool, seen, ctx)
                _check_throws(tool, seen, ctx)


def _check_entries(contract: Contract, tool: ToolDef, seen: set[object], ctx: RuleContext) -> None:
    for index, entry in entries_of(contract):
        retry = entry.arguments["retry"]
        if not entry.is_failure_mode or not _is_unsafe(retry, entry.arguments["effects"], entry.code_value):
            continue
        related: list[Related] = []
        node: ast.AST | None = retry.node
        module = entry.module
        if node is None or not entry.inline:
            # The entry itself is right. The annotations of this tool make its advice unsafe.
            node, module = element_of(contract, entry), contract.module
            related = [ctx.related(retry.node or entry.node, "the retry advice is declared here", entry.module)]
        # A tool may be registered twice, and `*LIST` is one place for several entries.
        if (node, entry.call) not in seen:
            seen.add((node, entry.call))
            name = repr(entry.reason_text) if entry.reason_text else f"errors[{index}]"
            ctx.report(node, _message(name, tool), help=_STEP, tool=tool, module=module, related=related)


def _check_throws(tool: ToolDef, seen: set[object], ctx: RuleContext) -> None:
    for error in tool.handler.errors:
        node = error.retry.node or error.node
        code = error.code if isinstance(error.code, CodeValue) else None
        unsafe = _is_unsafe(error.retry, error.effects, code)
        if error.form not in {"fail", "factory", "coded"} or node in seen or not unsafe:
            continue
        name, related = "this failure", []
        if error.form == "fail" or not (isinstance(error.reason, Missing) or not contracts_of(tool)):
            entry = _entry_without_effects(error, tool)
            if entry is None:
                continue
            name = f"this {entry.reason_text!r} failure"
            related = [ctx.related(entry.node, "declared here without effects", entry.module)]
        seen.add(node)
        ctx.report(node, _message(name, tool), help=_STEP, tool=tool, module=error.module, related=related)


def _message(name: str, tool: ToolDef) -> str:
    return (
        f"{name} tells the agent to call {tool.display_name} again, but the failed call may have taken effect, and "
        "the tool is not idempotent"
    )


def _is_unsafe(retry: Argument, effects: Argument, code: CodeValue | None) -> bool:
    """Whether a failure advises, or may advise, to call again and does not say what the call has done.

    A rate limit refuses the call before it does anything.
    """
    # A custom code of that name may mean something else.
    if code is not None and code.name == "RATE_LIMITED" and not code.custom:
        return False
    calls = (value for value in options(retry.value) if isinstance(value, CallValue))
    return is_left_out(effects.value) and any(call.func.name in _RETRYING for call in calls)


def _entry_without_effects(error: ErrorSite, tool: ToolDef) -> ContractEntry | None:
    """The entry of an error, or one of several, that declares neither effects nor retry advice.

    An entry that declares advice is reported where it is declared.
    """
    for entry in (entry for contract in contracts_of(tool) for _, entry in entries_of(contract)):
        effects = entry.arguments["effects"]
        silent = (
            entry.is_failure_mode
            and is_left_out(effects.value)
            and not _is_unsafe(entry.arguments["retry"], effects, entry.code_value)
        )
        if silent and any(_names(value, entry) for value in options(error.reason)):
            return entry
    return None


def _names(value: Value, entry: ContractEntry) -> bool:
    """Whether the reason of an error is that of an entry, or the entry itself: `ctx.fail(GONE)`."""
    if isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
        return entry.call is value.node
    return entry.reason_text is not None and entry.reason_text == string(value)
