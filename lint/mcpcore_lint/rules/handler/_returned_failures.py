"""The failures that a function returns: those that it builds, and those of the functions whose results it returns."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.registrations.callers import methods_passed
from mcpcore_lint.engine.registrations.environment import (
    arguments_of,
    assignments_of,
    functions_called,
    method_called,
    takes,
    values_of,
)
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.semantics.type_model import ancestry, class_named
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, alternatives, mentions, own_nodes, returned, walk, walk_shallow
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Const, FunctionNode, Handler, Symbol, Value, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, inside, parts_of
from mcpcore_lint.rules.handler._changes import fields_set
from mcpcore_lint.rules.handler._conversions import converted_by, core_of
from mcpcore_lint.rules.handler._failures import (
    ERROR_KEYS,
    MARKING_KEYS,
    RELEVANT_KEYS,
    Failure,
    FailureDetector,
    Place,
    may_change,
    normalized,
)
from mcpcore_lint.rules.handler._imports import lacks_required
from mcpcore_lint.rules.handler._passed import (
    TRUE,
    Settings,
    constants,
    entries_passed,
    evaluate_with,
    holds,
    settings_of,
)
from mcpcore_lint.rules.handler._quoted import quoted_by
from mcpcore_lint.rules.handler._raises import is_idle, only_truth
from mcpcore_lint.rules.handler._to_client import is_judged, is_kept, looks_for_failure

_LOOKS: Final = frozenset({"isinstance", "issubclass", "type", "hasattr", "callable"})
"""Functions that tell exceptions from results."""
_COLLECTED: Final = "the exceptions that gather(return_exceptions=True) collects"
_TESTS: Final[tuple[type[ast.If | ast.IfExp | ast.While | ast.Assert], ...]] = (
    ast.If,
    ast.IfExp,
    ast.While,
    ast.Assert,
)
_MAX_DEPTH: Final = 6
"""How many functions that return the result of another one are followed."""
_MAX_FUNCTIONS: Final = 64
"""How many functions that one call may run are followed."""


_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FAILURE: Final = regex(r"error|fail", re.IGNORECASE)
_NEGATION: Final = regex(r"\bnot\b(?! None)|is None|False")
"""With `_FAILURE`, tells a test that holds for failures, `not answer["ok"]`, from one that holds for results."""


Flags = tuple[tuple[int, bool], ...]
"""Items of a returned tuple, each with whether it is true where the caller returns another item."""


class Returned(NamedTuple):
    """A failure that a function returns."""

    failure: Failure
    node: ast.expr | ast.stmt
    """The returned value, or the statement that makes it a failure."""
    caught: bool
    """Whether an `except` clause returns it."""


def returned_failures(function: Handler, ctx: RuleContext, *, contract_tool: bool) -> list[Returned]:
    """The failures that a handler returns, in source order. `contract_tool` says whether it is a tool of mcpcore."""
    return _AnswerReader(function, ctx, contract_tool=contract_tool, depth=0).failures()


class _AnswerReader:
    """Reads the answers of one function; `depth` counts the functions that return its result."""

    def __init__(
        self, function: Handler, ctx: RuleContext, *, contract_tool: bool, depth: int, settings: Settings = ()
    ) -> None:
        self._function = function
        self._body = body_of(function)
        self._ctx = ctx
        self._contract_tool = contract_tool
        self._depth = depth
        # Other code, such as a nested function, may give a value to a name that is global or nonlocal somewhere.
        kinds: tuple[type[ast.Global | ast.Nonlocal], ...] = (ast.Global, ast.Nonlocal) if settings else ()
        shared = {name for kind in kinds for part in self._body.all(kind) for name in part.names}
        settings = tuple(setting for setting in settings if setting[0] not in shared)
        self._settings = dict(settings)
        names = function.module.scope_of(function.node).bindings if settings else {}
        self._settings |= {
            name: TRUE if verdict else False
            for name, bindings in names.items()
            if name not in shared and [at.kind for at in bindings] == ["assign"] and bindings[0].value is not None
            if (verdict := holds(bindings[0].value, self._settings)) is not None
        }
        self._arguments = constants(settings, function)
        self._detector = FailureDetector(function, ctx, contract_tool=contract_tool)

    def failures(self, *, item: int | None = None, flags: Flags = (), caught: bool = False) -> list[Returned]:
        """The failures that the function returns, in source order.

        Args:
            item: The item that counts, if the function returns tuples.
            flags: What the caller knows of other items of the tuple.
            caught: Whether an `except` clause calls the function, so that its result is about a failure.
        """
        matches = [*self.changed_in_clauses(), *(self._gathered() if item is None else ())]
        for site in self._function.returns:
            value = site.node.value if site.node not in self._body.unreachable else None
            if isinstance(value, ast.Tuple) and any(
                isinstance(known, Const) and bool(known.value) is not truth
                for known, truth in (
                    (self._evaluate(value.elts[at], site.scope), truth) for at, truth in flags if at < len(value.elts)
                )
            ):
                continue
            if item is not None and isinstance(value, ast.Tuple):
                value = value.elts[item] if item < len(value.elts) else None
            if value is None or not self._runs(site.node) or _cannot_fail(value, site.scope):
                continue
            answers = [*self._answer(value, site.scope, caught=caught or site.catch is not None)]
            if answers and not is_idle(site.catch, self._function, self._ctx):
                matches += [] if self._needs_other_result(site.node) else answers
        return sorted(dict.fromkeys(matches), key=lambda match: (match.node.lineno, match.node.col_offset))

    def _answer(self, node: ast.expr, scope: Scope, *, caught: bool) -> Iterator[Returned]:
        """The failures that one answer is."""
        failure = self._failure(node, self._evaluate(node, scope), caught=caught)
        core = core_of(node, scope)
        if failure is None and core is not node:
            failure = self._failure(core, self._evaluate(core, scope), caught=caught)
        parts = alternatives(core) if isinstance(core, ast.IfExp) else [core]
        quoted = (quoted_by(part, self._body) for part in parts if part in self._body.parents)
        if failure is None and (name := next(filter(None, quoted), None)) is not None:
            failure = Failure.quoted(name)
        if failure is not None:
            yield Returned(failure, node, caught)
            return
        for match in self._passed_on(core, scope, caught=caught):
            yield match._replace(node=node, caught=caught or match.caught)

    def _failure(self, node: ast.expr, value: Value, *, caught: bool) -> Failure | None:
        failures: list[Failure | None] = []
        core = core_of(node, self._body.scope(node))
        for option in options(value):
            if option.node is not None and not self._runs(option.node):
                continue
            own = option.node is not None and inside(option.node, [node]) and not isinstance(core, ast.Name)
            in_clause = option.node in self._body.parents and self._body.clause_of(option.node) is not None
            known = own or in_clause or not may_change(core, self._body, self._arguments)
            failure = self._detector.failure(option, in_clause=caught or in_clause, own=known)
            if failure is not None and (own or in_clause):
                return failure
            failures.append(failure)
        # A name with several values is a failure if all of its values are.
        return failures[0] if failures and all(failures) else None

    def _evaluate(self, node: ast.expr, scope: Scope) -> Value:
        return evaluate_with(self._arguments, node, scope)

    def _runs(self, node: ast.AST, settings: dict[str, bool | str | None] | None = None) -> bool:
        """Whether a node of the function may run with the settings of the call, or with other values of names."""
        known = self._settings if settings is None else settings
        return not known or all(holds(test, known) in {None, truth} for test, truth in self._body.tests(node))

    def _needs_other_result(self, node: ast.AST) -> bool:
        """Whether a node needs a result that a function never returns: `if not connect()` of one that returns True."""
        needed = (part for test, holds in self._body.tests(node) for part in parts_of(test, holds=holds))
        scope = self._body.scope(node)
        return any(
            self._never_returns(part, truth=truth) or lacks_required(part, scope, holds=truth) for part, truth in needed
        )

    def _never_returns(self, node: ast.expr, *, truth: bool) -> bool:
        """Whether the functions that an expression calls return nothing but constants of the other truth."""
        call = node.value if isinstance(node, ast.Await) else node
        called = self._ctx.called(self._function, call) if isinstance(call, ast.Call) else ()
        return bool(called) and all(
            isinstance(function, ast.AsyncFunctionDef) is isinstance(node, ast.Await)
            and only_truth(function, self._ctx) is (not truth)
            for function in called
        )

    def changed_in_clauses(self, *, describes: bool = False) -> Iterator[Returned]:
        """The failures that `except` clauses put into an answer: `result["status"] = "error"`.

        A function that `describes` the exception it gets does so as a clause does.
        """
        function = self._function.node
        blocks = (
            [[*getattr(function, "body", ())]] if describes else [[*catch.body] for catch in self._function.catches]
        )
        returns = self._function.returns if blocks else ()
        cores = [core_of(site.node.value, site.scope) for site in returns if site.node.value is not None]
        answers = {core.id for core in cores if isinstance(core, ast.Name)}
        is_only = describes or sum(1 for _ in self._body.all(ast.Try)) == 1
        for block in blocks if answers else ():
            for name in sorted(answers) if describes or not self._body.raises(block) else ():
                changes = [*fields_set(walk_shallow([*block]), name, self._body)]
                fields = [(key, value) for _, key, value in changes if key is not None]
                shape = self._detector.shape_of_fields(fields, in_clause=True)
                # A function that tries several things may report which of them is missing.
                marks = any(normalized(key) in MARKING_KEYS - ERROR_KEYS for key, _ in fields)
                if shape is not None and (is_only or marks):
                    place = (
                        Place(changes[0][0], self._function.module, function)
                        if describes and isinstance(function, FUNCTIONS)
                        else None
                    )
                    yield Returned(Failure(shape, place), changes[0][0], caught=True)

    def _gathered(self) -> Iterator[Returned]:
        """The exceptions that `gather(return_exceptions=True)` collects, returned without a look at them."""
        is_used = self._body.module.source.has("return_exceptions")
        calls = [call for call in self._body.all(ast.Call) if is_used and _collects(call)]
        looks = calls and any(last_name(call.func) in _LOOKS for call in self._body.all(ast.Call))
        for call in calls if not looks and not any(self._body.all(ast.match_case)) else ():
            holders = {
                target.id
                for assignment in self._body.all(ast.Assign)
                if core_of(assignment.value, self._body.scope(call)) is call
                for target in assignment.targets
                if isinstance(target, ast.Name)
            }
            if self._may_raise(call) and not is_judged(self._function, call, self._ctx):
                for site in self._function.returns:
                    if site.node.value is not None and _is_made_of(site.node.value, call, holders, site.scope):
                        yield Returned(Failure(_COLLECTED), site.node.value, caught=False)

    def _may_raise(self, gather: ast.Call) -> bool:
        """Whether no function that a call of `gather` runs is known to catch every exception itself."""
        inner = [part for argument in gather.args for part in walk([argument]) if isinstance(part, ast.Call)]
        models = (model for call in inner for model in self._models(call, self._body.scope(call)))
        return not any(catch.broad for model in models for catch in model.catches)

    # Results of other functions

    def returned_calls(self) -> Iterator[tuple[Handler, ast.Return]]:
        """The functions of the project whose result the function returns as it is, each with the `return`.

        A result that the function looks at first does not count: its caller decides what an empty one means.
        """
        tests = [node.test for kind in _TESTS for node in self._body.all(kind)]
        for site in self._function.returns:
            core = site.node.value if site.node not in self._body.unreachable else None
            # A call that only converts its first argument, or runs it in a thread, takes an empty one, too.
            while isinstance(core, ast.Await) or (isinstance(core, ast.Call) and core.args):
                inner = core.value if isinstance(core, ast.Await) else converted_by(core, site.scope)
                if inner is None:
                    break
                core = inner
            # `{"rows": rows, "count": len(rows)}` says no more than the rows do.
            parts = core.values if isinstance(core, ast.Dict) and _only_names(core) else [core]
            seen = [
                part
                for part in parts
                if part is not None
                and not (isinstance(part, ast.Name) and any(mentions(test, part.id) for test in tests))
            ]
            calls = [call for part in seen for call, item, _ in self._calls(part, site.scope) if item is None]
            for model in self._models(calls[0], site.scope) if len(calls) == 1 else ():
                if is_kept(model, self._ctx) and not yields(model.node):
                    yield model, site.node

    def _passed_on(self, node: ast.expr, scope: Scope, *, caught: bool) -> Iterator[Returned]:
        """The failures of the functions whose result an answer is."""
        if self._depth >= _MAX_DEPTH:
            return
        for call, item, flags in self._calls(node, scope):
            in_clause = caught or (call in self._body.parents and self._body.clause_of(call) is not None)
            names = {name for name, value in self._settings.items() if value is TRUE}
            names |= self._body.true_names(call)
            true = {name: Const(call, scope.module, TRUE) for name in names}
            args = [true.get(getattr(arg, "id", "")) or self._evaluate(arg, scope) for arg in call.args]
            keywords = {
                keyword.arg or "": true.get(getattr(keyword.value, "id", "")) or self._evaluate(keyword.value, scope)
                for keyword in call.keywords
            }
            if (more := self._unpacked(call)) is not None and "" in keywords:
                keywords |= dict.fromkeys(more, keywords.pop(""))
            complete = "" not in keywords and not any(isinstance(arg, ast.Starred) for arg in call.args)
            for model in self._models(call, scope):
                function = Symbol(call.func, scope.module, model.name, model.node)
                made = CallValue(call, scope.module, function, (*args,), (*keywords.items(),), complete)
                failure = self._detector.failure(made, in_clause=in_clause) if is_kept(model, self._ctx) else None
                if failure is not None:
                    yield Returned(failure, call, in_clause)
                    continue
                direct = complete and last_name(call.func) == model.name
                failures = failures_of(
                    model,
                    self._ctx,
                    contract_tool=self._contract_tool,
                    item=item,
                    flags=flags,
                    caught=in_clause,
                    depth=self._depth + 1,
                    settings=(
                        *settings_of(model, args, keywords, complete=direct),
                        *entries_passed(call, model, names, self._body),
                    ),
                )
                describes = in_clause and not failures and self._detector.tells_exception(call)
                reader = _AnswerReader(model, self._ctx, contract_tool=self._contract_tool, depth=self._depth + 1)
                yield from reader.changed_in_clauses(describes=True) if describes else failures

    def _calls(self, node: ast.expr, scope: Scope) -> Iterator[tuple[ast.Call, int | None, Flags]]:
        """The calls whose result an expression is, or an item of whose result; what is known of the other items."""
        if isinstance(node, ast.Call):
            yield node, None, ()
        match = scope.lookup_at(node) if isinstance(node, ast.Name) else None
        if not isinstance(node, ast.Name) or match is None or match[0] is not scope or _is_checked(node, self._body):
            return
        for binding in match[1]:
            value, item, names = _assigned(node.id, binding.node)
            core = core_of(value, scope) if value is not None else None
            origin = core if value is None or core in self._body.parents else value
            if isinstance(core, ast.Name) and core is not value and core.id != node.id and item is None:
                yield from self._calls(core, scope)  # `text = json.dumps(result)`
            if isinstance(core, ast.Call) and origin and not is_judged(self._function, origin, self._ctx, answer=node):
                flags = [(at, truth) for at, name in enumerate(names) for truth in (True, False) if at != item and name]
                yield (
                    core,
                    item,
                    tuple((at, truth) for at, truth in flags if not self._runs(node, {names[at]: not truth})),
                )

    def _models(self, call: ast.Call, scope: Scope) -> Iterator[Handler]:
        """The functions of the project that a call may run: several if a table or a subclass decides."""
        callee = evaluate(call.func, scope)
        known: Sequence[ast.AST | None] = (
            [callee.definition] if isinstance(callee, Symbol) else self._ctx.called(self._function, call)
        )
        known = known or [*dict.fromkeys(methods_passed(call.func, scope))]
        # A table may have the function: `TABLE[action](arguments)`.
        others = (called.function for called in functions_called(call.func, scope))
        for function in (known or [_definition(call.func, scope), *others])[:_MAX_FUNCTIONS]:
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function is self._function.node:
                continue
            module = self._ctx.project.module_defining(function)
            # If the function is a tool as well, the failure is reported there.
            if (
                module is not None
                and not self._ctx.is_handler(function, module)
                and self._enters(function, module, call, scope)
            ):
                yield HandlerBuilder.of(function, module, self._ctx.hierarchy).model
                yield from self._run_by(function, module, call, scope)

    def _enters(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, call: ast.Call, scope: Scope
    ) -> bool:
        """Whether a call may run a function: it passes arguments that the function takes, as far as is known."""
        more = self._unpacked(call)
        is_method = module.scope_of(function).owner is not None
        # A method that is called on its class gets the object, too. A call that is made up lacks arguments.
        if call not in self._body.parents or any(
            takes(function, call, bound_first=bound_first, more=more) for bound_first in {is_method, False}
        ):
            return True
        places = [(call.func, scope), *assignments_of(call.func, scope)]
        places += [value for place in places for value in values_of(*place)]
        # The function of a partial gets more arguments than those of the call.
        is_named = is_method and last_name(call.func) == function.name
        return not is_named and all(getattr(evaluate(*at), "definition", None) is not function for at in places)

    def _unpacked(self, call: ast.Call) -> set[str] | None:
        """The keywords that a call passes with `**kwargs`; None if they are not known, or change."""
        names = [getattr(keyword.value, "id", "") for keyword in call.keywords if keyword.arg is None]
        if any(f"**{name}" not in self._settings for name in names):
            return None
        return {key for name in names for key in str(self._settings[f"**{name}"]).split()}

    def _run_by(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, call: ast.Call, scope: Scope
    ) -> Iterator[Handler]:
        """The functions that a function gets and runs, with the same result: `return await to_thread(run)`."""
        inside = module.scope_of(function)
        bound_first = inside.owner is not None and isinstance(call.func, ast.Attribute)
        arguments = arguments_of(function, call, bound_first=bound_first)
        for core in (core_of(value, inside) for value in returned(function)):
            run = arguments.get(getattr(core.func, "id", "")) if isinstance(core, ast.Call) else None
            if isinstance(run, ast.Lambda) and isinstance(run.body, ast.Call):
                yield from self._models(run.body, scope)
            inner = _definition(run, scope) if run is not None else None
            owner = self._ctx.project.module_defining(inner) if isinstance(inner, FUNCTIONS) else None
            if owner is not None and isinstance(inner, FUNCTIONS) and inner is not self._function.node:
                yield HandlerBuilder.of(inner, owner, self._ctx.hierarchy).model


def _definition(node: ast.expr, scope: Scope) -> ast.AST | None:
    """The function or the class of the project that an expression is."""
    symbol = evaluate(node, scope)
    if isinstance(symbol, Symbol):
        return symbol.definition
    method = method_called(node, scope) if isinstance(node, ast.Attribute) else None
    return method[0] if method is not None else None


def failures_of(
    function: Handler,
    ctx: RuleContext,
    *,
    contract_tool: bool,
    item: int | None = None,
    flags: Flags = (),
    caught: bool = False,
    depth: int = 0,
    settings: Settings = (),
) -> list[Returned]:
    """The failures that a function of the project returns, with their places; computed once for all its callers."""
    node, module = function.node, function.module
    # The result depends on the depth, so the depth is part of the key: callers must not depend on their order.
    key = ("returned failures", node, item, flags, caught, contract_tool, depth, settings)
    if key not in module.memo:
        module.memo[key] = []
        if not isinstance(node, ast.Lambda) and not yields(node) and is_kept(function, ctx):
            reader = _AnswerReader(function, ctx, contract_tool=contract_tool, depth=depth, settings=settings)
            for match in reader.failures(item=item, flags=flags, caught=caught):
                place = match.failure.place or Place(match.node, module, node)
                module.memo[key].append(match._replace(failure=match.failure._replace(place=place)))
    failures: list[Returned] = module.memo[key]
    return failures


def helpers_of(handler: Handler, ctx: RuleContext) -> list[tuple[Handler, ast.Return]]:
    """The functions of the project whose result a handler returns as it is, each once, with the `return`."""

    def helpers() -> list[tuple[Handler, ast.Return]]:
        reader = _AnswerReader(handler, ctx, contract_tool=False, depth=0)
        return [*{model.node: (model, node) for model, node in reader.returned_calls()}.values()]

    return handler.module.once(("helpers", handler.node), helpers)


def yields(function: FunctionNode) -> bool:
    """Whether a function is a generator, whose `return` answers nothing."""
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function))


def _only_names(answer: ast.Dict) -> bool:
    """Whether an answer consists of names and their lengths, and no field of it can say why one is empty."""
    keys = [
        normalized(key.value) for key in answer.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
    return (
        len(keys) == len(answer.keys)
        and RELEVANT_KEYS.isdisjoint(keys)
        and all(isinstance(value, ast.Name) or ast.unparse(value).startswith("len(") for value in answer.values)
    )


def _collects(call: ast.Call) -> bool:
    """Whether a call is `gather(..., return_exceptions=True)`."""
    return last_name(call.func) == "gather" and any(
        keyword.arg == "return_exceptions" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in call.keywords
    )


def _is_made_of(node: ast.expr, call: ast.Call, holders: set[str], scope: Scope) -> bool:
    """Whether an answer consists of the result of a call, in whatever form, which some names hold."""
    core = core_of(node, scope)
    match core:
        case ast.Name(id=name):
            return name in holders
        case ast.Call(func=ast.Name(id="list" | "tuple" | "dict" | "zip" | "str")):
            return any(_is_made_of(argument, call, holders, scope) for argument in core.args)
        case ast.Dict(values=values):
            return any(_is_made_of(value, call, holders, scope) for value in values)
        case (
            ast.ListComp(elt=item, generators=[ast.comprehension(iter=source, ifs=[])])
            | ast.DictComp(value=item, generators=[ast.comprehension(iter=source, ifs=[])])
        ):
            is_kept = isinstance(item, ast.Name) or (isinstance(item, ast.Call) and last_name(item.func) == "str")
            return is_kept and _is_made_of(source, call, holders, scope)
    return core is call


def _assigned(name: str, statement: ast.AST) -> tuple[ast.expr | None, int | None, list[str]]:
    """The value that a name gets from an assignment; its index and the names of all items if it gets one of several."""
    match statement:
        case ast.Assign(targets=[ast.Name()]) | ast.NamedExpr() | ast.AnnAssign():
            return statement.value, None, []
        case ast.Assign(targets=[ast.Tuple(elts=items) | ast.List(elts=items)]):
            names = [getattr(item, "id", "") for item in items]
            if name in names and ast.Starred not in map(type, items):
                return statement.value, names.index(name), names
    return None, None, []


def _is_checked(name: ast.Name, body: Body) -> bool:
    """Whether a function looks for a failure in a name before it returns the name."""
    flags = {
        target.id
        for assignment in body.all(ast.Assign)
        if name.id in body.names_in(assignment.value) and looks_for_failure(assignment.value, name.id)
        for target in assignment.targets
        if isinstance(target, ast.Name)
    }
    for node in body.all(ast.If):
        if node.lineno > name.lineno:
            continue  # a test after the answer decides nothing about it
        names = body.names_in(node.test)
        looks = name.id in names and looks_for_failure(node.test, name.id) and not _only_sorts(node, name.id, body)
        if not looks and flags.isdisjoint(names):
            continue
        if inside(name, node.body):
            test = ast.unparse(node.test)
            # A branch that returns the failure that it found checks nothing: `if "error" in answer: return answer`.
            if (_NEGATION.search(test) is None) is (_FAILURE.search(test) is None):
                return True
        elif inside(name, node.orelse) or isinstance(node.body[-1], _LEAVING) or body.raises(node.body):
            return True
    return False


def _only_sorts(node: ast.If, name: str, body: Body) -> bool:
    """Whether a test only tells kinds of answers apart, each of which is passed on: `if isinstance(answer, dict)`."""
    kind = rf"isinstance\({name}, \(?(?:(?:str|bytes|dict|list|tuple|int|float|bool)(?:, )?)+\)+"
    return (
        any(re.fullmatch(kind, ast.unparse(part)) for part, _ in parts_of(node.test, holds=True))
        and not any(
            normalized(str(part.value)) in MARKING_KEYS or _FAILURE.search(str(part.value))
            for part in walk([node.test])
            if isinstance(part, ast.Constant)
        )
        and isinstance(node.body[-1], (ast.Return, ast.Assign))
        and any(name in body.names_in(part) for part in node.body)
    )


def _cannot_fail(node: ast.expr, scope: Scope) -> bool:
    """Whether no key of a mapping or field of a model can show a failure.

    It is not evaluated then, which saves a tenth of the time of a run over tools that return models.
    """
    names: list[str | None] = []
    if isinstance(node, ast.Dict):
        names = [str(key.value) if isinstance(key, ast.Constant) else None for key in node.keys]
    elif isinstance(node, ast.Call) and not node.args:
        info = class_named(node.func, scope)
        if info is not None:
            fields = (name for owner in ancestry(info) for name in owner.attributes)
            names = [*(keyword.arg for keyword in node.keywords), *fields]
    return bool(names) and all(name is not None and normalized(name) not in RELEVANT_KEYS for name in names)
