"""error-contract-type."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Text
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contracts import contracts_of, is_mcpcore_contract
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._values import FAILURE_MODE, NOT_ENTRIES
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef, Value

_OTHER_CALLS: Final = frozenset(
    {
        *NOT_ENTRIES,
        FAILURE_MODE,
        "builtins.dict",
        "builtins.set",
        "builtins.frozenset",
        "builtins.str",
        "builtins.iter",
    }
) - {"mcpcore.Contract"}
_OTHER_EXPRESSIONS: Final = {ast.GeneratorExp: "a generator", ast.DictComp: "a dict", ast.SetComp: "a set"}


class ContractType(Rule):
    """`errors` is neither a list nor a tuple."""

    id = "error-contract-type"
    severity = Severity.ERROR
    family = "contract"
    summary = "`errors` is present but is not a list or tuple"
    why = (
        "The server fails at import. A contract is a sequence, whose order clients see in `tools/list`; a set or a "
        "dict has none, or loses the types of the reasons."
    )
    bad = '@tool(errors={"no_match": ErrorCode.NOT_FOUND})'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Pass a list or a tuple of `FailureMode`, even for a single one: `errors=[mode]`."
    when_to_suppress = "Never: the server does not start."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that is certainly something else."""
        if tool.contract is None and (none := _written_none(tool)) is not None:
            ctx.report(
                none,
                f"the errors of {tool.display_name} is None, not a list or tuple of FailureMode",
                help="leave errors out, or write errors=[FailureMode(...), ...]",
                tool=tool,
            )
        for contract in contracts_of(tool):
            if contract.state == "sequence" or not is_mcpcore_contract(tool, contract):
                continue
            what = _other_type(contract.value)
            if what is None or _in_contract(contract.value):
                continue
            single = isinstance(contract.value, CallValue) and contract.value.func.name == FAILURE_MODE
            ctx.report(
                contract.node,
                f"the errors of {tool.display_name} is {what}, not a list or tuple of FailureMode",
                help="put it into a list: errors=[...]" if single else "write errors=[FailureMode(...), ...]",
                tool=tool,
            )
            return


def _written_none(tool: ToolDef) -> ast.expr | None:
    """The None of `@mcpcore.tool(errors=None)`, which raises; the `tool` method of a server accepts it."""
    call = tool.registration
    keyword = tool.decorator_keyword("errors") if tool.flavour == "mcpcore" else None
    if keyword is None or not isinstance(keyword.value, ast.Constant) or not isinstance(call, ast.Call):
        return None
    maker = evaluate(call.func, tool.module.scope)
    return keyword.value if isinstance(maker, Symbol) and maker.name == "mcpcore.tool" else None


def _other_type(value: Value) -> str | None:
    """The description of a value that certainly is neither a list nor a tuple; None if it may be one."""
    if isinstance(value, (Const, Text, Mapping, CodeValue)):
        return described(value)
    if isinstance(value, Items):
        return "a set" if value.kind == "set" else None
    if isinstance(value, CallValue):
        return described(value) if value.func.name in _OTHER_CALLS else None
    if isinstance(value, Symbol):
        other = isinstance(value.definition, ast.ClassDef) or value.name.startswith("builtins.")
        return described(value) if other or value.name in {*NOT_ENTRIES, FAILURE_MODE} else None
    return _OTHER_EXPRESSIONS.get(type(value.node))


def _in_contract(value: Value) -> bool:
    """Whether a value is the argument of `Contract(...)`, which accepts any iterable."""
    if value.module is None or value.node is None or isinstance(value, Mapping):
        return False
    parent = value.module.parents.get(value.node)
    return isinstance(parent, ast.Call) or (isinstance(parent, ast.keyword) and parent.arg != "errors")
