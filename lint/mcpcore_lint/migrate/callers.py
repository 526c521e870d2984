"""The functions around a tool: those that call it and may read its failures, and those whose failures it passes on."""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Final, NamedTuple, cast

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.diagnostics import Edit, grouped
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.semantics.type_model import Instance, method_of, name_of
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Function, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import BROAD, RUNNERS, Body, scope_around
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.failures import assigned_failures, passed_on, returned_failure
from mcpcore_lint.migrate.messages import constant_text, pieces
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import Handler, Reach, Symbol, ToolDef
from mcpcore_lint.records import in_test_file

_DEPTH: Final = 3
"""How many functions below the tool are looked at."""


class Callers:
    """The calls of functions in the files of a run, without tests."""

    def __init__(
        self,
        modules: Iterable[Module],
        hierarchy: Hierarchy,
        handlers: set[ast.AST],
        guarded: Callable[[str], AbstractContextManager[None]],
        reach: Callable[[ToolDef], Reach],
    ) -> None:
        """Prepare to search the files; `guarded` goes on without one whose analysis crashes, by its absolute path."""
        self._guarded = guarded
        self.reach = reach
        """What leaves a tool, also from the functions that it calls."""
        self._modules = list(modules)
        sources = [module.source for module in self._modules]
        servers = [source for source in sources if not source.has("ContractMiddleware")]
        sending = any(source.has("expose_internal_errors") for source in servers)
        self.sends_texts = (sending, not any(source.has("mask_error_details") for source in sources))
        """Whether clients read the texts of undeclared exceptions: of the SDK's servers, and of FastMCP's."""
        self.asserted: dict[ast.AST, Asserted] = {}
        """What tests expect of the failures of the tools, by their functions."""
        self._hierarchy = hierarchy
        self._handlers = handlers

    def objection(self, handler: Handler, place: Place) -> tuple[str, str] | None:
        """Why a failure cannot be raised in another way: a pattern and what to decide; None if it can."""
        for module, call, scope in self._calls(handler):
            if place.raised:
                if name := self._catches(module, call, scope, place.raised):
                    decide = f"let line {call.lineno} of {module.path} catch CodedError, not {name}, and raise ctx.fail"
                    return f"{place.raised.rpartition('.')[2]} is caught by a caller", decide
            elif not self.only_returned(module, call):
                decide = f"let line {call.lineno} of {module.path} catch CodedError if it reads it, and raise ctx.fail"
                return "a failure is returned to other code too", decide
        return None

    @cached_method
    def _calls(self, handler: Handler) -> list[tuple[Module, ast.Call, Scope]]:
        calls: list[tuple[Module, ast.Call, Scope]] = []
        # Also files that do not name the protocol.
        every = handler.module.project.modules_with(handler.module, lambda text: handler.name in text)
        for module in self._modules if every is None else every:
            with self._guarded(module.absolute):
                calls += self._calls_in(module, handler)
        return calls

    def _calls_in(self, module: Module, handler: Handler) -> Iterator[tuple[Module, ast.Call, Scope]]:
        for call, scope in _calls_by_name(module).get(handler.name, ()):
            symbol = evaluate(call.func, scope)
            if isinstance(symbol, Symbol):
                if symbol.definition is handler.node:
                    yield module, call, scope
            elif handler.owner is not None and isinstance(call.func, ast.Attribute):
                # A method of an object whose class is not known.
                on_self = isinstance(call.func.value, ast.Name) and call.func.value.id == "self"
                if not on_self or scope.owner is handler.owner:
                    yield module, call, scope

    def only_returned(self, module: Module, call: ast.Call) -> bool:
        """Whether a caller is a tool that returns the result as it is, or runs the function alone."""
        parents = module.parents
        parent = parents[call]
        if isinstance(parent, ast.Await):
            parent = parents[parent]
        if isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in RUNNERS:
            return isinstance(parents[parent], ast.Expr)
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            # `content = await find(arguments)`, which only `return content` reads
            name, named = parent.targets[0].id, ast.walk(scope_around(call, module).node)
            names = [part for part in named if isinstance(part, ast.Name) and part.id == name]
            # `content += [...]` reads it too
            reads = [
                part for part in names if isinstance(part.ctx, ast.Load) or isinstance(parents[part], ast.AugAssign)
            ]
            parent = min(
                (parents[part] for part in reads), key=lambda part: isinstance(part, ast.Return), default=parent
            )
        return isinstance(parent, ast.Return) and scope_around(parent, module).node in self._handlers

    def _catches(self, module: Module, call: ast.Call, scope: Scope, raised: str) -> str | None:
        """The class by which a clause around a call catches an exception, if it is not a broad one."""
        parents = module.parents
        node: ast.AST = call
        while node in parents and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parent = parents[node]
            if isinstance(parent, ast.Try) and node in parent.body:
                for clause in parent.handlers:
                    types = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
                    for kind in filter(None, types):
                        name = name_of(kind, scope)
                        if name not in BROAD and (not name or self._hierarchy.is_kind_of(raised, name) is not False):
                            return ast.unparse(kind)
            node = parent
        return None


@kept
def _calls_by_name(module: Module) -> dict[str, list[tuple[ast.Call, Scope]]]:
    """The calls in a file, by the name that is called."""
    return grouped(
        module.calls_near("("), lambda placed: getattr(placed[0].func, "attr", getattr(placed[0].func, "id", ""))
    )


# -- functions that a tool calls, and their `return {"error": ...}` ----------------------------------------------------


class _Helper(NamedTuple):
    """A function that is no tool."""

    path: str
    line: int
    fails: bool
    """Whether it returns a failure itself."""
    may_fail: bool
    """Whether it returns what may be one, such as `{"error": text}`."""
    calls: dict[Function, bool]
    """The functions of the project that it calls, and whether it returns their values."""


class Helpers:
    """The functions of the project that tools call, each of which is read once."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        handlers: Collection[ast.AST],
        guarded: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        """Start without any; `guarded` goes on without a file whose analysis crashes, by its absolute path."""
        self._guarded = guarded
        self._hierarchy = hierarchy
        self._handlers = handlers
        self._known: dict[ast.AST, _Helper | None] = {}

    def left(self, body: Body, named: Collection[tuple[str, int]]) -> list[Left]:
        """The functions that return a failure to a tool, directly or through other functions.

        Args:
            body: The function of the tool.
            named: The path and the line of functions that the report names anyway.
        """
        left: list[Left] = []
        seen: set[ast.AST] = {body.node, *self._handlers}
        layer = _calls(body)
        for _ in range(_DEPTH):
            following: dict[Function, bool] = {}
            for definition, certain in layer.items():
                helper = None if definition in seen else self._read(definition, body)
                seen.add(definition)
                if helper is None or (helper.path, helper.line) in named:
                    continue
                if helper.fails or helper.may_fail:
                    passes = "and the tool passes it on" if certain else "which the tool may pass on"
                    pattern = f"{definition.name}() {'returns' if helper.fails else 'may return'} a failure, {passes}"
                    decide = "raise an exception there, or ctx.fail in the tool"
                    perhaps = not (certain and helper.fails)
                    left.append(Left(helper.path, helper.line, (body.tool,), pattern, decide, perhaps=perhaps))
                for call, passed in helper.calls.items():
                    following[call] = following.get(call, False) or (certain and passed)
            layer = following
        return left

    def _read(self, definition: Function, body: Body) -> _Helper | None:
        if definition not in self._known:
            self._known[definition] = None
            owner = body.module.project.module_defining(definition)
            if (
                owner is not None
            ):  # pragma: no branch - each function that a name leads to is in a module of the project
                with self._guarded(owner.absolute):
                    inner = Body(definition, owner, body.tool, self._hierarchy)
                    returns = [node for node in inner.nodes if isinstance(node, ast.Return)]
                    results = [*(returned_failure(node, inner) for node in returns), *assigned_failures(inner)]
                    surely = [
                        not (isinstance(result, Left) and result.perhaps) for result in results if result is not None
                    ]
                    line = min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])
                    self._known[definition] = _Helper(owner.path, line, any(surely), bool(surely), _calls(inner))
        return self._known[definition]


def _calls(body: Body) -> dict[Function, bool]:
    """The functions of the project that a function calls, and whether it returns their values."""
    passed = passed_on(body)
    known: dict[Function, bool] = {}
    for call in body.nodes:
        for definition in _definitions(call.func, body) if isinstance(call, ast.Call) else ():
            known[definition] = known.get(definition, False) or call in passed
    return known


def _definitions(func: ast.expr, body: Body) -> list[Function]:
    """The functions of the project that an expression names, and the methods of an object of the project's classes."""
    symbol = body.symbol(func)
    if symbol is not None or not isinstance(func, ast.Attribute):
        return [symbol.definition] if symbol is not None and isinstance(symbol.definition, FUNCTIONS) else []
    kinds = Inference(class_round(body.scope)).of(func.value, body.scope)
    methods = [method_of(kind.info, func.attr) for kind in kinds if isinstance(kind, Instance)]
    return [method[0] for method in methods if method is not None]


# -- tests of the tools ------------------------------------------------------------------------------------------------

_FAILURE: Final = ("mcpcore", "CodedError")
# A test that may be about a failure. A tool that it calls through the server keeps what it returns.
_FAILS: Final = re.compile(r"error|exception|fail|reject|invalid|missing", re.IGNORECASE)
_RAISES: Final = frozenset({"pytest.raises", "raises", "self.assertRaises", "self.assertRaisesRegex"})
_TAKEN: Final = re.compile(r"\btool\.fn\b|_tool_manager\b.*\.fn\b")
_UNWRAPPED: Final = re.compile(r"(?:unwrap|signature|get_type_hints)\((?:\w+\.)*(\w+)[,)]|\b(\w+)\.__wrapped__\b")
_FIRST: Final = re.compile(r"[\"'\s]*(?:\.[*+]|[|\[({^$]).*")
"""What a pattern says behind its first words."""


def follow(
    module: Module, converted: Mapping[ast.AST, Sequence[tuple[Place, Scope]]], whole: Collection[ast.AST]
) -> list[Edit]:
    """The edits of a file of tests that expect an exception of a tool.

    Args:
        module: The file.
        converted: The failures of the tools that are converted, by the function of the tool.
        whole: The functions of the tools that return no other failure.
    """
    edits: list[Edit] = []
    names = Names(module)
    by_name = grouped(converted, lambda node: str(getattr(node, "name", "")))
    for call, scope in module.calls_near(*{f"{name}(" for name in by_name}):
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        places = converted.get(symbol.definition, ()) if isinstance(symbol, Symbol) and symbol.definition else ()
        unknown = isinstance(call.func, ast.Attribute) and not isinstance(symbol, Symbol)
        same = by_name.get(getattr(call.func, "attr", ""), []) if unknown else []
        if len(same) == 1:
            # A method of an object that a fixture makes, by its name and by what it raises.
            places = [place for place in converted[same[0]] if place[0].raised]
        block = module.parents.get(call)
        while places and block is not None and not isinstance(block, (ast.FunctionDef, ast.AsyncFunctionDef)):
            is_block = isinstance(block, (ast.With, ast.AsyncWith)) and not isinstance(block.body[-1], ast.Raise)
            for item in getattr(block, "items", ()) if is_block else ():
                kind, certain = _expected(item.context_expr, call, places, scope)
                if kind is not None:
                    failure = names.spell(*_FAILURE)
                    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
                    certain = certain or (len(kinds) == 1 and getattr(symbol, "definition", None) in whole)
                    either = ", ".join(dict.fromkeys([*map(module.source.segment, kinds), failure]))
                    text = failure if certain else f"({either})"
                    edits.append(Edit(*module.source.node_range(kind), text))
            block = module.parents.get(block)
    return [*edits, *names.edits({_FAILURE})] if edits else []


class Asserted(NamedTuple):
    """What tests expect of the failures of a tool.

    Attributes:
        returned: Where a test reads one that the tool returns; empty if none does.
        raised: The classes that tests expect, as they are written.
        unwraps: Whether a test calls or inspects the function below its decorators, where nothing passes it a context.
        matched: What tests expect that the text of an exception says.
    """

    returned: str = ""
    raised: frozenset[str] = frozenset()
    unwraps: bool = False
    matched: frozenset[str] = frozenset()


def asserted(module: Module, handlers: Collection[ast.AST], known: dict[ast.AST, Asserted]) -> None:
    """Add what a file of tests expects of the failures of tools, by their functions."""
    by_name = grouped(handlers, lambda node: str(getattr(node, "name", "")))
    # The functions that the SDK keeps of the tools, which it could not call for a tool with a contract.
    takes = (
        module.source.has("fn") and _TAKEN.search(module.source.text) is not None and not module.source.has("fastmcp")
    )
    for name in filter(None, [*sum(_UNWRAPPED.findall(module.source.text), ()), *(by_name if takes else ())]):
        known.update((node, known.get(node, Asserted())._replace(unwraps=True)) for node in by_name.get(name, ()))
    nodes = cache(lambda block: [*walk([block])])
    keys = {f"{name}{quote}](" for name in by_name for quote in "\"'"}
    for call, scope in module.calls_near("call_tool(", *{f"{name}(" for name in by_name}, *keys):
        # `tools["sell"](...)`, of what a test registered
        key = getattr(getattr(call.func, "slice", None), "value", "")
        called = str(getattr(call.func, "attr", getattr(call.func, "id", key)))
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        if by_string := called == "call_tool" and bool(call.args) and isinstance(call.args[0], ast.Constant):
            called = getattr(call.args[0], "value", "")
        # Any method of that name may be one of an object that is not known.
        tools = [] if isinstance(symbol, Symbol) else by_name.get(called, [])
        if isinstance(symbol, Symbol) and symbol.definition is not None and symbol.definition in handlers:
            tools = [symbol.definition]
        if not tools:
            continue
        block = scope.node
        # If no name keeps the result, only its own statement reads it.
        kept = any(isinstance(part, ast.Assign) and call in walk([part]) for part in nodes(block))
        tests = [*filter(None, map(_asserted, nodes(block)))]
        tests = [test for test in tests if kept or f"{called}(" in test or f"{key}'](" in test]
        raising = [
            (cast("ast.Call", item.context_expr), part)
            for part in nodes(block)
            for item in (part.items if isinstance(part, (ast.With, ast.AsyncWith)) else ())
            if expects(item.context_expr)
        ]
        expected = {ast.unparse(kind.args[0]) for kind, part in raising if kind.args and call in walk([part])}
        matched = {
            _first_words(option.value) for kind, _ in raising for option in kind.keywords if option.arg == "match"
        }
        code = ast.unparse(block)
        # A double that raises makes the tool fail.
        reads = bool(_FAILS.search(code if by_string else " ".join(tests)) or (tests and "side_effect" in code))
        for tool in tools:
            before = known.get(tool, Asserted())
            known[tool] = before._replace(
                returned=before.returned or (f"{module.path}:{call.lineno}" if reads and not expected else ""),
                raised=before.raised | expected,
                matched=before.matched | matched,
            )


def expects(context: ast.expr) -> bool:
    """Whether a context is `pytest.raises(...)` or `self.assertRaises(...)`, not `patch(...)`."""
    return isinstance(context, ast.Call) and "raises" in ast.unparse(context.func).lower()


def _asserted(node: ast.AST) -> str:
    """What an `assert` or an assertion of unittest tests, as code; empty for other nodes."""
    match node:
        case ast.Assert(test=test):
            return ast.unparse(test)
        case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("assert"):
            return ast.unparse(node)
    return ""


def _first_words(pattern: ast.expr | None) -> str:
    return _FIRST.split(str(pattern.value).replace("\\", ""))[0] if isinstance(pattern, ast.Constant) else ""


def _expected(
    node: ast.expr, call: ast.Call, places: Sequence[tuple[Place, Scope]], scope: Scope
) -> tuple[ast.expr | None, bool]:
    """The class in `pytest.raises(...)` if the tool raised it, and whether its text is certainly the one expected."""
    match node:
        case ast.Call(func=func, args=[kind, *texts], keywords=options) if ast.unparse(func) in _RAISES:
            kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
            named = {symbol.name for part in kinds if isinstance(symbol := evaluate(part, scope), Symbol)}
            texts += [option.value for option in options if option.arg == "match"]
            expected = _first_words(texts[0] if texts else None)
            said = [constant_text(pieces(place.message, own)) for place, own in places if place.raised in named]
            certain = any(expected in message for message in said)
            # The test may expect an argument that the message shows.
            values = [str(part.value) for part in walk([call]) if isinstance(part, ast.Constant)]
            if certain or (
                any(len(value) > 1 and value in expected for value in values)
                and any("\N{HORIZONTAL ELLIPSIS}" in message for message in said)
            ):
                return kind, certain and expected != "" and len(kinds) == 1
    return None, False


def is_test(module: Module) -> bool:
    """Whether a file is one of tests. A source file may be called `test_runs.py`."""
    return in_test_file(module.path, module.source.text, scripts=False)
