"""Expectations of tests that no longer hold after the run: a line of the report for each, with the next step."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from mcpcore_lint.engine.semantics.annotations import unquote
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Function, returned, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import classes_of, scope_around
from mcpcore_lint.migrate.callers import expects, is_test
from mcpcore_lint.migrate.lowlevel import DECORATORS, REGISTERS
from mcpcore_lint.migrate.model import FAILS, Left
from mcpcore_lint.migrate.reached import imported_by
from mcpcore_lint.migrate.renames import SDK_2, SERVER_CLASSES
from mcpcore_lint.model import Symbol, ToolDef, string
from mcpcore_lint.records import in_test_file

_SERVES: Final = re.compile(rb"^[ \t]*from mcpcore import (?:\([^)]*|.*)\bServer\b", re.MULTILINE)
_COVERS: Final = re.compile(rb"^[ \t]*from mcpcore\.integrations\.fastmcp import", re.MULTILINE)
_RETURNS: Final = re.compile(rb"\breturn CallToolResult\(")
_RESULT: Final = "CallToolResult"
_KINDS: Final = (ast.Compare, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Name)
REFUSED: Final = re.compile(r"validation error", re.IGNORECASE)
"""How the frameworks begin to say that they refuse arguments."""
_UNKNOWN: Final = re.compile(r"unknown tool", re.IGNORECASE)
"""How they begin to say that there is no such tool."""
_CLIENT: Final = "fastmcp.Client"
_NO_TOOL: Final = (
    'expect an MCPError, since it is an error of the protocol now, or give the server unknown_tool="result"'
)
_STAND_IN: Final = re.compile(
    r"^[^#\n]*\bsys\.modules[\"']?(?:\[|(?:\.setdefault\(|,)\s*|,\s*\{(?:[^{}]*,)?\s*)[\"'](?P<name>(?:fast)?mcp)[\"']"
    r"(?:\]\s*=(?!=)|\s*[:,])(?!\s*None\b)",
    re.MULTILINE,
)
"""The statement of a test that replaces a framework."""
_PARTS: Final = frozenset({"", "properties", "required"})
"""The parts of an output schema that admit failures; empty for the whole schema."""
_ANY_RESULT: Final = frozenset(
    {"", "Any", "typing.Any", "dict", "dict[str, Any]", "dict[str, typing.Any]", "CallToolResult"}
)
"""The annotations of results without a schema, or with one that any failure fits."""
_INSIDE: Final = frozenset({"set", "sorted", "list", "dict", "len"})
"""Functions whose value says what is in their argument."""
_WRITTEN: Final = frozenset({"dumps", "encode", "model_dump_json"})
"""Methods whose value has the size of what clients read."""
_FIELDS: Final = frozenset({"annotations", "description", "inputSchema", "input_schema", "name", "parameters", "title"})
"""Parts of a tool that stay."""
_DEPTH: Final = 3
"""How many names are followed to a schema."""
_OWN: Final = "ValidationError"
"""The exception of pydantic itself."""
_REGISTERED: Final = ".add_request_handler("


class Changes(NamedTuple):
    """What the run changes: files that are no tests, by their absolute paths, and tools."""

    served: frozenset[str]
    """Those that get the server of mcpcore."""
    covered: frozenset[str]
    """Those that get its middleware for FastMCP."""
    adapted: frozenset[str]
    """Those that lose the decorators of low-level servers."""
    marked: frozenset[str]
    """Those whose functions return a result of version 2 for a failure."""
    tools: tuple[str, ...]
    """The names of the tools; a server that mounts another one puts more before them."""
    contracts: tuple[Function, ...]
    """The async functions of tools that get a contract."""
    answers: frozenset[str]
    """The files that say that arguments are refused in the words of the frameworks."""


def changes_between(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    modules: Collection[Module],
    tools: Collection[ToolDef],
    converted: Collection[str],
) -> Changes:
    """What changes in files between two states.

    Args:
        before: The first state.
        after: The second one, which may have other files, and has those that change.
        modules: The files as they are now.
        tools: The tools.
        converted: The names of functions that get a contract.
    """

    def gained(pattern: re.Pattern[bytes], old: Mapping[str, bytes], new: Mapping[str, bytes]) -> frozenset[str]:
        return frozenset(path for path in both if pattern.search(new[path]) and not pattern.search(old[path]))

    both = before.keys() & after.keys()
    code = [module for module in modules if not is_test(module)]
    answers = (module.absolute for module in code if REFUSED.search(module.source.text))
    handlers = [tool.handler for tool in tools]
    contracts = (handler.node for handler in handlers if handler.is_async and handler.name in converted)
    return Changes(
        gained(_SERVES, before, after),
        gained(_COVERS, before, after),
        # The states are swapped, as these files lose their decorators.
        gained(REGISTERS, after, before),
        gained(_RETURNS, before, after),
        tuple(filter(None, (string(tool.name) for tool in tools))),
        tuple(node for node in contracts if isinstance(node, FUNCTIONS)),
        frozenset(answers),
    )


def expectations(module: Module, changed: Changes) -> Iterator[Left]:
    """The lines about a file, most of them about what its tests expect.

    Args:
        module: The file.
        changed: What the run changes.
    """
    in_tests = is_test(module)
    # Only a change of files, which the first four hold, breaks an expectation.
    nodes = walk([module.tree]) if any(changed[:4]) else ()
    for node in (node for node in nodes if isinstance(node, _KINDS)):
        scope = scope_around(node, module)
        why = _expected(node, scope, changed) if in_tests else None
        why = why or (_read(node, scope) if changed.served else None)
        if why is not None:
            yield Left(module.path, node.lineno, (), *why, stops=FAILS)
    double = _STAND_IN.search(module.source.text) if in_tests else None
    if double is not None and (changed.covered or (changed.served and double["name"] == "mcp")):
        new = "mcpcore.integrations.fastmcp" if changed.covered else "mcpcore"
        line, pattern = module.source.text.count("\n", 0, double.end()) + 1, f"a stand-in for {double['name']}"
        decide = f"the server imports {new} now, which fails behind it: add a stand-in for that, or remove this one"
        yield Left(module.path, line, (), f"{pattern} in sys.modules", decide, stops=FAILS)


def admits_failures(tool: ToolDef) -> bool:
    """Whether the output schema of a tool changes, so that it admits failures."""
    returns, keyword = unquote(getattr(tool.handler.node, "returns", None)), tool.decorator_keyword("structured_output")
    is_text = keyword is not None and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
    return tool.kind == "tool" and not is_text and (ast.unparse(returns) if returns else "") not in _ANY_RESULT


def reasons(lines: Collection[Left], files: Mapping[str, bytes]) -> dict[tuple[str, str], str]:
    """What the report says of tests, by the path and the names of the classes and functions, as pytest joins them.

    Args:
        lines: The lines of the report.
        files: The files that they may be about, as they are now.
    """
    said: dict[tuple[str, str], str] = {}
    for path in {line.path for line in lines if in_test_file(line.path)} & files.keys():
        blocks = []
        with suppress(SyntaxError, ValueError, RecursionError):  # such a file has a line, too
            parts = ast.walk(ast.parse(files[path]))  # the outer ones first
            blocks = [node for node in parts if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
        for line in (line for line in lines if line.path == path):
            names = [node.name for node in blocks if node.lineno <= line.line <= (node.end_lineno or 0)]
            said[path, "::".join(names)] = f"line {line.line} {line.pattern}: {line.decide}"
    return said


def _expected(node: ast.AST, scope: Scope, changed: Changes) -> tuple[str, str] | None:
    """The expectation of a part of a test that no longer holds, and the next step."""
    reads_failures = changed.served or changed.covered
    match node:
        case (
            ast.Compare(left=ast.Constant(value=str(text)), ops=[ast.In()], comparators=[value])
            | ast.Call(func=ast.Attribute(attr="assertIn"), args=[ast.Constant(value=str(text)), value, *_])
            | (ast.keyword(arg="match", value=ast.Constant(value=str(text))) as value)
        ) if reads_failures and (REFUSED.search(text) or _UNKNOWN.search(text)):
            parts = _sources(value, scope)
            names = _names(parts)
            calls = [part for part in parts if isinstance(part, ast.Call) and "call_tool" in ast.unparse(part.func)]
            called = [string(evaluate(argument, scope)) for call in calls for argument in call.args[:1]]
            if _UNKNOWN.search(text):
                # A server that is called without a client goes on to raise it.
                owners = [classes_of(call.func.value, scope) for call in calls if isinstance(call.func, ast.Attribute)]
                is_answer = (owners and "content" in names) or any(_CLIENT in kinds for kinds in owners)
                is_tool = any(name is not None and name.endswith(changed.tools) for name in called)
                return ("expects a result for an unknown tool", _NO_TOOL) if is_answer and not is_tool else None
            known = all(name is None or name.endswith(changed.tools) for name in called)
            refused = known and _OWN not in names and any("call_tool" in name for name in names)
            homes = imported_by(scope.module) if refused and changed.answers else ()
            if refused and changed.answers.isdisjoint(home.absolute for home in homes):
                return f'looks for "{text}" where arguments are refused', 'look for "invalid_arguments", the reason'
        case ast.Compare(left=ast.Attribute(attr="data", value=value), ops=[ast.Eq()]) if reads_failures and any(
            "read_resource" in name for name in _names(_sources(value, scope))
        ):
            return "compares the data of a failure of a resource", "it also has `error`, with the code and advice"
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]) if (
            changed.served and not _PARTS.isdisjoint({_part(left, scope), _part(right, scope)})
        ):
            return "compares a whole output schema", "it has `error` in `properties`, and `required` in `anyOf`"
        case (
            ast.Compare(left=value, ops=[ast.Lt() | ast.LtE()], comparators=[_])
            | ast.Call(func=ast.Attribute(attr="assertLess" | "assertLessEqual"), args=[value, *_])
        ) if changed.served:
            parts = _sources(value, scope)
            names = _names(parts) | {str(part.value) for part in parts if isinstance(part, ast.Constant)}
            if {"len", "list_tools"} <= names and names & _WRITTEN and not names & _FIELDS:
                return (
                    "limits the size of a list of tools",
                    "output schemas have `error` now, which advertise_errors=False of Server leaves out",
                )
        case ast.Attribute(attr=name, value=ast.Name(id=double)) if name in DECORATORS and changed.adapted:
            calls = [part for part in walk([scope.node]) if isinstance(part, ast.Call)]
            passed = [call for call in calls if double in {getattr(value, "id", "") for value in call.args}]
            functions = (known for call in passed for known in _called(call, scope))
            if any(home in changed.adapted and _REGISTERED in ast.unparse(function) for home, function in functions):
                return f"expects a double to have a decorator that {SDK_2} does not have", "expect add_request_handler"
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int())) if changed.marked:
            assigned = [binding.value for binding in scope.bindings.get(name, ())]
            for home, function in (called for value in assigned for called in _called(value, scope)):
                if home in changed.marked and any(_RESULT in ast.unparse(value) for value in returned(function)):
                    return f"reads a part of what {function.name}() returns", f"it is a {_RESULT} if the tool failed"
        case ast.Call(func=ast.Name(id="getsource") | ast.Attribute(attr="getsource"), args=[value]) if changed.served:
            owner = value.value if isinstance(value, ast.Attribute) else value
            if SERVER_CLASSES & classes_of(owner, scope):
                return (
                    "reads the source of the server, which is of mcpcore now",
                    "read that of mcp.server.mcpserver.MCPServer",
                )
        case ast.Call(func=ast.Attribute(attr="iscoroutinefunction") | ast.Name("iscoroutinefunction"), args=[value]):
            parts = _sources(value, scope)
            values = [evaluate(part, scope) for part in parts if isinstance(part, (ast.Name, ast.Attribute))]
            definitions = {symbol.definition for symbol in values if isinstance(symbol, Symbol)}
            texts = {part.value for part in parts if isinstance(part, ast.Constant) and "getattr" in _names(parts)}
            if any(tool in definitions or tool.name in texts for tool in changed.contracts):
                return (
                    "checks that a tool is a coroutine function",
                    "check its .handler, since a tool with a contract is an object",
                )
    return None


def _read(node: ast.AST, scope: Scope) -> tuple[str, str] | None:
    """An exception of `read_resource()` of the server, if somebody reads the words that it had in version 1."""
    match node:
        case ast.Call(func=ast.Attribute(attr="read_resource", value=server)) if SERVER_CLASSES & classes_of(
            server, scope
        ):
            kinds = (ast.Try, ast.With, ast.AsyncWith)
            around = [part for part in walk([scope.node]) if isinstance(part, kinds) and node in walk([*part.body])]
            clauses = [clause for part in around for clause in getattr(part, "handlers", ())]
            reads = [clause.name in _names(walk([*clause.body])) for clause in clauses]
            items = [item for part in around for item in getattr(part, "items", ()) if expects(item.context_expr)]
            reads += [item.optional_vars or "match=" in ast.unparse(item.context_expr) for item in items]
            if any(reads):
                return "reads the words of an exception of read_resource()", "they are in its __cause__"
    return None


def _part(node: ast.expr | None, scope: Scope, depth: int = 0) -> str | None:
    """The part of an output schema that an expression is, or says what is in it; None for other expressions."""
    match node:
        case ast.Attribute(attr="output_schema" | "outputSchema", value=owner) if not classes_of(owner, scope):
            return ""
        case ast.Name(id=name) if depth < _DEPTH:
            values = [binding.value for binding in scope.bindings.get(name, ())]
            return _part(values[0], scope, depth + 1) if len(values) == 1 else None
        case (
            ast.Subscript(value=value, slice=ast.Constant(value=str(key)))
            | ast.Call(func=ast.Attribute(attr="get", value=value), args=[ast.Constant(value=str(key)), *_])
        ) if _part(value, scope, depth) == "":
            return key
        case ast.Call(func=ast.Name(id=name), args=[value]) if name in _INSIDE:
            return _part(value, scope, depth)
    return None


def _sources(node: ast.AST, scope: Scope) -> list[ast.AST]:
    """The parts of what an expression of a function takes its value from, by the names and blocks that lead to it."""
    parents = scope.module.parents
    # The pattern of `pytest.raises(...)` is about its block.
    stack = [parents[parents[parents[node]]] if isinstance(node, ast.keyword) else node]
    parts: list[ast.AST] = []
    seen: set[str] = set()
    while stack:
        inner = [*walk([stack.pop()])]
        parts += inner
        names = {part.id for part in inner if isinstance(part, ast.Name)} - seen
        seen |= names
        for binding in (binding for name in names for binding in scope.bindings.get(name, ())):
            match binding.node:
                case ast.ExceptHandler() as clause:
                    stack += getattr(parents[clause], "body", ())
                case ast.arg():  # that `pytest.mark.parametrize` may give
                    stack += getattr(scope.node, "decorator_list", ())
                case ast.For(iter=items) | ast.AsyncFor(iter=items):
                    stack.append(items)
                case block if binding.kind == "with" and binding.value is not None and not expects(binding.value):
                    stack.append(binding.value)
                case block:
                    stack.append(block)
    return parts


def _names(parts: Iterable[ast.AST]) -> set[str]:
    return {str(getattr(part, "attr", getattr(part, "id", ""))) for part in parts}


def _called(node: ast.expr | None, scope: Scope) -> Iterator[tuple[str, Function]]:
    """The function of the project that an expression calls, with the path of its file."""
    call = node.value if isinstance(node, ast.Await) else node
    symbol = evaluate(call.func, scope) if isinstance(call, ast.Call) else None
    if isinstance(symbol, Symbol) and isinstance(symbol.definition, FUNCTIONS) and symbol.module is not None:
        yield symbol.module.absolute, symbol.definition
