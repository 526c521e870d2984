"""The fix of error-contract-prefer-fail: writes `raise ctx.fail("reason", "...")` for `raise not_found("...")`."""

import ast
from typing import Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Edit, Fix
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import Contract, ErrorSite, Symbol, ToolDef, Unknown
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._bodies import body_of

CONTEXT_NAMES: Final = ("ctx", "context", "call_context", "mcp_context")


def fail_fix(tool: ToolDef, contract: Contract, error: ErrorSite, reason: str, ctx: RuleContext) -> Fix | None:
    """The fix that raises a declared reason through the context; None if its result might be wrong."""
    handler, call = tool.handler, error.node
    if not isinstance(call, ast.Call) or error.function is not handler.node or isinstance(handler.node, ast.Lambda):
        return None
    func = body_of(handler).value(call.func)
    # Through a partial, a constructor or a subclass, its arguments are not those of the factory.
    mine = error.type_name != "mcpcore.CodedError"
    if (
        mine
        or error.callee in CONSTRUCTORS
        or not isinstance(func, Symbol)
        or func.name != error.callee
        or any(isinstance(arg, ast.Starred) for arg in call.args)
    ):
        return None
    unsafe = isinstance(error.reason, Unknown)
    changes: list[Change | Edit | None] = []
    if handler.context is not None:
        name: str | None = handler.context.name if handler.context.mcpcore else None
    else:
        name = next((free for free in CONTEXT_NAMES if free not in body_of(handler).names()), None)
        if not contract.known:
            return None
        context = codemods.import_name(handler.module, "mcpcore", "Context")
        literal = codemods.import_name(handler.module, "typing", "Literal")
        reasons = ", ".join(f'"{declared}"' for declared in contract.reasons)
        parameter = f"{name}: {context.text}[{literal.text}[{reasons}]]"
        place = codemods.add_parameter(handler.module, handler.node, parameter, int(is_method(tool)))
        changes += [*context.edits, *literal.edits, place]
        # With another decorator, other code may call the function too.
        unsafe = unsafe or handler.node.decorator_list != [tool.registration]
    if name is None:
        return None
    changes.append(_raised_by_context(handler.module, call, error, f"{name}.fail", f'"{reason}"'))
    return ctx.fix(f"Raise {name}.fail({reason!r})", changes, unsafe=unsafe)


def is_method(tool: ToolDef) -> bool:
    """Whether the handler's first parameter is the object that it is a method of."""
    node = tool.handler.node
    if tool.handler.owner is None or isinstance(node, ast.Lambda):
        return False
    return not any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list
    )


def _raised_by_context(module: Module, call: ast.Call, error: ErrorSite, callee: str, reason: str) -> Change | None:
    """The change that makes a call one of `ctx.fail`."""
    arguments: list[ast.expr | ast.keyword | str] = [*codemods.arguments_in_order(call)]
    keywords = {keyword.arg: keyword for keyword in call.keywords}
    named, code = keywords.get("reason"), keywords.get("code")
    if named is not None and (call.args or error.form == "coded"):
        arguments.remove(named)  # otherwise it stays, since ctx.fail has the same parameter
    if error.form == "coded":
        place = arguments.index(code or call.args[0])
        arguments[place] = f"reason={reason}" if code else reason
    elif named not in arguments:
        arguments.insert(0, reason)
    return codemods.rewrite_call(module, call, arguments, function=callee)
