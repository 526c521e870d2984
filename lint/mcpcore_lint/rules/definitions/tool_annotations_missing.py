"""tool-annotations-missing."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.registrations.hints import IDEMPOTENT, READ_ONLY, hints_of
from mcpcore_lint.model import ContractEntry, ToolDef, is_left_out
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._advice import CHANGED_BY_HINTS
from mcpcore_lint.rules._tools import in_test, tool_entries


class ToolAnnotationsMissing(Rule):
    """The retry advice of a failure depends on annotations that the tool does not have.

    Summary: a contract tool lacks the annotations that its default retry advice depends on
    Why: After a TIMEOUT or SERVICE_UNAVAILABLE, an agent could simply call a read-only tool again. But by the defaults
        of MCP, a tool without annotations may be destructive and is not idempotent. So the runtime withholds the advice
        of the code: the failure says that the call may have taken effect, and that the agent should check first. Only
        you know whether a second call does harm, so `--fix` writes nothing.
    How to fix: Write `read_only=True` if the tool changes nothing. Otherwise write `idempotent=True` if a second call
        changes nothing more, and `read_only=False, idempotent=False` if it does. The hints of
        `annotations=ToolAnnotations(...)` say the same. Or declare `retry` or `effects` for the failure mode.
    When to suppress: When code that the linter does not read sets the annotations.

    Bad:
        @tool(errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...")])
    Good:
        @tool(read_only=True, errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...")])
    """

    severity = Severity.INFO

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the hints that a tool lacks, with the reasons whose advice depends on them."""
        if tool.kind != "tool" or tool.contract is None or in_test(tool):
            return
        hints = hints_of(tool)
        if hints.idempotent == "true" or hints.read_only == "true" or "unknown" in hints:
            return
        values = ((READ_ONLY, hints.read_only), (IDEMPOTENT, hints.idempotent))
        missing = [names[0].removesuffix("_hint") for names, value in values if value == "missing"]
        reasons = dict.fromkeys(repr(entry.reason_text) for _, entry in tool_entries(tool) if _depends_on_hints(entry))
        if not missing or not reasons:
            return
        *others, last = reasons
        listed = f"{', '.join(others)} and {last}" if others else last
        keyword = tool.decorator_keyword("annotations")
        node, module = (tool.span, tool.handler.module) if keyword is None else (keyword.value, None)
        step = """write read_only=True if the tool changes nothing; otherwise read_only=False and idempotent=..., True
        if a second call changes nothing more"""
        message = (
            f"after {listed}, the agent is told to check what {tool.display_name} has changed and not to call again, "
            f"since nothing states {' and '.join(missing)}"
        )
        ctx.report(node, message, help=" ".join(step.split()), tool=tool, module=module)


def _depends_on_hints(entry: ContractEntry) -> bool:
    """Whether an entry has the advice of its code, and that advice depends on the annotations."""
    code = entry.code_value
    return (
        entry.is_failure_mode
        and entry.reason_text is not None
        and code is not None
        and not code.custom
        and code.name in CHANGED_BY_HINTS
        and all(is_left_out(entry.arguments[name].value) for name in ("retry", "effects"))
    )
