"""error-contract-reason-format."""

import ast
import re
from typing import Final

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Fix, Severity
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import Symbol, ToolDef, strings
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._tools import contracts_of
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import FAILURE_MODE, Checked, Entry, EntryRule, Problem

SNAKE_CASE: Final = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
MAX_LENGTH: Final = 63


class ContractReasonFormat(EntryRule):
    """The reason is not snake_case, or is too long.

    Summary: the reason is not snake_case (or is longer than 63 characters)
    Why: Clients compare reasons character by character, and use them as names in code and as metric labels. One
        spelling everywhere avoids comparisons that never match.
    How to fix: Rename the reason, also in every `ctx.fail` and `Context[Literal[...]]` that uses it. The fix does this
        within the file. It is unsafe, because clients see the new name.
    When to suppress: When clients already depend on the reason as it is.

    Bad:
        FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="...", recovery="...")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")
    """

    severity = Severity.WARNING
    fixable = "unsafe"
    arguments = ("reason",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a reason in another spelling."""
        text = checked.text
        if text is None or not text.strip() or (re.fullmatch(SNAKE_CASE, text) and len(text) <= MAX_LENGTH):
            return None
        new = snake_case(text)
        what = f"is longer than {MAX_LENGTH} characters" if len(text) > MAX_LENGTH else "is not snake_case"
        step = "use lower-case letters, digits and single underscores, starting with a letter"
        return Problem(
            f"the reason {shortened(text)!r} {what}",
            f"rename it to {new!r}, here and where it is used" if new else step,
            _renamed(checked.entry, text, new, checked.ctx) if new else None,
        )


def snake_case(text: str) -> str | None:
    """The reason in snake_case, cut to 63 characters; None if letters would have to be invented for it."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    if any(char.isalnum() and not char.isascii() for char in words):
        return None
    words = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if len(words) > MAX_LENGTH:
        words = words[: MAX_LENGTH + 1].rpartition("_")[0] or words[:MAX_LENGTH]
    return words if re.fullmatch(SNAKE_CASE, words) else None


def _renamed(entry: Entry, old: str, new: str, ctx: RuleContext) -> Fix | None:
    """The fix that renames a reason throughout the file; None if another string is equal, or another file uses it.

    It is unsafe: clients that look for the old reason no longer find it.
    """
    import json

    module = ctx.module
    tools = [tool for tool in ctx.tools if any(old in contract.by_reason for contract in contracts_of(tool))]
    taken = any(new in contract.by_reason for tool in tools for contract in contracts_of(tool))
    elsewhere = entry.model.module is not module or any(_used_elsewhere(tool, old, ctx) for tool in tools)
    if taken or elsewhere or not tools:
        return None
    module.complete()
    strings = [node for node in walk([module.tree]) if isinstance(node, ast.Constant) and node.value == old]
    # A docstring of that one word is no use of the reason.
    uses = [node for node in strings if not isinstance(module.parents[node], ast.Expr)]
    if not all(_is_reason(node, ctx) for node in uses):
        return None
    changes = [edits.replace_node(module, node, json.dumps(new)) for node in uses]
    return ctx.fix(f"Rename the reason to {new!r}", changes, unsafe=True)


def _used_elsewhere(tool: ToolDef, old: str, ctx: RuleContext) -> bool:
    """Whether the reason is, or may be, used somewhere that cannot be seen from the file."""
    context = tool.handler.context
    quoted = context is not None and isinstance(context.annotation, ast.Constant)
    reach = ctx.reach(tool)
    return (
        tool.handler.module is not ctx.module
        or quoted
        or any(strings(call.reason) is None for call in tool.handler.fail_calls)
        or any(call.takes_context for call in reach.unresolved)
        or any(old in (throw.reasons or ()) and throw.site.path != ctx.module.path for throw in reach.throws)
    )


def _is_reason(node: ast.Constant, ctx: RuleContext) -> bool:
    """Whether the place of a string shows that it is a reason."""
    parent = ctx.module.parents[node]
    if isinstance(parent, ast.Tuple):
        parent = ctx.module.parents[parent]
    match parent:
        case (
            ast.keyword(arg="reason")
            | ast.Call(func=ast.Attribute(attr="fail" | "recovery_for"))
            | ast.Assign()
            | ast.Compare(left=ast.Attribute(attr="reason"))
        ):
            return True
        case ast.Dict():
            keys = [key for key, value in zip(parent.keys, parent.values, strict=True) if value is node]
            return any(isinstance(key, ast.Constant) and key.value == "reason" for key in keys)
        case ast.Call(func=head) | ast.Subscript(value=head):
            value = ctx.resolve(head)
            return isinstance(value, Symbol) and value.name in {FAILURE_MODE, "typing.Literal"}
    return False
