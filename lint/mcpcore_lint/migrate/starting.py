"""The programs of a project that start a server over stdio, and do nothing else when they are started like that."""

import ast
import os
from collections.abc import Sequence
from typing import Final

from mcpcore_lint.engine.semantics.endings import never_passed
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.semantics.type_model import Function
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk_shallow
from mcpcore_lint.migrate.body import classes_of, only_logs, scope_around
from mcpcore_lint.migrate.options import READING, Site, kind_of, makers_of
from mcpcore_lint.migrate.renames import GONE

_SERVERS: Final = frozenset({*GONE, "mcp.MCPServer"})
_STDIO: Final = "mcp.server.stdio.stdio_server"
_STARTS, _IDLE, _OTHER = "starts", "idle", "other"
"""Code starts a server, does nothing, or may do something else: without its arguments, a program could delete files."""


class Starting:
    """Finds the programs. A command line with other commands, too, does not count."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, str] = {}

    def by_function(self, module: Module, name: str) -> bool:
        """Whether a call of a function of a file starts a server."""
        return self._outcome(ast.parse(f"{name}()").body, _IDLE, module) == _STARTS

    def by_file(self, module: Module) -> bool:
        """Whether a file starts a server if it is run as a program."""
        guards = [
            part for part in module.tree.body if isinstance(part, ast.If) and "__main__" in ast.unparse(part.test)
        ]
        body = (
            module.tree.body
            if os.path.basename(module.path) == "__main__.py"
            else [part for guard in guards for part in guard.body]
        )
        return self._outcome(body, _IDLE, module) == _STARTS

    def _outcome(self, body: Sequence[ast.stmt], after: str, module: Module) -> str:
        """The outcome of some statements: `_STARTS` only if no way through them does something else.

        Args:
            body: The statements.
            after: The outcome of the code behind them.
            module: Their file.
        """
        # Backwards, as the outcome of a branch depends on the code behind it.
        for statement in reversed(body):
            heads: list[ast.AST]
            blocks: list[list[ast.stmt]]
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    continue
                case ast.If(test=head):
                    heads, blocks = [head], [statement.body, statement.orelse]
                case ast.Match(subject=head, cases=cases):
                    heads, blocks = [head], [*(case.body for case in cases), []]
                case ast.With(items=items) | ast.AsyncWith(items=items):
                    heads, blocks = [item.context_expr for item in items], [statement.body]
                case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.While(test=head):
                    heads, blocks = [head], [statement.body]
                case ast.Try(handlers=handlers):
                    # That clause runs when somebody ends the program, whatever the program does.
                    clauses = [clause for clause in handlers if ast.unparse(clause)[7:24] != "KeyboardInterrupt"]
                    heads, blocks = [], [[*statement.body, *statement.orelse, *statement.finalbody]]
                    blocks += [clause.body for clause in clauses]
                case _:
                    heads, blocks = [statement], []
            exits = isinstance(statement, ast.Raise) or never_passed(statement, scope_around(statement, module))
            after = _IDLE if exits or isinstance(statement, ast.Return) else after
            outcomes = {self._outcome(block, after, module) for block in blocks} or {after}
            after = next(outcome for outcome in (_OTHER, _STARTS, _IDLE) if outcome in outcomes)
            nodes = walk_shallow(heads)
            branches = [part for part in nodes if isinstance(part, (ast.IfExp, ast.BoolOp))]
            perhaps = {*walk_shallow([*branches])}
            calls = {part: self._does(part, module) for part in nodes if isinstance(part, ast.Call)}
            first = next(iter(calls), None)
            if exits and first is not None and calls[first] == _OTHER and not self._functions(first, module):
                calls[first] = _IDLE  # sys.exit(), or the exception
            if any(outcome == _STARTS for call, outcome in calls.items() if call not in perhaps):
                after = _STARTS
            elif after == _IDLE and {*calls.values()} - {_IDLE} and not only_logs(statement):
                after = _OTHER
        return after

    def _does(self, call: ast.Call, module: Module) -> str:
        """The outcome of a call; `_OTHER` if it is not known."""
        func, scope = call.func, scope_around(call, module)
        if isinstance(func, ast.Attribute) and func.attr in {"run", "run_async", "run_stdio_async"}:
            makers = frozenset(makers_of(func.value, scope, module))
            kinds = {kind_of(evaluate(maker.func, scope))[0] for maker, _ in makers if isinstance(maker, ast.Call)}
            if _SERVERS & (kinds | classes_of(func.value, scope)):
                over = "" if func.attr == "run_stdio_async" else Site(module, call, func.value, makers).transport
                return _STARTS if over in {"", "stdio"} else _IDLE
        if getattr(evaluate(func, scope), "name", "") == _STDIO:
            return _STARTS
        if ast.unparse(func) in READING:
            return _IDLE
        functions = self._functions(call, module)
        for function in functions:
            if function.node not in self._known:
                self._known[function.node] = _OTHER  # while it is looked at
                function.module.complete()
                body = function.node.body if isinstance(function.node.body, list) else [ast.Expr(function.node.body)]
                self._known[function.node] = self._outcome(body, _IDLE, function.module)
        return next((self._known[function.node] for function in functions), _OTHER)

    def _functions(self, call: ast.Call, module: Module) -> list[Function]:
        """The functions of the project that are called, also by `anyio.run(main)`."""
        runs = isinstance(call.func, ast.Attribute) and call.func.attr == "run"
        scope = scope_around(call, module)
        kinds = [Inference(class_round(scope)).of(part, scope) for part in (call.func, *call.args * runs)]
        return [kind for part in kinds for kind in part if isinstance(kind, Function)]
