"""The failures that a function returns: those that it builds, and those of the functions whose results it returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.model import Mapping, Symbol, Value, options, string
from mcpcore_lint.registrations.callers import arguments_of
from mcpcore_lint.rules._bodies import Body, body_of, inside, unpacked
from mcpcore_lint.rules.handler._failures import (
    CALL_RESULTS,
    CONTENTS,
    ERROR_KEYS,
    MARKING_KEYS,
    RELEVANT_KEYS,
    Failure,
    FailureDetector,
    Place,
    may_fail,
    normalized,
    spelling,
)
from mcpcore_lint.rules.handler._result_checks import is_checked
from mcpcore_lint.rules.handler._unreachable import unreachable
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.syntax.parse import all_parameters, own_nodes, walk_shallow

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
        if answer is None or _cannot_fail(answer, site.scope) or unreachable(site.node, body):
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
        detector = self._detector
        tests = (parent for parent in self._body.above(node) if isinstance(parent, ast.If))
        detector.certain = frozenset(
            expression for test in tests if inside(node, test.body) for expression in _not_empty(test.test)
        )
        failure = self._failure(node, detector.call_value(node, evaluate(node, scope), scope), caught=caught)
        core = _core(node, scope)
        if failure is None and (core is not node or isinstance(core, ast.Name)):
            failure = self._failure(core, detector.call_value(core, _first_value(core, scope), scope), caught=caught)
        if failure is None and isinstance(core, ast.Name):
            failure = self._filled_before(core)
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
            table = unpacked(option)
            changes = isinstance(table, Mapping) and not table.complete and self._may_change(node)
            failure = self._detector.failure(
                option, in_clause=caught or (not own and in_clause), own=own or in_clause or not changes
            )
            if own and failure is not None:
                return failure
            failures.append(failure)
            set_by_clause = set_by_clause or (failure is not None and in_clause)
        # A name with several values is a failure if a clause sets it, or if all of its values are failures.
        matches = [failure for failure in failures if failure is not None]
        return matches[0] if matches and (set_by_clause or len(matches) == len(failures)) else None

    def _may_change(self, node: ast.expr) -> bool:
        """Whether the fields of a mapping that show a failure may change before it is returned."""
        if not isinstance(node, ast.Name):
            return True
        keys = (key for _, key, _ in _changes(self._body.nodes, node.id, self._body))
        return any(key is None or normalized(key) in MARKING_KEYS for key in keys)

    def _filled_before(self, name: ast.Name) -> Failure | None:
        """The failure that the block of an answer puts into it: `answer["error"] = "a is missing"; return answer`."""
        statement = self._body.statement_of(name)
        if statement is None or not isinstance(self._body.parents.get(statement), ast.If):
            return None
        block = self._body.block_of(statement)
        fields: dict[object, Value] = {
            key: value
            for _, key, value in _changes(block[: block.index(statement)], name.id, self._body)
            if key is not None and value is not None
        }
        if MARKING_KEYS.isdisjoint(normalized(str(key)) for key in fields):
            return None
        match = self._body.scope(name).lookup(name.id)
        first = match[1][0].value if match is not None else None
        table = evaluate(first, match[0]) if match is not None and first is not None else None
        before: dict[object, Value] = {}
        if isinstance(table, Mapping):
            before = {string(key): value for key, value in table.items}
        shape = self._detector.shape_of_fields([*{**before, **fields}.items()], in_clause=False)
        return None if shape is None else Failure(shape)

    # Results of other functions

    def _passed_on(
        self, node: ast.expr, scope: Scope, *, caught: bool, seen: tuple[str, ...] = ()
    ) -> Iterator[tuple[Place, str, bool]]:
        """The failures of the functions whose result an answer is: the place, the shape, and whether it is caught."""
        name = node.id if isinstance(node, ast.Name) else ""
        # `answer = with_time(answer)` depends on itself.
        if self._depth + len(seen) >= _MAX_DEPTH or (name and name in seen):
            return
        for call, item in self._calls(node, scope):
            in_clause = caught or (call in self._body.parents and self._body.clause_of(call) is not None)
            for function, module in self._functions(call, scope):
                yield from self._failures_of(function, module, item=item, caught=in_clause)
                for argument in _returned_arguments(call, function, module, self._ctx):
                    yield from self._passed_on(_core(argument, scope), scope, caught=in_clause, seen=(*seen, name))

    def _calls(self, node: ast.expr, scope: Scope) -> Iterator[tuple[ast.Call, int | None]]:
        """The calls whose result an expression is, or an item of whose result."""
        if isinstance(node, ast.Call):
            yield node, None
            return
        match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(node, ast.Name) or match is None or match[0] is not scope or is_checked(node, self._body):
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

    # Answers that a clause changes

    def changed_in_clauses(self) -> Iterator[Returned]:
        """The failures that `except` clauses put into an answer: `result["error"] = str(e)`, `result.update(...)`."""
        answers = {
            core.id
            for site in self._function.returns
            if site.node.value is not None and isinstance(core := _core(site.node.value, site.scope), ast.Name)
        }
        is_only_try = sum(1 for _ in self._body.all(ast.Try)) == 1
        for catch in self._function.catches if answers else ():
            clause = catch.node
            if not isinstance(clause, ast.ExceptHandler) or catch.function is not self._function.node:
                continue
            if isinstance(clause.body[-1], ast.Raise):
                continue
            for name in sorted(answers):
                changes = [
                    (statement, key, value)
                    for statement, key, value in _changes(walk_shallow([*clause.body]), name, self._body)
                    if key is not None and value is not None
                ]
                fields = [(key, value) for _, key, value in changes]
                shape = self._detector.shape_of_fields(fields, in_clause=True)
                # A function that tries several things may report which of them is missing.
                if shape is not None and (
                    is_only_try or any(normalized(key) in MARKING_KEYS - ERROR_KEYS for key, _ in fields)
                ):
                    yield Returned(Failure(shape), changes[0][0], caught=True)


def _returned_arguments(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, ctx: RuleContext
) -> Iterator[ast.expr]:
    """The arguments of a call that the function returns, perhaps with another key: `with_time(answer)`."""
    key = ("returned parameters", function)
    if key not in module.memo:
        model = HandlerBuilder.of(function, module, ctx.hierarchy).model
        names = {parameter.arg for parameter in all_parameters(function.args)}
        module.memo[key] = {
            core.id
            for site in model.returns
            if site.node.value is not None
            and isinstance(core := _core(site.node.value, site.scope), ast.Name)
            and core.id in names
            and not is_checked(core, body_of(model))
        }
    returned: set[str] = module.memo[key]
    if returned:
        arguments = arguments_of(function, call, bound_first=module.scope_of(function).owner is not None)
        yield from (argument for name, argument in arguments.items() if name in returned)


def _first_value(node: ast.expr, scope: Scope) -> Value:
    """The value of an expression. A name keeps its first value after `text += hint`, which leaves its beginning."""
    match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    if match is not None and any(binding.kind == "augmented" for binding in match[1]):
        values = [binding.value for binding in match[1] if binding.kind != "augmented"]
        if len(values) == 1 and values[0] is not None:
            return evaluate(values[0], match[0])
    return evaluate(node, scope)


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


def _changes(nodes: Iterable[ast.AST], name: str, body: Body) -> Iterator[tuple[ast.stmt, str | None, Value | None]]:
    """The fields that statements set in a mapping or a model: the statement, the key (None if unknown), the value."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=assigned):
                for target in targets:
                    match target:
                        case ast.Attribute(value=ast.Name(id=owner), attr=key) if owner == name:
                            yield node, key, body.value(assigned)
                        case ast.Subscript(value=ast.Name(id=owner), slice=index) if owner == name:
                            yield node, string(body.value(index)), body.value(assigned)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)) as call):
                if owner != name:
                    continue
                if method == "setdefault" and len(call.args) == 2:
                    yield node, string(body.value(call.args[0])), body.value(call.args[1])
                if method == "update":
                    for keyword in call.keywords:
                        yield node, keyword.arg, body.value(keyword.value)
                    for table in map(body.value, call.args):
                        if not isinstance(table, Mapping) or not table.complete:
                            yield node, None, None
                        for key_value, value in table.items if isinstance(table, Mapping) else ():
                            yield node, string(key_value), value
            case ast.AugAssign(target=ast.Name(id=owner)) if owner == name:
                yield node, None, None


def _not_empty(test: ast.expr) -> Iterator[str]:
    """The expressions that are neither None nor empty if a test holds, as text."""
    match test:
        case ast.Compare(left=left, ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
            yield from _not_empty(left)
        case ast.BoolOp(op=ast.And()):
            for part in test.values:
                yield from _not_empty(part)
        case (
            ast.NamedExpr(target=ast.Name(id=name))
            | ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), *_])
        ):
            yield name
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            yield spelling(test)


def _cannot_fail(node: ast.expr, scope: Scope) -> bool:
    """Whether no key of a mapping or a model can show a failure, so that the answer need not be evaluated."""
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        return None not in keys and all(normalized(str(key)) not in RELEVANT_KEYS for key in keys)
    if not isinstance(node, ast.Call) or not node.keywords:
        return False
    if any(keyword.arg is None or normalized(keyword.arg) in RELEVANT_KEYS for keyword in node.keywords):
        return False
    model = evaluate(node.func, scope)
    info = class_info(model) if isinstance(model, Symbol) else None
    return info is not None and not may_fail(info)
