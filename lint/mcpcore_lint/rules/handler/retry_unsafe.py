"""retry-unsafe: the agent is advised to repeat a call that may have taken effect."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Missing, is_left_out, options, string
from mcpcore_lint.registrations.hints import hints_of
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._advice import says_to_retry
from mcpcore_lint.rules._contracts import contracts_of, entries_of

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Related
    from mcpcore_lint.model import Contract, ContractEntry, ErrorSite, ToolDef, Value
    from mcpcore_lint.syntax.module import Module

_STEP: Final = (
    'declare effects="none" if the call fails before it changes anything, "unknown" or "partial" if it may have '
    "changed something; or Retry.never()"
)
_AT_THROW: Final = (
    'give effects="none" here if nothing was changed before this failure, "unknown" or "partial" if something may have '
    "been; or Retry.never()"
)


class RetryUnsafe(Rule):
    """Advice to repeat a call that may have taken effect."""

    id = "retry-unsafe"
    severity = Severity.WARNING
    family = "handler"
    summary = (
        "the agent may do something twice: retry advice without `effects` on a tool that is neither read-only nor "
        "idempotent"
    )
    why = (
        "A call can fail after it has taken effect: the order is placed, and the answer is lost. An agent that is "
        "advised to call again places it twice. The annotations say that a second call changes more, and only the "
        "author knows whether anything has changed by the time of this failure. Advice that comes from the code alone "
        "is not reported, because the runtime does not send it for such a tool."
    )
    bad = (
        "@tool(\n"
        "    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False),\n"
        '    errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...", retry=Retry.now())],\n'
        ")"
    )
    good = (
        "@tool(\n"
        "    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False),\n"
        "    errors=[\n"
        '        FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...", effects="unknown"),\n'
        '        FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="...",\n'
        '                    retry=Retry.after(seconds=30), effects="none"),\n'
        "    ],\n"
        ")"
    )
    how_to_fix = (
        'Say what the failed call may have done: `effects="none"` if the handler fails before it changes anything, '
        '`"partial"` or `"unknown"` if it may have, in the entry or where the failure is raised. Or use '
        "`Retry.never()`, and let the recovery say how to find out. If a second call changes nothing more, set "
        "`idempotent_hint=True` in the annotations."
    )
    when_to_suppress = "If the upstream ignores a repeated call, and the annotation must stay as it is for clients."

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report the retry advice of each unsafe tool, once at each place."""
        seen: set[object] = set()
        for tool in ctx.tools:
            if tool.kind == "tool" and hints_of(tool).unsafe:
                for contract in contracts_of(tool):
                    self._check_entries(contract, tool, seen, ctx)
                self._check_throws(tool, seen, ctx)

    @staticmethod
    def _check_entries(contract: Contract, tool: ToolDef, seen: set[object], ctx: RuleContext) -> None:
        for index, entry in entries_of(contract):
            if not entry.is_failure_mode or not _is_unsafe(entry):
                continue
            related: tuple[Related, ...] = ()
            retry = entry.arguments["retry"]
            node, module = retry.node, entry.module
            if node is None or not entry.inline:
                # The entry itself is right. The annotations of this tool make its advice unsafe.
                node, module = _item_at(contract, index), contract.module
                related = (ctx.related(retry.node or entry.node, "the retry advice is declared here", entry.module),)
            # A tool may be registered twice, and `*LIST` is one place for several entries.
            if (node, entry.call) in seen:
                continue
            seen.add((node, entry.call))
            name = repr(entry.reason_text) if entry.reason_text else f"errors[{index}]"
            ctx.report(node, _message(name, tool), help=_STEP, tool=tool, module=module, related=related)

    @staticmethod
    def _check_throws(tool: ToolDef, seen: set[object], ctx: RuleContext) -> None:
        for error in tool.handler.errors:
            node = error.retry.node or error.node
            if error.form not in {"fail", "factory", "coded"} or not says_to_retry(error.retry) or node in seen:
                continue
            if not is_left_out(error.effects.value):
                continue
            if _names_no_entry(error, tool):
                seen.add(node)
                ctx.report(node, _message("this failure", tool), help=_AT_THROW, tool=tool, module=error.module)
            elif (entry := _entry_without_effects(error, tool)) is not None:
                seen.add(node)
                ctx.report(
                    node,
                    _message(f"this {entry.reason_text!r} failure", tool),
                    help=_AT_THROW,
                    tool=tool,
                    module=error.module,
                    related=(ctx.related(entry.node, "declared here without effects", entry.module),),
                )


def _message(name: str, tool: ToolDef) -> str:
    return (
        f"{name} tells the agent to call {tool.display_name} again, but the failed call may have taken effect, and "
        "the tool is not idempotent"
    )


def _is_unsafe(entry: ContractEntry) -> bool:
    """Whether an entry advises to call again and does not say what the call has done."""
    return says_to_retry(entry.arguments["retry"]) and is_left_out(entry.arguments["effects"].value)


def _names_no_entry(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether an error has no entry that could declare its effects."""
    return error.form != "fail" and (isinstance(error.reason, Missing) or not contracts_of(tool))


def _entry_without_effects(error: ErrorSite, tool: ToolDef) -> ContractEntry | None:
    """The entry of an error, or one of several, that declares neither effects nor retry advice.

    An entry that declares advice is reported where it is declared.
    """
    for contract in contracts_of(tool):
        for _, entry in entries_of(contract):
            silent = is_left_out(entry.arguments["effects"].value) and not says_to_retry(entry.arguments["retry"])
            if entry.is_failure_mode and silent and any(_names(value, entry) for value in options(error.reason)):
                return entry
    return None


def _names(value: Value, entry: ContractEntry) -> bool:
    """Whether the reason of an error is that of an entry, or the entry itself: `ctx.fail(GONE)`."""
    if isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
        return entry.call is value.node
    return entry.reason_text is not None and entry.reason_text == string(value)


def _item_at(contract: Contract, index: int) -> ast.expr:
    """The item of `errors=[...]` at a position; the whole list where items of another list come before it."""
    node = contract.node
    if isinstance(node, (ast.List, ast.Tuple)):
        items = node.elts[: index + 1]
        if len(items) > index and not any(isinstance(item, ast.Starred) for item in items):
            return items[index]
    return node
