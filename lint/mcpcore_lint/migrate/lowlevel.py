"""Handlers of low-level servers: version 1 of the SDK registers them by decorators, version 2 as functions of requests.

The functions and their tests are unchanged. A new function below each of them takes the request.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.type_model import Function
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.parse import all_parameters, returned, walk
from mcpcore_lint.migrate.constants import above
from mcpcore_lint.migrate.contracts import Names, Writer
from mcpcore_lint.migrate.model import Left

if TYPE_CHECKING:
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope

_Handler = ast.FunctionDef | ast.AsyncFunctionDef
_LIST: Final = "PaginatedRequestParams"
_FORMS: Final = {
    "list_tools": (0, "tools/list", _LIST, "ListToolsResult", "{result}(tools={listed})"),
    "list_resources": (0, "resources/list", _LIST, "ListResourcesResult", "{result}(resources={listed})"),
    "list_resource_templates": (
        0, "resources/templates/list", _LIST, "ListResourceTemplatesResult",
        "{result}(resource_templates={listed})",
    ),
    "list_prompts": (0, "prompts/list", _LIST, "ListPromptsResult", "{result}(prompts={listed})"),
    "get_prompt": (
        2, "prompts/get", "GetPromptRequestParams", "GetPromptResult", "await {call}(params.name, params.arguments)"
    ),
    "read_resource": (
        1, "resources/read", "ReadResourceRequestParams", "ReadResourceResult",
        '{result}(contents=[{text}(uri=params.uri, mime_type="text/plain", text=content)])',
    ),
    "call_tool": (2, "tools/call", "CallToolRequestParams", "CallToolResult", "{result}(content=[*content])"),
}  # fmt: skip
"""By decorator: the number of parameters, the method, the parameters and the result of the request, and its value."""
_DECORATORS: Final = frozenset({
    *_FORMS, "set_logging_level", "subscribe_resource", "unsubscribe_resource", "progress_notification", "completion",
})  # fmt: skip
_CONTEXT: Final = "request_context"
_BY_HAND: Final = "register it with add_request_handler"
_LISTS: Final = frozenset({"list", "List", "Sequence", "Iterable"})
_DEPTH: Final = 3


def plan_handlers(module: Module) -> tuple[list[Edit], Left | None, bool]:
    """The edits that register the handlers of a file with version 2 of the SDK, or the line about one that cannot be.

    The last value is whether the file makes the servers of its handlers, so that no other file has more of them.
    """
    functions = [node for node in walk([module.tree]) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    names = Names(module)
    edits: list[Edit] = []
    handlers = [node for node in functions if any(map(_kind, node.decorator_list))]
    servers = {ast.unparse(part.func.value) for node in handlers for part in node.decorator_list if _kind(part)}  # type: ignore[attr-defined]
    nodes = [*walk([module.tree])]
    reads = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == _CONTEXT]
    reads = [node for node in reads if ast.unparse(node.value) in servers]

    made = {
        ast.unparse(target)
        for node in nodes
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    is_taken = any(_CONTEXT in {getattr(node, "id", ""), getattr(node, "arg", "")} for node in nodes)
    for node in handlers:
        kinds = [_kind(decorator) for decorator in node.decorator_list]
        lists = [
            other
            for other in handlers
            if _kind(other.decorator_list[-1]) == "list_tools"
            and module.scope_of(other).parent is module.scope_of(node).parent
        ]
        written = _adapter(node, kinds[0], module, names, lists[:1], keeps=bool(reads)) if len(kinds) == 1 else _BY_HAND
        if isinstance(written, str) or (reads and is_taken):
            why = written if isinstance(written, str) else f"give another name to what is called {_CONTEXT}"
            keeps = f"{node.name}() keeps {min(servers)} on version 1 of the SDK", f"{why}, and run the command again"
            return [], Left(module.path, node.lineno, (), *keeps), servers <= made
        edits += written
    if reads:
        # Version 1 had the context of the request in a variable of the server.
        edits += [Edit(*module.source.node_range(node), f"{_CONTEXT}.get()") for node in reads]
        kind, variable = names.spell("mcp.server", "ServerRequestContext"), names.spell("contextvars", "ContextVar")
        place, end = above(module, [*handlers, *reads]), module.source.newline
        edits.append(Edit(place, place, f'{_CONTEXT}: {variable}[{kind}] = {variable}("{_CONTEXT}"){end * 3}'))
    return [*edits, *names.edits(names.spelled)], None, servers <= made


def _kind(decorator: ast.expr) -> str:
    """The name of the decorator of a low-level server; empty for another one."""
    match decorator:
        case ast.Call(func=ast.Attribute(attr=name), args=[]) if name in _DECORATORS:
            return name
    return ""


def _adapter(
    node: _Handler, kind: str, module: Module, names: Names, lists: list[_Handler], *, keeps: bool
) -> list[Edit] | str:
    """The edits that drop the decorator of a function, and register a function of the request below it, or what to do.

    Args:
        node: The function.
        kind: The name of the decorator.
        module: The file.
        names: Its imports.
        lists: The function in the same scope that lists the tools, by whose schemas version 1 checked arguments.
        keeps: Whether the functions of the file read the context of the request.
    """
    source, arguments = module.source, all_parameters(node.args)
    if not isinstance(node, ast.AsyncFunctionDef) or kind not in _FORMS or len(arguments) != _FORMS[kind][0]:
        return _BY_HAND
    _, method, request, answer, made = _FORMS[kind]
    form = _form(node, module, answer)
    is_result = form == answer
    if kind != "get_prompt" and form not in ({"str"} if kind == "read_resource" else {"list", answer}):
        wanted = "str" if kind == "read_resource" else f"a list or {answer}"
        return f"let it return {wanted}, and say so in its annotation"
    decorator = node.decorator_list[0]
    assert isinstance(decorator, ast.Call)
    assert isinstance(decorator.func, ast.Attribute)
    server = source.segment(decorator.func.value)
    params, result = names.spell("mcp.types", request), names.spell("mcp.types", answer)
    context = names.spell("mcp.server", "ServerRequestContext")
    text = names.spell("mcp.types", "TextResourceContents") if kind == "read_resource" else ""
    listed = f"await {node.name}()"
    made = "{listed}" if is_result and kind.startswith("list_") else made
    value = made.format(result=result, call=node.name, text=text, listed=listed)
    name = f"on_{kind}" if node.name != f"on_{kind}" else f"serve_{kind}"
    request_context = f"{'context' if keeps else '_'}: {context}"
    lines = [f"async def {name}({request_context}, {'params' if node.args.args else '__'}: {params}) -> {result}:"]
    lines += [f"    {_CONTEXT}.set(context)"] * keeps
    if kind == "read_resource":
        is_text = ast.unparse(arguments[0].annotation or node) == "str"
        url = "params.uri" if is_text else f"{names.spell('pydantic', 'AnyUrl')}(params.uri)"
        lines.append(f"    content = await {node.name}({url})")
    if kind == "call_tool":
        block = names.spell("mcp.types", "TextContent")
        checks = lists if not decorator.keywords else []
        refused = names.spell("jsonschema", "ValidationError") if checks else ""
        lines.append("    arguments = params.arguments or {}")
        if checks:
            check = names.spell("jsonschema", "validate")
            is_list = _form(checks[0], module, "ListToolsResult") == "list"
            listed = f"await {checks[0].name}()" if is_list else f"(await {checks[0].name}()).tools"
            tools = f"{{tool.name: tool.input_schema for tool in {listed}}}"
            lines += [
                f"    schemas = {tools}",
                "    try:",
                f"        {check}(arguments, schemas.get(params.name, {{}}))",
                f"    except {refused} as exc:",
                '        text = f"Input validation error: {exc.message}"',
                f'        return {result}(content=[{block}(type="text", text=text)], is_error=True)',
            ]
        lines += [
            "    try:",
            f"        content = await {node.name}(params.name, arguments)",
            "    except Exception as exc:",
            f'        return {result}(content=[{block}(type="text", text=str(exc))], is_error=True)',
        ]
    lines += [
        f"    return {'content' if is_result and kind == 'call_tool' else value}",
        "",
        f'{server}.add_request_handler("{method}", {params}, {name})',
    ]
    indent = Writer(module, names).indent_of(node)
    starts = [*source.line_starts, len(source.text)]
    end = starts[node.end_lineno or node.lineno]
    body = source.newline.join(f"{indent}{part}" if part else "" for part in lines)
    start = source.newline if not source.text[:end].endswith(("\n", "\r")) else ""
    first = starts[decorator.lineno - 1]
    return [
        Edit(first, starts[(decorator.end_lineno or decorator.lineno)], ""),
        Edit(end, end, f"{start}{source.newline * (1 if indent else 2)}{body}{source.newline}"),
    ]


def _form(node: _Handler, module: Module, answer: str, depth: int = 0) -> str:
    """The form of what a function returns: `list`, `str` or the name of the answer; empty if it is not known."""
    if node.returns is None:
        scope = module.scope_of(node)
        return _only([_form_of(value, scope, answer, depth) for value in returned(node)])
    said = ast.unparse(node.returns).strip("'\"")
    name = said.partition("[")[0].rpartition(".")[2]
    # One of several results may be anything: `list[TextContent] | dict`.
    is_union = " | " in said[said.rfind("]") :] or " | " in said.partition("[")[0]
    return "" if is_union else "list" if name in _LISTS else name


def _only(forms: list[str]) -> str:
    return forms[0] if len({*forms}) == 1 else ""


def _form_of(value: ast.expr, scope: Scope, answer: str, depth: int) -> str:
    """The form of a value that a function returns."""
    match value:
        case ast.List() | ast.ListComp():
            return "list"
        case ast.JoinedStr() | ast.Constant(value=str()):
            return "str"
        case ast.Await():
            return _form_of(value.value, scope, answer, depth)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name == answer:
            return name
        case ast.Call() if depth < _DEPTH:
            return _only([
                _form(kind.node, kind.module, answer, depth + 1)
                if isinstance(kind, Function) and not isinstance(kind.node, ast.Lambda)
                else ""
                for kind in Inference().of(value.func, scope)
            ])  # fmt: skip
        case ast.Name() if (match := scope.lookup_at(value)) is not None and depth < _DEPTH:
            return _only([
                _form_of(binding.value, match[0], answer, depth + 1)
                if binding.kind == "assign" and binding.value is not None
                else ""
                for binding in match[1]
            ])  # fmt: skip
    return ""
