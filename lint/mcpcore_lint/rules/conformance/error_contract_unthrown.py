"""error-contract-unthrown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Symbol, string, strings
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import FUNCTIONS, Body, body_of, codes_of, to_be_filled_in
from mcpcore_lint.rules._thrown import CODED, all_thrown, only_named, reason_texts
from mcpcore_lint.rules._wording import near
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from typing import TypeAlias

    from mcpcore_lint.model import Contract, ContractEntry, ToolDef

    _Use: TypeAlias = tuple[ToolDef, Contract, ContractEntry]

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
        places: dict[ast.AST, list[_Use]] = {}
        for tool in ctx.tools:
            if tool.contract is None:
                continue
            for entry in tool.contract.entries:
                if entry.reason_text is not None and not entry.reason_text.strip():
                    continue  # another rule reports the missing reason
                places.setdefault(entry.node, []).append((tool, tool.contract, entry))
        verdicts: dict[int, _Raised] = {}
        shared: dict[ast.AST, list[_Use]] = {}
        for uses in places.values():
            idle: list[_Use] = []
            for tool, contract, entry in uses:
                if id(tool) not in verdicts:
                    verdicts[id(tool)] = _Raised(tool, ctx)
                if not verdicts[id(tool)].may_raise(entry):
                    idle.append((tool, contract, entry))
            if len(idle) == len(uses):
                self._report(uses, ctx)
            else:
                for use in idle:
                    shared.setdefault(use[0].registration, []).append(use)
        for idle in shared.values():
            self._report_shared(idle, ctx)

    @staticmethod
    def _report_shared(uses: list[_Use], ctx: RuleContext) -> None:
        """Report entries that other tools raise and this one does not."""
        tool, contract, _ = uses[0]
        reasons = [entry.reason_text or "" for _, _, entry in uses]
        listed = " and ".join(map(repr, reasons))
        one = len(reasons) == 1
        ctx.report(
            _written(contract, uses[0][2]) if one else contract.node,
            f"the {'reason' if one else 'reasons'} {listed} {'is' if one else 'are'} declared, but nothing that "
            f"{tool.display_name} calls raises {'it' if one else 'them'}; other tools with the same "
            f"{'entry' if one else 'entries'} do",
            help=f"raise ctx.fail({reasons[0]!r}) where it happens, or remove the "
            f"{'entry' if one else 'entries'} from this tool's errors",
            tool=tool,
            module=contract.module,
            related=[ctx.related(entry.node, "it is declared here", entry.module) for _, _, entry in uses],
        )

    @staticmethod
    def _report(uses: list[_Use], ctx: RuleContext) -> None:
        tool, contract, entry = uses[0]
        own = entry.module is ctx.module
        names = " or ".join(dict.fromkeys(user.display_name for user, _, _ in uses))
        ctx.report(
            entry.node if own else contract.node,
            f"the reason {entry.reason_text!r} is declared, but nothing that {names} calls raises it",
            help=f"raise ctx.fail({entry.reason_text!r}) where it happens, or remove the entry from errors",
            tool=tool,
            module=entry.module if own else contract.module,
            related=[] if own else [ctx.related(entry.node, "it is declared here", entry.module)],
        )


def _written(contract: Contract, entry: ContractEntry) -> ast.AST:
    """The element of a contract that names an entry defined elsewhere; the whole contract if that is unclear."""
    node = contract.node
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) != len(contract.entries):
        return node
    spread = any(isinstance(element, ast.Starred) for element in node.elts)
    return node if spread else node.elts[contract.entries.index(entry)]


class _Raised:
    """The reasons that a tool may raise, and whether it may raise any reason at all."""

    def __init__(self, tool: ToolDef, ctx: RuleContext) -> None:
        self.reasons: set[str] = set()
        self.codes: set[str] = set()
        """Codes that are raised without a reason; each may be meant as an entry with that code."""
        self.anything = False
        handler = tool.handler
        body = body_of(handler)
        unreachable = _never_used(body)
        for error in handler.errors:
            if error.form in CODED and error.function not in unreachable:
                self._take(reason_texts(error), None if error.form == "fail" else codes_of(error.code))
        for throw in handler.throws:
            if throw.error is None and not throw.reraise and throw.call is None and throw.function not in unreachable:
                self.anything = True
        for reason in handler.named_reasons:
            self._take(strings(reason), None)
        for thrown in (*all_thrown(tool, ctx), *only_named(tool, ctx)):
            if thrown.reached is not None:
                self._take(thrown.reasons, thrown.codes)
        if any(call.takes_context or call.project for call in ctx.reach(tool).unresolved):
            self.anything = True
        declared = tool.contract.reasons if tool.contract is not None else ()
        self.misspelt = {near(reason, declared) for reason in self.reasons.difference(declared)}
        """Declared reasons that misspelt ones probably mean; another rule reports the misspelling."""
        self._rest: tuple[ToolDef, Body, set[ast.AST]] | None = (tool, body, unreachable)
        """The body, until it is searched for strings: this is slow, and most entries are found without it."""

    def _take(self, reasons: tuple[str, ...] | None, codes: tuple[str, ...] | None) -> None:
        if reasons is None:
            self.anything = True
        elif reasons:
            self.reasons |= set(reasons)
        elif codes is None:
            self.anything = True
        else:
            self.codes |= set(codes)

    def _words(self, tool: ToolDef, body: Body, unreachable: set[ast.AST]) -> None:
        """Collect strings in the body, which may be reasons, and look for functions that raise from a table."""
        decorators = [] if isinstance(body.root, ast.Lambda) else body.root.decorator_list
        outside = [decorator for decorator in decorators if decorator is not tool.registration]
        for node in [*body.nodes, *walk([*outside])]:
            if body.function_of(node) in unreachable:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.reasons.add(node.value)
            elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
                value = body.value(node) if node in body.parents else None
                text = string(value) if value is not None else None
                if text is not None:
                    self.reasons.add(text)
                elif isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
                    self.reasons |= set(strings(value.argument("reason", 0)) or ())
                if isinstance(value, Symbol) and value.name in CONVERTERS:
                    self.anything = True
            if node in outside and isinstance(node, (ast.Call, ast.Name, ast.Attribute)):
                from mcpcore_lint.semantics.evaluate import evaluate

                scope = body.module.scope_of(body.root).parent
                made = evaluate(node, scope) if scope is not None else None
                func = made.func if isinstance(made, CallValue) else made
                if isinstance(func, Symbol) and func.name in CONVERTERS:
                    self.anything = True

    def may_raise(self, entry: ContractEntry) -> bool:
        """Whether the tool may raise an entry."""
        reason = entry.reason_text
        if self.anything or reason is None or reason in self.reasons or reason in self.misspelt:
            return True
        codes = codes_of(entry.code.value)
        if codes is None or not entry.resolved or to_be_filled_in(entry) or not self.codes.isdisjoint(codes):
            return True
        if self._rest is not None:
            rest, self._rest = self._rest, None
            self._words(*rest)
        return self.anything or reason in self.reasons


def _never_used(body: Body) -> set[ast.AST]:
    """The nested functions that are never used, and the functions inside them."""
    if not body.nested:
        return set()
    read = {name.id for name in body.all(ast.Name) if isinstance(name.ctx, ast.Load)}
    functions: set[ast.AST] = set()
    for node in body.nodes:
        outer = body.function_of(node)
        unused = (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name not in read
            and not node.decorator_list
            and not isinstance(body.parents[node], ast.ClassDef)
        )
        if unused or (outer in functions and isinstance(node, FUNCTIONS)):
            functions.add(node)
    return functions
