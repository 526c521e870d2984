"""The fix of error-contract-prefer-fail: writes `raise ctx.fail("reason", "...")` for `raise not_found("...")`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.model import Missing, Symbol, Unknown, string
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rules._bodies import body_of, reasons_known

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Change, Fix
    from mcpcore_lint.model import Contract, ErrorSite, ToolDef
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module

CONTEXT_NAMES: Final = ("ctx", "context", "call_context", "mcp_context")


def fail_fix(tool: ToolDef, contract: Contract, error: ErrorSite, reason: str, ctx: RuleContext) -> Fix | None:
    """The fix that raises a declared reason through the context; None if its result might be wrong."""
    handler = tool.handler
    call = error.node
    if not isinstance(call, ast.Call) or isinstance(handler.node, ast.Lambda):
        return None
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    if error.callee in CONSTRUCTORS:
        return None  # its arguments are not those of ctx.fail
    func = body_of(handler).value(call.func)
    if not isinstance(func, Symbol) or func.name != error.callee:
        return None  # through a partial: its arguments are not those of the factory
    module = handler.module
    unsafe = isinstance(error.reason, Unknown)
    context = handler.context
    changes: list[Change] = []
    if context is not None:
        if not context.mcpcore:
            return None
        name = context.name
    else:
        if not reasons_known(contract):
            return None
        taken = body_of(handler).names()
        free = next((free for free in CONTEXT_NAMES if free not in taken), None)
        if free is None:
            return None
        name = free
        method = is_method(tool)
        if method and not handler.node.args.posonlyargs + handler.node.args.args:
            return None
        context_type = codemods.import_name(module, "mcpcore", "Context")
        literal = codemods.import_name(module, "typing", "Literal")
        reasons = ", ".join(f'"{declared}"' for declared in contract.reasons)
        parameter = f"{name}: {context_type.text}[{literal.text}[{reasons}]]"
        changes += [*context_type.edits, *literal.edits]
        changes.append(codemods.change(module, "add_parameter", handler.node, parameter, int(method)))
        unsafe = unsafe or not _only_a_tool(tool)
    if _shadowed(tool, error, name):
        return None
    changes += _raised_by_context(module, call, error, f"{name}.fail", reason)
    return ctx.fix(f"Raise {name}.fail({reason!r})", changes, unsafe=unsafe)


def is_method(tool: ToolDef) -> bool:
    """Whether the handler's first parameter is the object that it is a method of."""
    node = tool.handler.node
    if tool.handler.owner is None or isinstance(node, ast.Lambda):
        return False
    return not any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list
    )


def _only_a_tool(tool: ToolDef) -> bool:
    """Whether only the framework calls the function: the registration is its only decorator."""
    node = tool.handler.node
    return not isinstance(node, ast.Lambda) and node.decorator_list == [tool.registration]


def _shadowed(tool: ToolDef, error: ErrorSite, name: str) -> bool:
    """Whether a function between the handler and the error uses the name of the context for something else."""
    function = error.function
    if function is tool.handler.node:
        return False
    scope = tool.handler.module.scope_of(function)
    while scope.node is not tool.handler.node:
        if name in scope.bindings or scope.parent is None:
            return True
        scope = scope.parent
    return False


def _raised_by_context(module: Module, call: ast.Call, error: ErrorSite, callee: str, reason: str) -> list[Change]:
    """The changes that make a call one of `ctx.fail`, which writes the reason into the data itself."""
    quoted = f'"{reason}"'
    arguments: list[ast.expr | ast.keyword | str] = [*codemods.arguments_in_order(call)]
    named = next((keyword for keyword in call.keywords if keyword.arg == "reason"), None)
    if named is not None and (call.args or error.form == "coded"):
        arguments.remove(named)  # otherwise it stays, since ctx.fail has the same parameter
    if error.form == "coded":
        code = next((keyword for keyword in call.keywords if keyword.arg == "code"), None)
        if code is None:
            arguments[arguments.index(call.args[0])] = quoted
        else:
            arguments[arguments.index(code)] = f"reason={quoted}"
    elif named not in arguments:
        arguments.insert(0, quoted)
    changes: list[Change] = []
    data = error.data.node
    if isinstance(data, ast.Dict) and not isinstance(error.reason, Missing) and string(error.reason) is not None:
        keys = [key.value if isinstance(key, ast.Constant) else None for key in data.keys]
        argument = error.data.keyword or data
        if keys == ["reason"] and argument in arguments:
            arguments.remove(argument)
        elif "reason" in keys and len(keys) > 1:
            changes.append(codemods.change(module, "remove_key", data, keys.index("reason")))
    return [codemods.rewrite_call(module, call, arguments, function=callee), *changes]
