"""error-contract-unthrown."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Symbol, string, strings
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import body_of, codes_of, to_be_filled_in
from mcpcore_lint.rules._contracts import element_of
from mcpcore_lint.rules._thrown import CODED, all_thrown, reason_texts
from mcpcore_lint.rules._wording import near
from mcpcore_lint.semantics.type_model import is_property
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from mcpcore_lint.model import Contract, ContractEntry, ToolDef
    from mcpcore_lint.syntax.module import Module

    _Use: TypeAlias = tuple["_Raised", Contract, ContractEntry]

CONVERTERS = frozenset({"mcpcore.from_http_response", "mcpcore.from_http_response_async"})
"""Functions of mcpcore that choose the code from a table which the linter does not read."""


class ContractUnthrown(Rule):
    """A declared reason that is never raised."""

    id = "error-contract-unthrown"
    severity = Severity.WARNING
    family = "conformance"
    summary = "a declared reason that nothing reachable raises"
    why = (
        "Agents and people prepare for a failure that cannot happen. In most cases the code that raised it is gone, or "
        "raises the same failure under another name."
    )
    bad = '@tool(errors=[FailureMode("no_match", ...), FailureMode("queue_full", ...)])  # only no_match is raised'
    good = '@tool(errors=[FailureMode("no_match", ...)])'
    how_to_fix = (
        "Raise the reason where it belongs, or remove it from `errors`. An entry whose recovery is still marked TODO "
        "is a proposal and is not reported."
    )
    when_to_suppress = (
        "If code that the linter cannot follow raises it. The rule is silent if it finds such code itself."
    )

    def check_file(self, module: object, ctx: RuleContext) -> None:
        """Report entries that no tool of the file raises, and tools that never raise an entry they share."""
        uses: dict[ast.AST, list[_Use]] = {}
        for tool in ctx.tools:
            if tool.contract is None:
                continue
            raised = _Raised(tool, ctx)
            for entry in tool.contract.entries:
                uses.setdefault(entry.node, []).append((raised, tool.contract, entry))
        for users in uses.values():
            idle = [user for user in users if not user[0].may_raise(user[2])]
            if idle and len(idle) == len(users):
                self._report(idle, "", own=idle[0][2].module is ctx.module, ctx=ctx)
            else:
                for user in idle:
                    self._report([user], "; other tools with the same entry do", own=False, ctx=ctx)

    @staticmethod
    def _report(idle: Sequence[_Use], others: str, *, own: bool, ctx: RuleContext) -> None:
        raised, contract, entry = idle[0]
        names = " or ".join(dict.fromkeys(user.tool.display_name for user, _, _ in idle))
        ctx.report(
            entry.node if own else element_of(contract, entry),
            f"the reason {entry.reason_text!r} is declared, but nothing that {names} calls raises it{others}",
            help=f"raise ctx.fail({entry.reason_text!r}) where it happens, or remove the entry from errors",
            tool=raised.tool,
            module=entry.module if own else contract.module,
            related=[] if own else [ctx.related(entry.node, "it is declared here", entry.module)],
        )


class _Raised:
    """The reasons that a tool may raise, and whether it may raise any reason at all."""

    def __init__(self, tool: ToolDef, ctx: RuleContext) -> None:
        self.tool = tool
        self.ctx = ctx

    def may_raise(self, entry: ContractEntry) -> bool:
        """Whether the tool may raise an entry; an entry without a reason, or to be filled in, is not reported."""
        reason, codes = entry.reason_text, codes_of(entry.code.value)
        if not (reason or "").strip() or codes is None or not entry.resolved or to_be_filled_in(entry):
            return True
        known = self._known
        if known is None or known & {reason, *codes} or self._in_body is None or reason in self._in_body:
            return True
        return any(reason in _uncalled(module) for module in self._modules)

    @cached_property
    def _modules(self) -> list[Module]:
        """The file of the handler and the files of the project that it imports."""
        own = self.tool.handler.module
        modules = [own]
        for binding in (binding for bindings in own.scope.bindings.values() for binding in bindings):
            if binding.kind == "import" and binding.target is not None:
                source, name, level = binding.target
                inner = f"{source}.{name}" if source and name else name
                paths = [source, inner] if inner else [source]
                modules += [module for path in paths if (module := own.project.module_of(own, path, level)) is not None]
        return modules

    @cached_property
    def _known(self) -> set[str | None] | None:
        """The reasons, and the codes of errors without one; None if anything may be raised."""
        handler = self.tool.handler
        raised = [
            (reason_texts(error), None if error.form == "fail" else codes_of(error.code))
            for error in handler.errors
            if error.form in CODED
        ]
        raised += ((strings(reason), None) for reason in handler.named_reasons)
        everything = all_thrown(self.tool, self.ctx, named=True)
        raised += ((thrown.reasons, thrown.codes) for thrown in everything if thrown.reached is not None)
        unknown = any(reasons is None or not (reasons or codes) for reasons, codes in raised)
        throws = (throw for throw in handler.throws if throw.error is None and not throw.reraise and throw.call is None)
        unresolved = self.ctx.reach(self.tool).unresolved
        if unknown or any(throws) or any(call.takes_context or call.project for call in unresolved):
            return None
        reasons = {reason for texts, _ in raised for reason in texts or ()}
        declared = self.tool.contract.reasons if self.tool.contract is not None else ()
        # Another rule reports a misspelt reason, so the one that it probably means counts as raised.
        meant = {near(reason, declared) for reason in reasons.difference(declared)}
        return reasons | meant | {code for texts, codes in raised if not texts for code in codes or ()}

    @cached_property
    def _in_body(self) -> set[str] | None:
        """The strings in the body, which may be reasons; None if it calls a function that raises from a table."""
        body = body_of(self.tool.handler)
        texts: set[str] = set()
        for node in body.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
                value = body.value(node)
                if isinstance(value, Symbol) and value.name in CONVERTERS:
                    return None
                if isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
                    texts.update(strings(value.argument("reason", 0)) or ())
                texts.add(string(value) or "")
        return texts


def _uncalled(module: Module) -> set[str]:
    """The strings in the properties and special methods of a file: these run without a call that could be followed."""
    if "uncalled" not in module.memo:
        module.memo["uncalled"] = {
            node.value
            for info in module.classes.values()
            for method in info.methods.values()
            if is_property(method) or _is_special(method.name)
            for node in walk([*method.body])
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    texts: set[str] = module.memo["uncalled"]
    return texts


def _is_special(name: str) -> bool:
    """Whether Python itself calls a method, other than the constructor."""
    return name.startswith("__") and name.endswith("__") and name != "__init__"
