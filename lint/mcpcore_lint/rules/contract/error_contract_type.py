"""The rule error-contract-type."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Text
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._entries import contracts_of, is_mcpcore_contract
from mcpcore_lint.rules.contract._values import FAILURE_MODE, NOT_ENTRIES
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef, Value
    from mcpcore_lint.rules.base import Family


_NOT_SEQUENCES: Final = frozenset(
    {"builtins.dict", "builtins.set", "builtins.frozenset", "builtins.str", "builtins.iter"}
)


class ContractType(Rule):
    """`errors` that is no list."""

    id = "error-contract-type"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`errors` is present but is not a list or tuple"
    why = (
        "A contract is a sequence: its order is the order in `tools/list`. Anything else is refused at import, or "
        "loses the order and the types of the reasons."
    )
    bad = '@tool(errors={"no_match": ErrorCode.NOT_FOUND})'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Give a list or a tuple of `FailureMode`, also where there is only one: `errors=[mode]`."
    when_to_suppress = "Never: the tool cannot be imported."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that is something else for certain."""
        if tool.contract is None and (none := _given_none(tool)) is not None:
            ctx.report(
                none,
                f"the errors of {tool.display_name} is None, not a list or tuple of FailureMode",
                help="leave errors out, or write errors=[FailureMode(...), ...]",
                tool=tool,
            )
        for contract in contracts_of(tool, ctx):
            if contract.state == "sequence" or not is_mcpcore_contract(tool, contract):
                continue
            what = _no_sequence(contract.value)
            if what is None or _in_contract(contract.value):
                continue
            single = isinstance(contract.value, CallValue) and contract.value.func.name == FAILURE_MODE
            step = "write errors=[...], also for one failure mode" if single else "write errors=[FailureMode(...), ...]"
            ctx.report(
                contract.node,
                f"the errors of {tool.display_name} is {what}, not a list or tuple of FailureMode",
                help=step,
                tool=tool,
            )
            return


def _given_none(tool: ToolDef) -> ast.expr | None:
    """The None that `@mcpcore.tool(errors=None)` is given, which refuses it; a server's own `tool` takes it."""
    call = tool.registration
    for each in call.keywords if isinstance(call, ast.Call) and tool.flavour == "mcpcore" else ():
        if each.arg == "errors" and isinstance(each.value, ast.Constant) and each.value.value is None:
            maker = evaluate(call.func, tool.module.scope) if isinstance(call, ast.Call) else None
            return each.value if isinstance(maker, Symbol) and maker.name == "mcpcore.tool" else None
    return None


def _no_sequence(value: Value) -> str | None:
    """What a value is that is for certain neither a list nor a tuple; None where it may be one."""
    written = {ast.GeneratorExp: "a generator", ast.DictComp: "a dict", ast.SetComp: "a set"}.get(type(value.node))
    if isinstance(value, (Const, Text, Mapping, CodeValue)):
        return described(value)
    if isinstance(value, Items):
        return None if value.kind != "set" else "a frozenset" if _calls_frozenset(value) else "a set"
    if isinstance(value, CallValue):
        name = value.func.name
        if name in {"builtins.list", "builtins.tuple", "builtins.sorted", "mcpcore.Contract"}:
            return None
        known = name in NOT_ENTRIES or name in _NOT_SEQUENCES or name == FAILURE_MODE
        return described(value) if known else None
    if isinstance(value, Symbol):
        named = value.name == FAILURE_MODE or value.name in NOT_ENTRIES or value.name.startswith("builtins.")
        return described(value) if named or isinstance(value.definition, ast.ClassDef) else None
    return written


def _in_contract(value: Value) -> bool:
    """Whether a value is what a `Contract(...)` is made of, which may be anything that can be iterated over."""
    if value.module is None or value.node is None or isinstance(value, Mapping):
        return False
    parent = value.module.parents.get(value.node)
    return isinstance(parent, ast.Call) or (isinstance(parent, ast.keyword) and parent.arg != "errors")


def _calls_frozenset(value: Items) -> bool:
    return isinstance(value.node, ast.Call) and ast.unparse(value.node.func) == "frozenset"
