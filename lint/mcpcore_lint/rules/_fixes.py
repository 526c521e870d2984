"""The fixes that write a contract, with an entry for each failure of a tool, and `raise ctx.fail("reason", "...")`."""

import ast
from collections.abc import Mapping
from typing import Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Edit, Fix
from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import Contract, ErrorSite, Symbol, Text, ToolDef, Unknown, string
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._bodies import body_of
from mcpcore_lint.rules._thrown import BASELINE, Thrown, all_thrown

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


MAX_WHEN: Final = 90


def _entries(tool: ToolDef, ctx: RuleContext) -> dict[str, tuple[str, str]]:
    """The code and the `when` of each reason that a tool throws itself or through calls."""
    entries: dict[str, tuple[str, str]] = {}
    for thrown in all_thrown(tool, ctx):
        codes = [code for code in thrown.codes or () if code in CODES.by_name]
        if thrown.reasons:
            named = [(reason, codes[0] if codes else "INTERNAL_ERROR") for reason in thrown.reasons]
        else:
            named = [(code.lower(), code) for code in codes if code not in BASELINE]
        for reason, code in named:
            entries.setdefault(reason, (code, _when(thrown)))
    return entries


def _when(thrown: Thrown) -> str:
    """When an error happens: its message, with an ellipsis for each part that is not constant."""
    if thrown.way:
        return f"TODO: raised by {thrown.way.rpartition(' > ')[2]}"
    message = thrown.error.message.value if thrown.error is not None else None
    parts = message.parts if isinstance(message, Text) else (string(message),) if message is not None else ()
    text = "".join("..." if part is None else part for part in parts)
    # A message that is mostly variables says nothing about the failure.
    if sum(map(str.isalpha, text)) < 3:
        return "TODO: say when this happens"
    # Most runs propose no contract.
    import textwrap

    return textwrap.shorten(text, MAX_WHEN, placeholder="...")


def throws_coded(tool: ToolDef, ctx: RuleContext) -> list[Thrown]:
    """The coded errors that a contract would declare."""
    return [
        thrown
        for thrown in all_thrown(tool, ctx)
        if thrown.reasons or (thrown.error is not None and thrown.error.form == "fail") or thrown.codes is None
        or any(code not in BASELINE for code in thrown.codes)
    ]  # fmt: skip


def context_is_misplaced(tool: ToolDef) -> bool:
    """Whether the context is not the first parameter after `self`, as a tool with a contract requires."""
    context = tool.handler.context
    if context is None or not context.mcpcore:
        return False
    args = tool.handler.node.args
    return [*args.posonlyargs, *args.args][int(is_method(tool)) :][:1] != [context.node]


def contract_fix(tool: ToolDef, ctx: RuleContext) -> Fix | None:
    """The fix that writes the contract into the registration; None if there is no place for it."""
    registration, module, entries = tool.registration, tool.module, _entries(tool, ctx)
    maker = evaluate(getattr(registration, "func", registration), module.scope)
    # The contract would be that of other tools too, or an argument that a function of the project may not take.
    is_shared = sum(other.registration is registration for other in ctx.tools) > 1
    is_own = isinstance(maker, Symbol) and isinstance(maker.definition, ast.FunctionDef)
    if not entries or tool.flavour != "mcpcore" or context_is_misplaced(tool) or is_shared or is_own:
        return None
    code = codemods.import_name(module, "mcpcore", "ErrorCode")
    mode = codemods.import_name(module, "mcpcore", "FailureMode")
    todo = codemods.import_name(module, "mcpcore", "TODO")

    def errors(at: ast.expr | ast.keyword) -> str:
        line = module.source.line(at.lineno)
        return _errors(entries, (mode.text, code.text, todo.text), line[: len(line) - len(line.lstrip())], ctx)

    if isinstance(registration, ast.Call):
        arguments: list[ast.expr | ast.keyword | str] = [*codemods.arguments_in_order(registration)]
        declared = next((keyword for keyword in registration.keywords if keyword.arg == "errors"), None)
        if declared is not None:
            arguments[arguments.index(declared)] = errors(declared)
        else:
            arguments.append(errors([registration, *codemods.arguments_in_order(registration)][-1]))
        change = codemods.rewrite_call(module, registration, arguments)
    elif isinstance(registration, (ast.Name, ast.Attribute)):
        written = f"{module.source.segment(registration)}({errors(registration)})"
        change = codemods.replace_node(module, registration, written)
    else:
        return None
    return ctx.fix("Write a contract to fill in", [*code.edits, *mode.edits, *todo.edits, change], unsafe=True)


def _errors(entries: Mapping[str, tuple[str, str]], names: tuple[str, str, str], indent: str, ctx: RuleContext) -> str:
    """`errors=[...]`, its first line without indentation; with the names of `FailureMode`, `ErrorCode` and `TODO`."""
    import json

    mode, code, todo = names
    utf8 = ctx.module.source.encoding.replace("-", "").lower() in {"utf8", "utf8sig"}
    lines = ["errors=["]
    for reason, (name, when) in entries.items():
        text = json.dumps(when, ensure_ascii=not utf8 or not when.isprintable())
        lines += [
            f"{indent}    {mode}(",
            f'{indent}        "{reason}",',
            f"{indent}        {code}.{name},",
            f"{indent}        when={text},",
            f"{indent}        recovery={todo},",
            f"{indent}    ),",
        ]
    return "\n".join([*lines, f"{indent}]"])
