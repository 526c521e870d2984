"""Turning `raise not_found("...")` into `raise ctx.fail("reason", "...")`, with the context that it needs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits as text_edits
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.model import Missing, Symbol, Unknown, string
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rules._bodies import body_of, reasons_known
from mcpcore_lint.rules._imports import import_names

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Contract, ErrorSite, FunctionNode, ToolDef
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import Module

CONTEXT_NAMES: Final = ("ctx", "context", "call_context", "mcp_context")


def fail_fix(tool: ToolDef, contract: Contract, error: ErrorSite, reason: str, ctx: RuleContext) -> Fix | None:
    """The fix that raises a declared reason through the context; None where it cannot be made for certain."""
    handler = tool.handler
    call = error.node
    if not isinstance(call, ast.Call) or isinstance(handler.node, ast.Lambda):
        return None
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if error.callee in CONSTRUCTORS:
        return None  # its arguments are not those of ctx.fail
    func = body_of(handler).value(call.func)
    if not isinstance(func, Symbol) or func.name != error.callee:
        return None  # through a partial: its arguments are not those of the factory
    module = handler.module
    unsafe = isinstance(error.reason, Unknown)
    context = handler.context
    edits: list[Edit] = []
    if context is not None:
        if not context.mcpcore:
            return None
        name = context.name
    else:
        if not reasons_known(contract):
            return None
        taken = body_of(handler).names()
        free = next((each for each in CONTEXT_NAMES if each not in taken), None)
        if free is None:
            return None
        name = free
        spelled, edits = import_names(module, [("mcpcore", "Context"), ("typing", "Literal")])
        reasons = ", ".join(f'"{each}"' for each in contract.reasons)
        annotation = f"{spelled['Context']}[{spelled['Literal']}[{reasons}]]"
        parameter = _parameter(module, handler.node, f"{name}: {annotation}", method=is_method(tool))
        if parameter is None:
            return None
        edits.append(parameter)
        unsafe = unsafe or not _only_a_tool(tool)
    if _shadowed(tool, error, name):
        return None
    edits += _call_edits(module, call, error, f"{name}.fail", reason)
    return ctx.fix(f"Raise {name}.fail({reason!r})", edits, unsafe=unsafe)


def is_method(tool: ToolDef) -> bool:
    """Whether the handler's first parameter is the object that it is a method of."""
    node = tool.handler.node
    if tool.handler.owner is None or isinstance(node, ast.Lambda):
        return False
    return not any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)


def _only_a_tool(tool: ToolDef) -> bool:
    """Whether the function is called by nothing but the framework: it is made a tool where it is written."""
    node = tool.handler.node
    return not isinstance(node, ast.Lambda) and node.decorator_list == [tool.registration]


def _shadowed(tool: ToolDef, error: ErrorSite, name: str) -> bool:
    """Whether a function between the handler and the error has another meaning for the context's name."""
    function = error.function
    if function is tool.handler.node:
        return False
    scope = tool.handler.module.scope_of(function)
    while scope.node is not tool.handler.node:
        if name in scope.bindings or scope.parent is None:
            return True
        scope = scope.parent
    return False


def _parameter(module: Module, node: FunctionNode, text: str, *, method: bool) -> Edit | None:
    """The edit that puts a parameter first, behind `self`."""
    assert not isinstance(node, ast.Lambda)
    source = module.source
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    if method:
        if not positional:
            return None
        _, end = source.node_range(positional[0])
        match = re.compile(r",[ \t]*\r?\n([ \t]*)(?=[\w*])").match(source.text, end)
        if match is not None:
            return Edit(match.end(), match.end(), f"{text},{source.newline}{match[1]}")
        return Edit(end, end, f", {text}")
    start = source.offset(node.lineno, node.col_offset)
    type_params: list[ast.AST] = getattr(node, "type_params", [])
    if type_params:
        _, start = source.node_range(type_params[-1])
    opening = source.text.find("(", start)
    if opening < 0:
        return None
    opening += 1
    everything = [*positional, *args.kwonlyargs, *(each for each in (args.vararg, args.kwarg) if each is not None)]
    if not everything:
        return Edit(opening, opening, text)
    match = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n([ \t]*)").match(source.text, opening)
    if match is not None and source.text[match.end() : match.end() + 1] not in {"#", "\n", "\r"}:
        return Edit(match.end(), match.end(), f"{text},{source.newline}{match[1]}")
    return Edit(opening, opening, f"{text}, ")


def _call_edits(module: Module, call: ast.Call, error: ErrorSite, callee: str, reason: str) -> list[Edit]:
    quoted = f'"{reason}"'
    edits = [text_edits.replace_node(module, call.func, callee)]
    given = next((each for each in call.keywords if each.arg == "reason"), None)
    if error.form == "coded":
        code = next((each for each in call.keywords if each.arg == "code"), None)
        if code is None:
            edits.append(text_edits.replace_node(module, call.args[0], quoted))
        else:
            edits.append(text_edits.replace_node(module, code, f"reason={quoted}"))
        if given is not None:
            edits.append(text_edits.remove_argument(module, call, given))
    elif given is not None and not call.args:
        pass  # `reason=` is a parameter of ctx.fail too
    else:
        items = text_edits.arguments_in_order(call)
        if given is not None:
            edits.append(text_edits.remove_argument(module, call, given))
        if items:
            start, _ = module.source.node_range(items[0])
            line = module.source.line(items[0].lineno)
            indent = line[: len(line) - len(line.lstrip())]
            # An argument that starts a line of its own keeps it: implicit concatenation would run into the reason.
            alone = module.source.position(start)[1] - 1 == len(indent)
            edits.append(Edit(start, start, f"{quoted},{module.source.newline}{indent}" if alone else f"{quoted}, "))
        else:
            _, end = module.source.node_range(call)
            edits.append(Edit(end - 1, end - 1, quoted))
    edits += _without_reason(module, call, error)
    return edits


def _without_reason(module: Module, call: ast.Call, error: ErrorSite) -> list[Edit]:
    """Take `"reason": ...` out of the data, where `ctx.fail` writes it anyway."""
    data = error.data.node
    if not isinstance(data, ast.Dict) or isinstance(error.reason, Missing):
        return []
    index = next(
        (n for n, key in enumerate(data.keys) if isinstance(key, ast.Constant) and key.value == "reason"), None
    )
    if index is None or string(error.reason) is None:
        return []
    if len(data.keys) == 1:
        holder: ast.expr | ast.keyword = error.data.keyword if error.data.keyword is not None else data
        return [text_edits.remove_argument(module, call, holder)] if holder in {*call.args, *call.keywords} else []
    source = module.source
    key = data.keys[index]
    assert key is not None
    if index + 1 < len(data.keys):
        following = data.keys[index + 1] or data.values[index + 1]
        end, _ = source.node_range(following)
        start, _ = source.node_range(key)
        if data.keys[index + 1] is None:
            end = source.text.rindex("**", start, end)
        return [Edit(start, end, "")]
    _, start = source.node_range(data.values[index - 1])
    _, end = source.node_range(data.values[index])
    return [Edit(start, end, "")]
