"""The failures that a function returns: those that it builds, and those of the functions whose results it returns."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.model import Mapping, Symbol, Value, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, body_of, inside, mentions
from mcpcore_lint.rules.handler._failures import (
    CALL_RESULTS,
    CONTENTS,
    ERROR_KEYS,
    MARKING_KEYS,
    RELEVANT_KEYS,
    Failure,
    FailureDetector,
    Place,
    normalized,
)
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import ancestry
from mcpcore_lint.syntax.parse import own_nodes, walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpcore_lint.model import Handler
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

_CONVERSIONS: Final = frozenset(
    {"json.dumps", "orjson.dumps", "ujson.dumps", "yaml.dump", "yaml.safe_dump", "dataclasses.asdict",
     "asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future"}
)  # fmt: skip
"""Functions that return their first argument in another form, or its result."""
_CONVERTING_METHODS: Final = frozenset({"model_dump", "model_dump_json", "dict", "json", "to_dict", "decode"})
_IN_A_THREAD: Final = frozenset({"asyncio.to_thread", "anyio.to_thread.run_sync", "asgiref.sync.sync_to_async"})
"""Functions that return the result of their first argument."""
_MAX_DEPTH: Final = 6
"""How many functions that return the result of another one are followed."""
_MAX_FUNCTIONS: Final = 64
"""How many functions that one call may run are followed."""


_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FAILURE: Final = regex(r"error|fail", re.IGNORECASE)
_NEGATION: Final = regex(r"\bnot\b(?! None)|is None|False")
"""With `_FAILURE`, tells a test that holds for failures, `not answer["ok"]`, from one that holds for results."""


class Returned(NamedTuple):
    """A failure that a function returns."""

    failure: Failure
    node: ast.expr | ast.stmt
    """The returned value, or the statement that makes it a failure."""
    caught: bool
    """Whether an `except` clause returns it."""


def returned_failures(
    function: Handler,
    ctx: RuleContext,
    *,
    contract_tool: bool,
    _depth: int = 0,
    _item: int | None = None,
    _caught: bool = False,
) -> list[Returned]:
    """The failures that a function returns, in source order.

    Args:
        function: The function.
        ctx: The context of the rule.
        contract_tool: Whether it is for a tool of mcpcore.
        _depth: How many functions return the result of this one.
        _item: The item that counts, if the function returns tuples.
        _caught: Whether an `except` clause calls it, so that its result is about a failure.
    """
    body = body_of(function)
    reader = _AnswerReader(function, body, ctx, contract_tool=contract_tool, depth=_depth)
    matches: list[Returned] = []
    for site in function.returns:
        answer = site.node.value
        if _item is not None and isinstance(answer, ast.Tuple):
            answer = answer.elts[_item] if _item < len(answer.elts) else None
        if answer is None or _cannot_fail(answer, site.scope):
            continue
        matches += reader.answer(answer, site.scope, caught=_caught or site.catch is not None)
    if isinstance(function.node, ast.Lambda):
        matches += reader.answer(function.node.body, body.scope(function.node.body), caught=False)
    matches += reader.changed_in_clauses()
    return sorted(dict.fromkeys(matches), key=lambda match: (match.node.lineno, match.node.col_offset))


class _AnswerReader:
    """Reads the answers of one function."""

    def __init__(self, function: Handler, body: Body, ctx: RuleContext, *, contract_tool: bool, depth: int) -> None:
        self._function = function
        self._body = body
        self._ctx = ctx
        self._contract_tool = contract_tool
        self._depth = depth
        self._detector = FailureDetector(function, ctx, contract_tool=contract_tool)

    def answer(self, node: ast.expr, scope: Scope, *, caught: bool) -> Iterator[Returned]:
        """The failures that one answer is."""
        failure = self._failure(node, evaluate(node, scope), caught=caught)
        core = _core(node, scope)
        if failure is None and core is not node:
            failure = self._failure(core, evaluate(core, scope), caught=caught)
        if failure is not None:
            yield Returned(failure, node, caught)
            return
        for place, shape, in_clause in self._passed_on(core, scope, caught=caught):
            yield Returned(Failure(shape, place), node, caught or in_clause)

    def _failure(self, node: ast.expr, value: Value, *, caught: bool) -> Failure | None:
        body = self._body
        failures: list[Failure | None] = []
        set_by_clause = False
        for option in options(value):
            own = option.node is not None and inside(option.node, [node])
            in_clause = (
                option.node in body.parents and body.clause_of(option.node) is not None if option.node else False
            )
            failure = self._detector.failure(
                option, in_clause=caught or (not own and in_clause), own=own or in_clause or not self._may_change(node)
            )
            if own and failure is not None:
                return failure
            failures.append(failure)
            set_by_clause = set_by_clause or (failure is not None and in_clause)
        # A name with several values is a failure if a clause sets it, or if all of its values are failures.
        matches = [failure for failure in failures if failure is not None]
        return matches[0] if matches and (set_by_clause or len(matches) == len(failures)) else None

    def _may_change(self, node: ast.expr) -> bool:
        """Whether code may change a field that shows a failure in a mapping before it returns the mapping."""
        if not isinstance(node, ast.Name):
            return True
        keys = (key for _, key, _ in self._fields_set(self._body.nodes, node.id))
        return any(key is None or normalized(key) in MARKING_KEYS for key in keys)

    def _fields_set(
        self, nodes: Iterable[ast.AST], name: str
    ) -> Iterator[tuple[ast.expr | ast.stmt, str | None, Value]]:
        """The fields that some nodes set in a mapping: the node, the key (None if unknown), the value."""
        for node in nodes:
            match node:
                case ast.Assign(targets=targets):
                    for target in targets:
                        if isinstance(target, ast.Subscript) and getattr(target.value, "id", "") == name:
                            yield node, string(self._body.value(target.slice)), self._body.value(node.value)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=updated), attr="update"), args=[arg]) if (
                    updated == name
                ):
                    table = self._body.value(arg)
                    fields = table.items if isinstance(table, Mapping) else ((table, table),)
                    yield from ((node, string(key), value) for key, value in fields)

    def changed_in_clauses(self) -> Iterator[Returned]:
        """The failures that `except` clauses put into an answer: `result["status"] = "error"`."""
        cores = [_core(site.node.value, site.scope) for site in self._function.returns if site.node.value is not None]
        answers = {core.id for core in cores if isinstance(core, ast.Name)}
        is_only_try = sum(1 for _ in self._body.all(ast.Try)) == 1
        for catch in self._function.catches if answers else ():
            if not catch.body or catch.function is not self._function.node or isinstance(catch.body[-1], ast.Raise):
                continue
            for name in sorted(answers):
                changes = [*self._fields_set(walk_shallow([*catch.body]), name)]
                fields = [(key, value) for _, key, value in changes if key is not None]
                shape = self._detector.shape_of_fields(fields, in_clause=True)
                # A function that tries several things may report which of them is missing.
                if shape is not None and (
                    is_only_try or any(normalized(key) in MARKING_KEYS - ERROR_KEYS for key, _ in fields)
                ):
                    yield Returned(Failure(shape), changes[0][0], caught=True)

    # Results of other functions

    def _passed_on(self, node: ast.expr, scope: Scope, *, caught: bool) -> Iterator[tuple[Place, str, bool]]:
        """The failures of the functions whose result an answer is: the place, the shape, and whether it is caught."""
        if self._depth >= _MAX_DEPTH:
            return
        for call, item in self._calls(node, scope):
            in_clause = caught or (call in self._body.parents and self._body.clause_of(call) is not None)
            for function, module in self._functions(call, scope):
                yield from self._failures_of(function, module, item=item, caught=in_clause)

    def _calls(self, node: ast.expr, scope: Scope) -> Iterator[tuple[ast.Call, int | None]]:
        """The calls whose result an expression is, or an item of whose result."""
        if isinstance(node, ast.Call):
            yield node, None
            return
        match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(node, ast.Name) or match is None or match[0] is not scope or _is_checked(node, self._body):
            return
        for binding in match[1]:
            statement = binding.node
            source = statement.value if isinstance(statement, (ast.Assign, ast.NamedExpr)) else binding.value
            item = _item_of(node.id, statement)
            core = _core(source, scope) if source is not None and item is not None else None
            if isinstance(core, ast.Call):
                yield core, None if item == _WHOLE else item

    def _functions(
        self, call: ast.Call, scope: Scope
    ) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Module]]:
        """The functions of the project that a call may run: several if a table or a subclass decides."""
        callee = evaluate(call.func, scope)
        if isinstance(callee, Symbol) and callee.name in _IN_A_THREAD and call.args:
            callee = evaluate(call.args[0], scope)
        elif getattr(call.func, "attr", "") == "run_in_executor" and len(call.args) > 1:
            callee = evaluate(call.args[1], scope)
        functions: Sequence[ast.AST | None] = (
            [callee.definition] if isinstance(callee, Symbol) else self._ctx.called(self._function, call)
        )
        for function in functions[:_MAX_FUNCTIONS]:
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function is self._function.node:
                continue
            module = self._ctx.project.module_defining(function)
            # If the function is a tool as well, the failure is reported there.
            if module is not None and not self._ctx.is_handler(function, module):
                yield function, module

    def _failures_of(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, *, item: int | None, caught: bool
    ) -> list[tuple[Place, str, bool]]:
        """The failures that a function of the project returns, computed once for all its callers."""
        # The result depends on the depth, so the depth is part of the key: callers must not depend on their order.
        key = ("returned failures", function, item, caught, self._contract_tool, self._depth)
        if key not in module.memo:
            module.memo[key] = []
            model = HandlerBuilder.of(function, module, self._ctx.hierarchy).model
            if not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)):
                module.memo[key] = [
                    (match.failure.place or Place(match.node, module, function), match.failure.shape, match.caught)
                    for match in returned_failures(
                        model,
                        self._ctx,
                        contract_tool=self._contract_tool,
                        _depth=self._depth + 1,
                        _item=item,
                        _caught=caught,
                    )
                ]
        failures: list[tuple[Place, str, bool]] = module.memo[key]
        return failures


def _core(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression inside an `await`, `json.dumps`, a list of one item, or in front of appended text."""
    for _ in range(8):
        match node:
            case ast.Await(value=inner) | ast.BinOp(op=ast.Add(), left=inner) | ast.List(elts=[inner]):
                node = inner
            case ast.JoinedStr(values=[ast.FormattedValue(value=inner), *_]):
                node = inner
            case ast.Dict(keys=keys, values=values) if keys.count(None) == 1:
                node = values[keys.index(None)]  # `{**answer, "asked": a}`
            case ast.Call() if (converted := _converted(node, scope)) is not None:
                node = converted
            case _:
                break
    return node


def _converted(call: ast.Call, scope: Scope) -> ast.expr | None:
    """The expression that a call only converts, such as the argument of `json.dumps`; None for any other call."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _CONVERTING_METHODS and not call.args:
        return call.func.value
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    callee = evaluate(call.func, scope)
    name = callee.name if isinstance(callee, Symbol) else ""
    if name in _CONVERSIONS and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "join" and len(call.args) == 1:
        return call.args[0].elts[0] if isinstance(call.args[0], ast.List) and call.args[0].elts else None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "mcp.TextContent":
        return keywords.get("text")
    if name in CALL_RESULTS and keywords.keys().isdisjoint({"is_error", "isError"}):
        return next((keywords[key] for key in CONTENTS if key in keywords), None)
    return None


_WHOLE: Final = -1


def _item_of(name: str, statement: ast.AST) -> int | None:
    """The item of the assigned value that a name gets: `_WHOLE` for the value itself, None if it is not known."""
    if isinstance(statement, (ast.NamedExpr, ast.AnnAssign)):
        return _WHOLE
    match statement:
        case ast.Assign(targets=[ast.Name()]):
            return _WHOLE
        case ast.Assign(targets=[ast.Tuple(elts=items) | ast.List(elts=items)]):
            names = [getattr(item, "id", "") for item in items]
            has_star = any(isinstance(item, ast.Starred) for item in items)
            return names.index(name) if name in names and not has_star else None
    return None


def _is_checked(name: ast.Name, body: Body) -> bool:
    """Whether a function returns a name only if it has found no failure in it.

    A branch that returns the failure that it has found checks nothing: `if "error" in answer: return answer`.
    """
    flags = {
        target.id
        for assignment in body.all(ast.Assign)
        if _looks_for_failure(assignment.value, name.id)
        for target in assignment.targets
        if isinstance(target, ast.Name)
    }
    for node in body.all(ast.If):
        if not _looks_for_failure(node.test, name.id) and not any(mentions(node.test, flag) for flag in flags):
            continue
        if inside(name, node.body):
            test = ast.unparse(node.test)
            if (_NEGATION.search(test) is None) is (_FAILURE.search(test) is None):
                return True
        elif inside(name, node.orelse) or isinstance(node.body[-1], _LEAVING):
            return True
    return False


def _looks_for_failure(test: ast.expr, name: str) -> bool:
    """Whether a test may look for a failure in an answer, rather than test whether the answer is empty."""
    return mentions(test, name) and any(
        (isinstance(node, ast.Call) and mentions(node, name) and getattr(node.func, "id", "") != "len")
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or (isinstance(node, ast.Attribute) and normalized(node.attr) in MARKING_KEYS)
        for node in walk([test])
    )


def _cannot_fail(node: ast.expr, scope: Scope) -> bool:
    """Whether no key of a mapping or field of a model can show a failure, so that it need not be evaluated."""
    if isinstance(node, ast.Dict):
        names = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    elif isinstance(node, ast.Call) and not node.args:
        model = evaluate(node.func, scope)
        info = class_info(model) if isinstance(model, Symbol) else None
        names = [keyword.arg for keyword in node.keywords] if info is not None else []
        names += [name for owner in ancestry(info) for name in owner.attributes] if info is not None else []
    else:
        return False
    return bool(names) and all(name is not None and normalized(str(name)) not in RELEVANT_KEYS for name in names)
