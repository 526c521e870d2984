"""error-contract-unthrown."""

import ast
from collections.abc import Iterable, Sequence

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.type_model import is_property
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import Contract, ContractEntry, ToolDef, strings
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import body_of, codes_of, to_be_filled_in
from mcpcore_lint.rules._thrown import CODED, all_thrown, masked, reason_texts
from mcpcore_lint.rules._tools import element_of
from mcpcore_lint.rules._wording import near

CONVERTERS = frozenset({"from_http_response", "from_http_response_async"})
"""Functions of mcpcore that choose the code from a table which the linter does not read."""
_RAISED_BY = {"TIMEOUT": "timeout=", "RATE_LIMITED": "max_concurrency=", "UNAUTHORIZED": "auth=", "FORBIDDEN": "auth="}
"""The options of tools and servers with which mcpcore itself raises the entry of a code."""


class ContractUnthrown(Rule):
    """A declared reason that is never raised.

    Summary: a declared reason is not raised by any reachable code
    Why: Agents and people prepare for a failure that cannot happen. Usually the code that raised it is gone, or raises
        the same failure under another name.
    How to fix: Raise the reason where it belongs, or remove it from `errors`. An entry whose recovery is still marked
        TODO is a proposal and is not reported.
    When to suppress: If code that the linter cannot follow raises it. The rule is silent if it finds such code itself.

    Bad:
        @tool(errors=[FailureMode("no_match", ...), FailureMode("queue_full", ...)])  # only no_match is raised
    Good:
        @tool(errors=[FailureMode("no_match", ...)])
    """

    severity = Severity.WARNING

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report entries that no tool of the file raises, and tools that never raise an entry they share."""
        uses: dict[ast.AST, list[ToolDef]] = {}
        idle: dict[ast.AST, list[tuple[ToolDef, Contract, ContractEntry]]] = {}
        for tool in ctx.tools:
            contract = tool.contract
            if contract is not None:
                for entry in contract.entries:
                    uses.setdefault(entry.node, []).append(tool)
                for entry in _idle(tool, contract, ctx):
                    idle.setdefault(entry.node, []).append((tool, contract, entry))
        for node, users in idle.items():
            if len(users) == len(uses[node]):
                self._report(users, "", own=users[0][2].module is module, ctx=ctx)
            else:
                for user in users:
                    self._report([user], "; other tools with the same entry do", own=False, ctx=ctx)

    @staticmethod
    def _report(
        users: Sequence[tuple[ToolDef, Contract, ContractEntry]], others: str, *, own: bool, ctx: RuleContext
    ) -> None:
        tool, contract, entry = users[0]
        stopped = [
            user
            for user in users
            if any(
                user[2].reason_text in (error.reasons or ()) for error, *_ in ctx.stopped(user[0].handler, deep=True)
            )
        ]
        names = " or ".join(dict.fromkeys(user.display_name for user, _, _ in stopped or users))
        node, module = (entry.node, entry.module) if own else (element_of(contract, entry), contract.module)
        unraised = (
            f"nothing that {names} calls raises it{others}",
            f"raise ctx.fail({entry.reason_text!r}) where it happens",
        )
        caught = f"{names} catches it before the client sees it", "let it through with `except CodedError: raise`"
        problem, step = caught if stopped else unraised
        message = f"the reason {entry.reason_text!r} is declared, but {problem}"
        related = [] if own else [ctx.related(entry.node, "it is declared here", entry.module)]
        ctx.report(
            node, message, help=f"{step}, or remove the entry from errors", tool=tool, module=module, related=related
        )


def _idle(tool: ToolDef, contract: Contract, ctx: RuleContext) -> list[ContractEntry]:
    """The entries of a contract that the tool never raises."""
    entries = [
        (entry, {entry.reason_text, *codes})
        for entry in contract.entries
        if (entry.reason_text or "").strip() and entry.resolved and not to_be_filled_in(entry)
        and (codes := codes_of(entry.code.value)) is not None and not _is_of_an_option(codes, tool)
    ]  # fmt: skip
    known = _known(tool, contract, ctx) if entries else None
    idle = [entry for entry, names in entries if known is not None and known.isdisjoint(names)]
    texts = _texts(tool) if idle else None
    return [entry for entry in idle if texts is not None and entry.reason_text not in texts]


def _is_of_an_option(codes: Iterable[str], tool: ToolDef) -> bool:
    """Whether an option next to the tool, or next to a server in its files, may raise an entry of these codes."""
    options = {_RAISED_BY[code] for code in codes if code in _RAISED_BY}
    return any(module.source.has(option) for option in options for module in (tool.module, tool.handler.module))


def _known(tool: ToolDef, contract: Contract, ctx: RuleContext) -> set[str | None] | None:
    """The reasons that a tool raises, and the codes of errors without one; None if it may raise anything."""
    handler = tool.handler
    raised = [
        (reason_texts(error), None if error.form == "fail" else codes_of(error.code))
        for error in handler.errors
        if error.form in CODED
    ]
    raised += ((strings(named.reason), None) for named in handler.named_reasons)
    everything = all_thrown(tool, ctx, named=True)
    raised += ((thrown.reasons, thrown.codes) for thrown in everything if thrown.reached is not None)
    unknown = any(reasons is None or not (reasons or codes) for reasons, codes in raised)
    throws = (throw for throw in handler.throws if throw.error is None and not throw.reraise and throw.call is None)
    if unknown or any(throws) or any(call.takes_context or call.project for call in ctx.reach(tool).unresolved):
        return None
    reasons = {reason for texts, _ in raised for reason in texts or ()}
    # Another rule reports a misspelt reason, so the one that it probably means counts as raised.
    meant = {near(reason, contract.reasons) for reason in reasons.difference(contract.reasons)}
    # So does another for one that a clause replaces.
    replaced = [failure.reasons for failure in masked(tool, ctx) if body_of(handler).raises([*failure.catch.body])]
    return reasons.union(meant, *replaced) | {code for texts, codes in raised if not texts for code in codes or ()}


def _texts(tool: ToolDef) -> set[str] | None:
    """The strings that may be reasons, in the body or in code that no call leads to.

    None if the body calls a function that raises from a table.
    """
    body, own = body_of(tool.handler), tool.handler.module
    if not CONVERTERS.isdisjoint({getattr(node, "attr", getattr(node, "id", None)) for node in body.nodes}):
        return None
    texts = {node.value for node in body.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for binding in (binding for bindings in own.scope.bindings.values() for binding in bindings):
        if binding.kind == "import" and binding.target is not None:
            source, name, level = binding.target
            for path in {source, f"{source}.{name}" if source and name else name or source}:
                module = own.project.module_of(own, path, level)
                texts |= _uncalled(module) if module is not None else set()
    return texts | _uncalled(own)


def _uncalled(module: Module) -> set[str]:
    """The strings in the properties and special methods of a file: these run without a call that could be followed."""
    return module.once(
        "uncalled",
        lambda: {
            node.value
            for info in module.classes.values()
            for method in info.methods.values()
            # Python itself calls special methods, other than the constructor.
            if is_property(method) or (method.name.startswith("__") and method.name != "__init__")
            for node in walk([*method.body])
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        },
    )
