"""The failures that a function returns: those that it builds, and those of functions whose results it hands on."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.model import Mapping, Symbol, Value, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.rules._bodies import Body, body_of, inside, text_start, unpacked
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.handler._checked import is_checked
from mcpcore_lint.rules.handler._failures import (
    CALL_RESULTS,
    CONTENTS,
    ERROR_KEYS,
    SHOWING_KEYS,
    TELLING,
    Failure,
    Judge,
    Place,
    may_fail,
    plain,
    spelling,
)
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.syntax.parse import all_parameters, own_nodes, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpcore_lint.model import Handler
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

_EITHER: Final = regex(r"\W*(?:unable|failed) to\b.{1,100}\bor no\b.{1,60}\b(?:found|available)\b", re.IGNORECASE)
_DUMPS: Final = frozenset(
    {"json.dumps", "orjson.dumps", "ujson.dumps", "yaml.dump", "yaml.safe_dump", "dataclasses.asdict"}
)
_DUMPING: Final = frozenset({"model_dump", "model_dump_json", "dict", "json", "to_dict", "decode"})
"""Methods that give an answer in another form."""
_WAITS: Final = frozenset({"asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future"})
"""Functions whose result is that of the coroutine that they are given."""
_IN_A_THREAD: Final = frozenset({"asyncio.to_thread", "anyio.to_thread.run_sync", "asgiref.sync.sync_to_async"})
"""Functions whose result is what their first argument returns."""
_DEEP: Final = 6
"""How many functions that hand on what another one returns are followed."""
_MANY: Final = 64
"""How many functions one call may run."""


class Returned(NamedTuple):
    """A failure that a function returns."""

    failure: Failure
    node: ast.expr | ast.stmt
    """The answer in the function itself: what is returned, or the statement that makes a failure of it."""
    caught: bool
    """Whether an `except` clause gives it."""


def returned_failures(
    function: Handler,
    ctx: RuleContext,
    *,
    contract_tool: bool,
    _deep: int = 0,
    _item: int | None = None,
    _caught: bool = False,
) -> list[Returned]:
    """The failures that a function returns, in source order.

    Args:
        function: The function.
        ctx: The rule that asks.
        contract_tool: Whether it is for a tool of mcpcore.
        _deep: How many functions handed this one's result on.
        _item: Where it returns tuples, the number of the item that counts.
        _caught: Whether an `except` clause calls it, so that what it returns is about a failure.
    """
    body = body_of(function)
    judge = Judge(function, ctx, contract_tool=contract_tool)
    reader = _Reader(function, body, judge, ctx, _deep)
    matches: list[Returned] = []
    for site in function.returns:
        answer = site.node.value
        if _item is not None and isinstance(answer, ast.Tuple):
            answer = answer.elts[_item] if _item < len(answer.elts) else None
        if answer is None or _tells_nothing(answer, site.scope) or unreachable(site.node, body):
            continue
        matches += reader.answer(answer, site.scope, caught=_caught or site.catch is not None)
    if isinstance(function.node, ast.Lambda):
        matches += reader.answer(function.node.body, body.scope(function.node.body), caught=False)
    matches += reader.changed_in_clauses()
    return sorted(dict.fromkeys(matches), key=lambda match: (match.node.lineno, match.node.col_offset))


class _Reader:
    """Reads the answers of one function."""

    def __init__(self, function: Handler, body: Body, judge: Judge, ctx: RuleContext, deep: int) -> None:
        self.function = function
        self.body = body
        self.judge = judge
        self.ctx = ctx
        self.deep = deep

    def answer(self, node: ast.expr, scope: Scope, *, caught: bool) -> Iterator[Returned]:
        """The failures that one answer is."""
        self.judge.certain = frozenset(self._certain(node))
        value = self.judge.called(node, evaluate(node, scope), scope)
        failure = self._failure(node, value, caught=caught)
        core = _core(node, scope)
        if failure is None and (core is not node or isinstance(core, ast.Name)):
            value = self.judge.called(core, self._start(core, scope), scope)
            failure = self._failure(core, value, caught=caught)
        if failure is None and isinstance(core, ast.Name):
            failure = self._filled_before(core)
        if failure is not None:
            if caught or not failure.is_text or not _either_way(node, value, self.body):
                yield Returned(failure, node, caught)
            return
        for place, shape, in_clause in self._handed_on(core, scope, caught=caught):
            yield Returned(Failure(shape, place), node, caught or in_clause)

    def _filled_before(self, name: ast.Name) -> Failure | None:
        """What the block of an answer puts into it: `response["error"] = "a is missing"; return response`."""
        statement = self.body.statement_of(name)
        if statement is None or not isinstance(self.body.parents.get(statement), ast.If):
            return None
        block = self.body.block_of(statement)
        changes = {
            key: value
            for _, key, value in _changes(block[: block.index(statement)], name.id, self.body)
            if key is not None and value is not None
        }
        if TELLING.isdisjoint(map(plain, changes)):
            return None
        found = self.body.scope(name).lookup(name.id)
        first = found[1][0].value if found is not None else None
        table = evaluate(first, found[0]) if found is not None and first is not None else None
        pairs: dict[object, Value] = {}
        for key, value in table.items if isinstance(table, Mapping) else ():
            pairs[string(key)] = value
        pairs.update(changes)
        shape = self.judge.pairs([*pairs.items()], in_clause=False)
        return None if shape is None else Failure(shape)

    @staticmethod
    def _start(node: ast.expr, scope: Scope) -> Value:
        """The value of an expression, or its beginning: `text += hint` does not change how a text begins."""
        found = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if found is not None and any(binding.kind == "augmented" for binding in found[1]):
            starts = [binding.value for binding in found[1] if binding.kind != "augmented"]
            if len(starts) == 1 and starts[0] is not None:
                return evaluate(starts[0], found[0])
        return evaluate(node, scope)

    def _failure(self, node: ast.expr, value: Value, *, caught: bool) -> Failure | None:
        judged: list[tuple[Value, Failure | None]] = []
        body = self.body
        for option in options(value):
            own = option.node is not None and inside(option.node, [node])
            set_in_clause = (
                option.node is not None and option.node in body.parents and body.clause_of(option.node) is not None
            )
            table = unpacked(option)
            changed = isinstance(table, Mapping) and not table.complete and self._may_change(node)
            kept = own or set_in_clause or not changed
            failure = self.judge.failure(option, in_clause=caught or (not own and set_in_clause), own=kept)
            if own and failure is not None:
                return failure
            judged.append((option, failure))
        failures = [failure for _, failure in judged if failure is not None]
        # A name that several places set is a failure where a clause set it, or where all of them did.
        set_by_clause = any(
            failure is not None and option.node in body.parents and body.clause_of(option.node) is not None
            for option, failure in judged
            if option.node is not None
        )
        return failures[0] if failures and (len(failures) == len(judged) or set_by_clause) else None

    def _may_change(self, node: ast.expr) -> bool:
        """Whether what a table says of a failure may change between its display and an answer."""
        if not isinstance(node, ast.Name):
            return True
        keys = (key for _, key, _ in _changes(self.body.nodes, node.id, self.body))
        return any(key is None or plain(key) in TELLING for key in keys)

    def _certain(self, node: ast.expr) -> Iterator[str]:
        """The expressions that tests round an answer say are something."""
        for above in self.body.above(node):
            if isinstance(above, ast.If) and inside(node, above.body):
                yield from _something(above.test)

    # -- results of other functions ----------------------------------------------------------------------------------

    def _handed_on(
        self, node: ast.expr, scope: Scope, *, caught: bool, seen: tuple[str, ...] = ()
    ) -> Iterator[tuple[Place, str, bool]]:
        """The failures of the functions whose result an answer is: where each is built, and what shows it."""
        name = node.id if isinstance(node, ast.Name) else ""
        # `answer = with_time(answer)` is made of itself.
        if self.deep + len(seen) >= _DEEP or (name and name in seen):
            return
        for call, item in self._calls(node, scope):
            in_clause = caught or (call in self.body.parents and self.body.clause_of(call) is not None)
            for function, module in self._functions(call, scope):
                yield from _failures_of(function, module, self, item=item, caught=in_clause)
                for argument in _returned_arguments(call, function, module, self.ctx):
                    yield from self._handed_on(_core(argument, scope), scope, caught=in_clause, seen=(*seen, name))

    def _calls(self, node: ast.expr, scope: Scope) -> Iterator[tuple[ast.Call, int | None]]:
        """The calls of which an expression is the result, or an item of it."""
        if isinstance(node, ast.Call):
            yield node, None
            return
        found = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(node, ast.Name) or found is None or found[0] is not scope or is_checked(node, self.body):
            return
        for binding in found[1]:
            statement = binding.node
            source = statement.value if isinstance(statement, (ast.Assign, ast.NamedExpr)) else binding.value
            item = _item_of(node.id, statement)
            if source is None or item is None:
                continue
            core = _core(source, scope)
            if isinstance(core, ast.Call):
                yield core, None if item < 0 else item

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
            [callee.definition] if isinstance(callee, Symbol) else self.ctx.called(self.function, call)
        )
        for function in functions[:_MANY]:
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function is self.function.node:
                continue
            module = self.ctx.project.module_defining(function)
            # A tool that hands on what another tool answers: the failure is that one's.
            if module is not None and not self.ctx.is_handler(function, module):
                yield function, module

    # -- answers that a clause changes -------------------------------------------------------------------------------

    def changed_in_clauses(self) -> Iterator[Returned]:
        """The failures that `except` clauses put into an answer: `result["error"] = str(e)`, `result.update(...)`."""
        answers = {
            core.id
            for site in self.function.returns
            if site.node.value is not None and isinstance(core := _core(site.node.value, site.scope), ast.Name)
        }
        if not answers:
            return
        tries = sum(1 for _ in self.body.all(ast.Try))
        for catch in self.function.catches:
            clause = catch.node
            if not isinstance(clause, ast.ExceptHandler) or catch.function is not self.function.node:
                continue
            if isinstance(clause.body[-1], ast.Raise):
                continue
            for name in sorted(answers):
                changes = [
                    (statement, key, value)
                    for statement, key, value in _changes(walk_shallow([*clause.body]), name, self.body)
                    if key is not None and value is not None
                ]
                shape = self.judge.pairs([(key, value) for _, key, value in changes], in_clause=True)
                if shape is None:
                    continue
                # A function that tries several things one by one may report which of them is missing.
                only_an_error = not any(plain(key) in TELLING - ERROR_KEYS for _, key, _ in changes)
                if tries == 1 or not only_an_error:
                    yield Returned(Failure(shape), changes[0][0], caught=True)


def _failures_of(
    function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, reader: _Reader, *, item: int | None, caught: bool
) -> list[tuple[Place, str, bool]]:
    """The failures that a function of the project returns; found once for all that call it."""
    contract_tool = reader.judge.contract_tool
    # What is found depends on how many functions are still followed, and must not depend on which caller asks first.
    key = ("returned failures", function, item, caught, contract_tool, reader.deep)
    if key not in module.memo:
        module.memo[key] = []
        model = HandlerBuilder.of(function, module, reader.ctx.hierarchy).model
        if not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)):
            matches = returned_failures(
                model, reader.ctx, contract_tool=contract_tool, _deep=reader.deep + 1, _item=item, _caught=caught
            )
            module.memo[key] = [
                (match.failure.place or Place(match.node, module, function), match.failure.shape, match.caught)
                for match in matches
            ]
    failures: list[tuple[Place, str, bool]] = module.memo[key]
    return failures


def _returned_arguments(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, ctx: RuleContext
) -> Iterator[ast.expr]:
    """The arguments of a call that the function returns as they are, perhaps with a key more: `with_time(answer)`."""
    key = ("returned parameters", function)
    if key not in module.memo:
        body = body_of(HandlerBuilder.of(function, module, ctx.hierarchy).model)
        names = {argument.arg for argument in all_parameters(function.args)}
        module.memo[key] = {
            core.id
            for site in HandlerBuilder.of(function, module, ctx.hierarchy).model.returns
            if site.node.value is not None
            and isinstance(core := _core(site.node.value, site.scope), ast.Name)
            and core.id in names
            and not is_checked(core, body)
        }
    returned: set[str] = module.memo[key]
    if returned:
        given = arguments_of(function, call, bound_first=module.scope_of(function).owner is not None)
        yield from (argument for name, argument in given.items() if name in returned)


def _core(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression inside an `await`, `json.dumps`, a list of one text, or in front of appended text."""
    for _ in range(8):
        if isinstance(node, ast.Await):
            node = node.value
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node = node.left
        elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.FormattedValue):
            node = node.values[0].value
        elif isinstance(node, ast.List) and len(node.elts) == 1:
            node = node.elts[0]
        elif isinstance(node, ast.Dict) and node.keys.count(None) == 1:
            # `{**answer, "asked": a}`
            node = node.values[node.keys.index(None)]
        elif isinstance(node, ast.Call):
            inner = _inner(node, scope)
            if inner is None:
                break
            node = inner
        else:
            break
    return node


def _inner(call: ast.Call, scope: Scope) -> ast.expr | None:
    """The expression that a call only converts, such as the argument of `json.dumps`; None for any other call."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _DUMPING and not call.args:
        return call.func.value
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    callee = evaluate(call.func, scope)
    name = callee.name if isinstance(callee, Symbol) else ""
    if name in _DUMPS | _WAITS and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "join" and len(call.args) == 1:
        return call.args[0].elts[0] if isinstance(call.args[0], ast.List) and call.args[0].elts else None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "mcp.TextContent":
        return keywords.get("text")
    if name in CALL_RESULTS and keywords.keys().isdisjoint({"is_error", "isError"}):
        return next((keywords[key] for key in CONTENTS if key in keywords), None)
    return None


def _item_of(name: str, statement: ast.AST) -> int | None:
    """Which item of what is assigned a name gets; -1 for the whole, None where that cannot be seen."""
    if isinstance(statement, (ast.NamedExpr, ast.AnnAssign)):
        return -1
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        return -1
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    names = [
        part.id if isinstance(part, ast.Name) else "*" if isinstance(part, ast.Starred) else "" for part in target.elts
    ]
    return names.index(name) if name in names and "*" not in names else None


def _changes(nodes: Iterable[ast.AST], name: str, body: Body) -> Iterator[tuple[ast.stmt, str | None, Value | None]]:
    """What statements set in a table or a model of some name: the statement, the key (None if unknown), the value."""
    for statement in nodes:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if not isinstance(target, (ast.Subscript, ast.Attribute)) or getattr(target.value, "id", None) != name:
                    continue
                if isinstance(target, ast.Attribute):
                    key: str | None = target.attr
                else:
                    key = string(body.value(target.slice))
                yield statement, key, body.value(statement.value)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if not isinstance(call.func, ast.Attribute) or getattr(call.func.value, "id", None) != name:
                continue
            if call.func.attr == "setdefault" and len(call.args) == 2:
                yield statement, string(body.value(call.args[0])), body.value(call.args[1])
            if call.func.attr != "update":
                continue
            for keyword in call.keywords:
                yield statement, keyword.arg, body.value(keyword.value)
            for table in map(body.value, call.args):
                if not isinstance(table, Mapping) or not table.complete:
                    yield statement, None, None
                for key_value, value in table.items if isinstance(table, Mapping) else ():
                    yield statement, string(key_value), value
        elif isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", None) == name:
            yield statement, None, None


def _something(test: ast.expr) -> Iterator[str]:
    """The expressions that are neither None nor empty where a test holds, as text."""
    match test:
        case ast.Compare(left=left, ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
            yield from _something(left)
        case ast.BoolOp(op=ast.And()):
            for part in test.values:
                yield from _something(part)
        case (
            ast.NamedExpr(target=ast.Name(id=name))
            | ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), *_])
        ):
            yield name
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            yield spelling(test)


def _either_way(node: ast.expr, value: Value, body: Body) -> bool:
    """Whether an answer says "unable to fetch it, or nothing was found" after an empty result.

    What was asked for is at hand there, and what it holds is looked at: `rows = data.get("rows"); if not rows: ...`.
    """
    if _EITHER.match(text_start(value) or "") is None:
        return False
    test = next((above.test for above in body.above(node) if isinstance(above, ast.If)), None)
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name)):
        return False
    found = body.scope(node).lookup(test.operand.id)
    return found is not None and all(
        isinstance(binding.value, (ast.Subscript, ast.ListComp))
        or (
            isinstance(binding.value, ast.Call)
            and isinstance(binding.value.func, ast.Attribute)
            and binding.value.func.attr == "get"
            and isinstance(binding.value.func.value, ast.Name)
        )
        for binding in found[1]
    )


def _tells_nothing(node: ast.expr, scope: Scope) -> bool:
    """Whether an answer is a table or a model without a key that shows a failure: its values need not be evaluated."""
    if isinstance(node, ast.Dict):
        return all(isinstance(key, ast.Constant) and plain(str(key.value)) not in SHOWING_KEYS for key in node.keys)
    if not isinstance(node, ast.Call) or not node.keywords:
        return False
    if any(keyword.arg is None or plain(keyword.arg) in SHOWING_KEYS for keyword in node.keywords):
        return False
    model = evaluate(node.func, scope)
    info = class_info(model) if isinstance(model, Symbol) else None
    return info is not None and not may_fail(info)
