"""Handlers of low-level servers: version 1 of the SDK registers them by decorators, version 2 as functions of requests.

The functions and their tests are unchanged. A new function below each of them takes the request. Their failures that
clients take for results, or cannot read, become results marked as errors.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent as indented
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.semantics.type_model import Function, name_of
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import returned, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.frameworks import is_of_version_2
from mcpcore_lint.migrate.body import Body, classes_of, scope_around
from mcpcore_lint.migrate.callers import Asserted, Callers
from mcpcore_lint.migrate.contracts import Names, Writer, above
from mcpcore_lint.migrate.failures import CONTENT, RESULT, raised_failure, returned_failure
from mcpcore_lint.migrate.messages import is_text
from mcpcore_lint.migrate.model import KEEPS, Left, Place
from mcpcore_lint.migrate.renames import REQUESTS, SERVER_CLASSES
from mcpcore_lint.model import Handler, ToolDef, string

NEW: Final = re.compile(rb"\bon_call_tool\b|tools/call")
"""One of version 2, perhaps."""
_OTHERS: Final = re.compile(r"\b(?:FastMCP|MCPServer|mcpcore)\b")
"""Servers that are not low-level, and their module."""
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
        1, "resources/read", "ReadResourceRequestParams", "ReadResourceResult", "{result}(contents=[block])"
    ),
    "call_tool": (2, "tools/call", "CallToolRequestParams", "CallToolResult", "{result}(content=[*content])"),
    "progress_notification": (
        3, "notifications/progress", "ProgressNotificationParams", "None",
        "await {call}(params.progress_token, params.progress, params.total{rest})",
    ),
    "set_logging_level": (1, "logging/setLevel", "SetLevelRequestParams", "EmptyResult", "{result}()"),
    "subscribe_resource": (1, "resources/subscribe", "SubscribeRequestParams", "EmptyResult", "{result}()"),
    "unsubscribe_resource": (1, "resources/unsubscribe", "UnsubscribeRequestParams", "EmptyResult", "{result}()"),
}  # fmt: skip
"""By decorator: the number of parameters, the method, the parameters and the result of the request, and its value."""
LOW_LEVEL: Final = re.compile(
    rb"(?m)^[ \t]*(?:@[\w.]+\.(?:%b)\(\)|[\w.]+(?:\.(?:call|list)_tools?\(\)\(|"
    rb"(?<!_mcp_server)\.request_handlers\[.*\] = ))" % "|".join(_FORMS).encode()
)
"""A low-level server of version 1 of the SDK."""
DECORATORS: Final = frozenset({*_FORMS, "completion"})
REGISTERS: Final = re.compile(rb"@[\w.]+\.(?:%b)\(" % "|".join(sorted(DECORATORS)).encode())
"""A handler, perhaps in a file that imports its server from another one."""
_LOW_LEVEL_CLASS: Final = "mcp.LowLevelServer"
_ARGUMENTS: Final = ("version", "instructions", "website_url", "icons", "lifespan")
"""What version 1 took behind the name of a low-level server, and version 2 takes by name."""
_CONTENTS: Final = """{result}(
        contents=[
            {text}(
                uri=params.uri,
                mime_type=part.mime_type or "text/plain",
                text=part.content,
                meta=part.meta,
            )
            if isinstance(part.content, str)
            else {blob}(
                uri=params.uri,
                mime_type=part.mime_type or "application/octet-stream",
                blob={encode}(part.content).decode(),
                meta=part.meta,
            )
            for part in content
        ]
    )"""
"""The value for a `read_resource` that returns a list of `ReadResourceContents`."""
_PARTS: Final = "ReadResourceContents"
_EMPTY: Final = frozenset({"EmptyResult", "None"})
_MESSAGE: Final = ", params.message"
_CONTEXT: Final = "request_context"
_AS_DECORATOR: Final = "write it as a decorator of the function, and run the command again"
_BY_HAND: Final = "register it with add_request_handler"
_LISTS: Final = frozenset({"list", "List", "Sequence", "Iterable"})
_DEPTH: Final = 3


def plan_servers(modules: Mapping[str, Module], homes: Mapping[str, str]) -> tuple[dict[str, list[Edit]], list[Left]]:
    """The edits that register the handlers of low-level servers, by file, and the lines about those that stay.

    If one cannot be registered, all of its environment stay, since that cannot have versions 1 and 2. `homes` are the
    environments of the files.
    """
    plans = {path: _plan(module) for path, module in modules.items()}
    left = [line._replace(stops=KEEPS) for _, lines in plans.values() for line in lines]
    kept = {homes[path] for path, (_, lines) in plans.items() if lines}
    return {path: edits for path, (edits, _) in plans.items() if homes[path] not in kept}, left


def _plan(module: Module) -> tuple[list[Edit], list[Left]]:
    """The edits that register the handlers of a file with version 2 of the SDK, or the lines about those that stay."""
    functions = [node for node in walk([module.tree]) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    names = Names(module)
    edits: list[Edit] = []
    left: list[Left] = []
    handlers = [node for node in functions if any(_kind(part, module) for part in node.decorator_list)]
    servers = {ast.unparse(part.func.value) for node in handlers for part in node.decorator_list if _kind(part, module)}  # type: ignore[attr-defined]
    nodes = [*walk([module.tree])]
    reads = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == _CONTEXT]
    reads = [node for node in reads if ast.unparse(node.value) in servers]
    for node in nodes:
        match node:
            case ast.Call(func=ast.Call() as maker) if _kind(maker, module):
                pattern, decide = f"{ast.unparse(maker)} called with a function", _AS_DECORATOR
            case ast.Subscript(value=ast.Attribute(attr="request_handlers"), ctx=ast.Store()) if not handlers:
                pattern, decide = "request_handlers of a low-level server", REQUESTS
            case _:
                continue
        return [], [Left(module.path, node.lineno, (), pattern, decide)]
    for node in (node for node in nodes if isinstance(node, ast.Call) and len(node.args) > 1):
        if getattr(evaluate(node.func, scope_around(node, module)), "name", "") == _LOW_LEVEL_CLASS:
            edits += codemods.keyworded(module, node, _ARGUMENTS)
    is_taken = any(_CONTEXT in {getattr(node, "id", ""), getattr(node, "arg", "")} for node in nodes)
    for node in handlers:
        kinds = [_kind(decorator, module) for decorator in node.decorator_list]
        lists = [
            other
            for other in handlers
            if _kind(other.decorator_list[-1], module) == "list_tools"
            and module.scope_of(other).parent is module.scope_of(node).parent
        ]
        written = _adapter(node, kinds[0], module, names, lists[:1], keeps=bool(reads)) if len(kinds) == 1 else _BY_HAND
        if isinstance(written, str) or (reads and is_taken and not left):
            why = written if isinstance(written, str) else f"give another name to what is called {_CONTEXT}"
            keeps = f"{node.name}() keeps {min(servers)} on version 1 of the SDK", f"{why}, and run the command again"
            left.append(Left(module.path, node.lineno, (), *keeps))
        else:
            edits += written
    if reads:
        # Version 1 had the context of the request in a variable of the server.
        edits += [Edit(*module.source.node_range(node), f"{_CONTEXT}.get()") for node in reads]
        kind, variable = names.spell("mcp.server", "ServerRequestContext"), names.spell("contextvars", "ContextVar")
        place, end = above(module, [*handlers, *reads]), module.source.newline
        edits.append(Edit(place, place, f'{_CONTEXT}: {variable}[{kind}] = {variable}("{_CONTEXT}"){end * 3}'))
    return [*edits, *names.edits(names.spelled)], left


def names_server(modules: Iterable[Module]) -> bool:
    """Whether the code of some files, and not only their texts and comments, names a server that is not low-level."""
    nodes = walk([module.tree for module in modules if _OTHERS.search(module.source.text)])
    return any(
        _OTHERS.search(str(getattr(node, name, ""))) for node in nodes for name in ("id", "attr", "name", "module")
    )


def _kind(decorator: ast.expr, module: Module) -> str:
    """The name of the decorator of a low-level server; empty for another one, as other servers have `completion()`."""
    match decorator:
        case ast.Call(func=ast.Attribute(value=server, attr=name), args=[]) if name in DECORATORS:
            return "" if SERVER_CLASSES & classes_of(server, scope_around(server, module)) else name
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
    source, arguments = module.source, [*node.args.posonlyargs, *node.args.args]
    if not isinstance(node, ast.AsyncFunctionDef) or kind not in _FORMS:
        return _BY_HAND
    count, method, request, answer, made = _FORMS[kind]
    rest = _MESSAGE if kind == "progress_notification" and len(arguments) > count else ""
    # The SDK passes nothing for parameters with defaults.
    needed = len(arguments) - len(node.args.defaults) + node.args.kw_defaults.count(None)
    if not needed <= count + bool(rest) <= len(arguments):
        return _BY_HAND
    forms = _forms(node, module, answer)
    is_result = forms == {answer}
    # Version 1 made an error of a call that returned nothing, and so does the new function.
    good = {"list", answer, "None"} if kind == "call_tool" else {"list"}
    is_known = is_result or (forms - {"None"} and forms <= good)
    if kind == "read_resource":
        is_known = forms == {"str"} or (forms == good and module.source.has(_PARTS))
    if kind != "get_prompt" and answer not in _EMPTY and not is_known:
        wanted = f"str or a list of {_PARTS}" if kind == "read_resource" else f"a list or {answer}"
        return f"let it return {wanted}, and say so in its annotation"
    decorator, indent = node.decorator_list[0], Writer(module, names).indent_of(node)
    assert isinstance(decorator, ast.Call)
    assert isinstance(decorator.func, ast.Attribute)
    server = source.segment(decorator.func.value)
    params, result = (name if name == "None" else names.spell("mcp.types", name) for name in (request, answer))
    context = names.spell("mcp.server", "ServerRequestContext")
    text = names.spell("mcp.types", "TextResourceContents") if kind == "read_resource" else ""
    listed = f"await {node.name}()"
    made = "{listed}" if is_result and kind.startswith("list_") else made
    if text and forms == good:
        blob, encode = names.spell("mcp.types", "BlobResourceContents"), names.spell("base64", "b64encode")
        made = _CONTENTS.format(result=result, text=text, blob=blob, encode=encode)
    value = made.format(result=result, call=node.name, text=text, listed=listed, rest=rest)
    name = f"on_{kind}" if node.name != f"on_{kind}" else f"serve_{kind}"
    request_context = f"{'context' if keeps else '_'}: {context}"
    lines = [f"async def {name}({request_context}, {'params' if count else '__'}: {params}) -> {result}:"]
    lines += [f"    {_CONTEXT}.set(context)"] * keeps
    if kind == "read_resource" or answer == "EmptyResult":
        is_text = ast.unparse(arguments[0].annotation or node) == "str"
        value_of = "params.level" if kind == "set_logging_level" else "params.uri"
        # Version 1 passed an AnyUrl, and version 2 passes a str.
        argument = value_of if is_text or "uri" not in value_of else f"{names.spell('pydantic', 'AnyUrl')}({value_of})"
        lines.append(f"    {'content = ' if text else ''}await {node.name}({argument})")
        block = f'    block = {text}(uri=params.uri, mime_type="text/plain", text=content)'
        lines += [block] * (kind == "read_resource" and forms == {"str"})
    if kind == "call_tool":
        block = names.spell("mcp.types", "TextContent")
        # The keyword is `validate_input=False`, with which version 1 checked nothing.
        checks = lists if not decorator.keywords else []
        refused = names.spell("jsonschema", "ValidationError") if checks else ""
        lines.append("    arguments = params.arguments or {}")
        if checks:
            check = names.spell("jsonschema", "validate")
            is_list = _forms(checks[0], module, "ListToolsResult") == {"list"}
            listed = f"await {checks[0].name}()" if is_list else f"(await {checks[0].name}()).tools"
            lines += [
                f"    tools = {listed}",
                "    schemas = {tool.name: tool.input_schema for tool in tools}",
                "    try:",
                f"        {check}(arguments, schemas.get(params.name, {{}}))",
                f"    except {refused} as exc:",
                '        text = f"Input validation error: {exc.message}"',
                f'        return {result}(content=[{block}(type="text", text=text)], is_error=True)',
            ]
        called, either = f"await {node.name}(params.name, arguments)", not is_result and answer in forms
        checked = f"content if isinstance(content, {result}) else {value}" if either else value
        lines += [
            "    try:",
            *[f"        content = {called}"] * (not is_result),
            f"        return {called if is_result else checked}",
            "    except Exception as exc:",
            f'        return {result}(content=[{block}(type="text", text=str(exc))], is_error=True)',
        ]
    lines += [
        *[f"    {'return ' * (answer != 'None')}{value}"] * (kind != "call_tool"),
        *[""] * (1 if indent else 2),
        f'{server}.add_{"notification" if answer == "None" else "request"}_handler("{method}", {params}, {name})',
    ]
    starts = [*source.line_starts, len(source.text)]
    end = starts[node.end_lineno or node.lineno]
    body = indented("\n".join(lines), indent).replace("\n", source.newline)
    start = source.newline if not source.text[:end].endswith(("\n", "\r")) else ""
    first = starts[decorator.lineno - 1]
    return [
        Edit(first, starts[(decorator.end_lineno or decorator.lineno)], ""),
        Edit(end, end, f"{start}{source.newline * (1 if indent else 2)}{body}{source.newline}"),
    ]


def _forms(node: _Handler, module: Module, answer: str, depth: int = 0) -> frozenset[str]:
    """The forms of what a function returns: `list`, `str`, `None` and names of classes; empty if they are not known."""
    scope = module.scope_of(node)
    if node.returns is None:
        return _all([_forms_of(value, scope, answer, depth) for value in returned(node)])
    named = [named.name.rpartition(".")[2] for named in Resolver().named_types(node.returns, scope)]
    return frozenset("list" if name in _LISTS else name for name in named)


def _class(node: ast.expr, scope: Scope) -> str:
    """The name of a class where it is defined, without its module."""
    name = name_of(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    return (name or ast.unparse(node)).rpartition(".")[2]


def _all(forms: list[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*forms) if all(forms) else frozenset()


def _forms_of(value: ast.expr, scope: Scope, answer: str, depth: int) -> frozenset[str]:
    """The forms of a value that a function returns."""
    match value:
        case ast.List() | ast.ListComp():
            return frozenset({"list"})
        case ast.JoinedStr() | ast.Constant(value=str()):
            return frozenset({"str"})
        case ast.Await():
            return _forms_of(value.value, scope, answer, depth)
        case ast.Attribute(value=ast.Name(id=name), attr="tools" | "prompts" | "resources" as listed):
            # What a proxy hands on: the lists in the answers of a client hold objects of the protocol.
            calls = [getattr(binding.value, "value", None) for binding in scope.bindings.get(name, ())]
            is_listed = all(isinstance(call, ast.Call) and last_name(call) == f"list_{listed}" for call in calls)
            return frozenset({"list"} if calls and is_listed else ())
        case ast.Call(func=func) if _class(func, scope) == answer:
            return frozenset({answer})
        case ast.Call() if depth < _DEPTH:
            return _all([
                _forms(kind.node, kind.module, answer, depth + 1)
                if isinstance(kind, Function) and not isinstance(kind.node, ast.Lambda)
                else frozenset()
                for kind in Inference().of(value.func, scope)
            ])  # fmt: skip
        case ast.Name() if (match := scope.lookup_at(value)) is not None and depth < _DEPTH:
            return _all([
                _forms_of(binding.value, match[0], answer, depth + 1)
                if binding.kind == "assign" and binding.value is not None
                else frozenset()
                for binding in match[1]
            ])  # fmt: skip
    return frozenset()


# -- failures that low-level servers return ----------------------------------------------------------------------------

_MARK: Final = "is_error=True"
SUCCESS: Final = "a failure is returned as a success"
_RETURN: Final = "return CallToolResult(content=..., is_error=True)"


class Marks(NamedTuple):
    """What changes in one file."""

    edits: list[Edit]
    left: list[Left]
    converted: list[tuple[str, int, str]]
    """The rule, the line and the function of each place."""


class Marker:
    """Marks the failures of the dispatchers of a project, and of the functions to which they pass the calls."""

    def __init__(self, callers: Callers, hierarchy: Hierarchy, rules: frozenset[str]) -> None:
        self._callers = callers
        self._hierarchy = hierarchy
        self._rules = rules
        self._names: dict[Module, Names] = {}
        self._marks: dict[Module, Marks] = {}
        self._changed: dict[ast.AST, bool] = {}
        """The functions that were looked at, and whether they return results now instead of their contents."""

    def mark(self, tool: ToolDef) -> None:
        """Mark the failures of a dispatcher, and of the functions to which it passes the calls."""
        is_new = is_of_version_2(tool)
        names = [(entry.handler, name) for entry in tool.serves if (name := string(entry.name)) is not None]
        calls = [(entry.handler, entry.inside.module, entry.call) for entry in tool.serves]
        self._function(tool.handler, [name for _, name in names], is_passed=not is_new, raises=is_new)
        # A dispatcher may read from what the functions return whether the result is a failure.
        decides = any(map(_decides, walk([tool.handler.node])))
        for handler in [handler for handler, *_ in calls if handler is not None and not decides]:
            own = [(module, call) for other, module, call in calls if other is handler and call is not None]
            # A decorator may read what the function returns.
            plain = not getattr(handler.node, "decorator_list", ())
            is_passed = not is_new and plain and all(self._callers.only_returned(*call) for call in own)
            self._function(handler, [name for other, name in names if other is handler], is_passed=is_passed)
            if self._changed.get(handler.node):
                self._annotate(tool.handler)

    def _function(self, handler: Handler, names: Sequence[str], *, is_passed: bool, raises: bool = False) -> None:
        """Mark the failures of one function.

        Args:
            handler: The function.
            names: The names of the tools.
            is_passed: Whether what it returns is the answer as it is, so that it may be a result of version 2.
            raises: Whether clients cannot read the texts of the exceptions that leave it.
        """
        node, module = handler.node, handler.module
        if isinstance(node, ast.Lambda) or node in self._changed:
            return
        self._changed[node] = False
        body = Body(node, module, "_".join([handler.name, *names]), self._hierarchy)
        marks = self._marks.setdefault(module, Marks([], [], []))
        spell = self._names.setdefault(module, Names(module)).spell
        segment, range_of = module.source.segment, module.source.node_range
        expected = self._callers.asserted.get(node, Asserted())
        for place, value in _returned(body):
            if isinstance(place, Left):
                decide = f"{_RETURN} if the tool could not do its work"
                marks.left.append(place._replace(tools=(handler.name,), decide=decide))
                continue
            if place.rule not in self._rules:
                continue
            if isinstance(value, ast.Call) and body.name_of(value.func) == RESULT:
                marked = [keyword.value for keyword in value.keywords if keyword.arg in {"isError", "is_error"}]
                add = codemods.add_argument
                marks.edits.append(Edit(*range_of(marked[0]), "True") if marked else add(module, value, _MARK))
            elif not is_passed or expected.returned or self._callers.objection(handler, place) is not None:
                decide = f"{_RETURN}{f', and change {expected.returned}' if expected.returned else ''}"
                marks.left.append(Left(module.path, place.node.lineno, (handler.name,), SUCCESS, decide))
                continue
            else:
                content = segment(value) if isinstance(value, ast.List) else f"[{segment(value)}]"
                new = f"{spell('mcp.types', 'CallToolResult')}(content={content}, {_MARK})"
                marks.edits.append(Edit(*range_of(value), new))
                self._annotate(handler)
                self._changed[node] = True
            marks.converted.append((place.rule, place.node.lineno, handler.name))
        for place in _raised(body) if raises and not node.decorator_list else ():
            kind = place.raised.removeprefix("builtins.")
            is_free = kind not in expected.raised and self._callers.objection(handler, place) is None
            if is_free and place.rule in self._rules and place.message is not None:
                text = segment(place.message)
                text = text if is_text(place.message, body.scope) else f"str({text})"
                result, block = (spell("mcp.types", name) for name in ("CallToolResult", "TextContent"))
                new = f'return {result}(content=[{block}(type="text", text={text})], {_MARK})'
                marks.edits.append(Edit(*range_of(place.node), new))
                marks.converted.append((place.rule, place.node.lineno, handler.name))

    def _annotate(self, handler: Handler) -> None:
        """Let the annotation of a function say that it may return a result."""
        module, returns = handler.module, getattr(handler.node, "returns", None)
        if returns is not None and not re.search(r"CallToolResult|\bAny$", ast.unparse(returns)):
            start, end = module.source.node_range(returns)
            either = f" | {self._names[module].spell('mcp.types', 'CallToolResult')}"
            edit = Edit(end, end, either)
            if string(evaluate(returns, module.scope)) is not None:  # also a name for a text
                is_text = isinstance(returns, ast.Constant)
                quote, inner = (
                    (module.source.text[end - 1], str(returns.value).strip())
                    if is_text
                    else ('"', ast.unparse(returns))
                )
                edit = Edit(start, end, f"{quote}{inner}{either}{quote}")
            self._marks[module].edits.extend([edit] * (edit not in self._marks[module].edits))

    def marks(self) -> Iterator[tuple[str, Marks]]:
        """What changes, by the absolute path of the file, with the imports that the edits need."""
        for module, marks in self._marks.items():
            names = self._names[module]
            yield module.absolute, marks._replace(edits=[*marks.edits, *names.edits(names.spelled)])


def _decides(node: ast.AST) -> bool:
    """Whether a part of a function sets a mark that is no constant, or sets it later."""
    match node:
        case ast.keyword(arg="isError" | "is_error", value=value):
            return not isinstance(value, ast.Constant)
    return isinstance(node, ast.Attribute) and node.attr in {"isError", "is_error"} and isinstance(node.ctx, ast.Store)


def _returned(body: Body) -> Iterator[tuple[Place | Left, ast.expr]]:
    """The contents and the results that are failures, or may be, and that nothing marks."""
    for node in (node for node in body.nodes if isinstance(node, ast.Return)):
        value = content = node.value
        if isinstance(value, ast.Call) and body.name_of(value.func) == RESULT:
            options = {keyword.arg: keyword.value for keyword in value.keywords}
            marked = options.get("isError") or options.get("is_error")
            is_open = None not in options and (marked is None or getattr(marked, "value", None) is False)
            content = options.get("content") if is_open else None
        if isinstance(content, (ast.Call, ast.List)) and value is not None:
            block = content.elts[0] if isinstance(content, ast.List) and content.elts else content
            place = (
                returned_failure(node, body, content)
                if isinstance(block, ast.Call) and body.name_of(block.func) == CONTENT
                else None
            )
            if place is not None:
                yield place, value


def _raised(body: Body) -> Iterator[Place]:
    """The exceptions that leave a function, and that nothing around them sees."""
    for node in body.nodes:
        place = raised_failure(node, body) if isinstance(node, ast.Raise) else None
        if (
            isinstance(place, Place)
            and place.raised.startswith("builtins.")
            and not (body.withs(place.node) or any(part.handlers for part in body.tries(place.node)))
            and not codemods.has_comment(body.module.source.segment(place.node))
        ):
            yield place
