"""tool-registration-order."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.registrations.calls import Calls
from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Symbol
from mcpcore_lint.rule import Rule, RuleContext

_DECORATORS: Final = {"mcpcore.tool": "tool", "mcpcore.resource": "resource", "mcpcore.prompt": "prompt"}
_STEP: Final = "register it on an mcpcore.Server, with @server.{}(errors=[...]) alone"
_CONTEXTS: Final = {"mcp.Context": "the SDK", "fastmcp.Context": "FastMCP"}


class ToolRegistrationOrder(Rule):
    """A handler is registered in a way in which its contract does not reach the server.

    Summary: decorators in the wrong order, FastMCP's or the SDK's `Context` in a contract tool, `errors=` on
        `@mcp.tool`
    Why: A FastMCP or SDK server knows nothing about contracts. Its decorator takes no `errors=`, and registers whatever
        function is below it. The `Context` of these libraries has no `fail`.
    How to fix: Put the server's decorator above mcpcore's, declare the errors on mcpcore's, and import `Context` from
        mcpcore. In a request, `ctx.fastmcp` and `ctx.sdk` are the other libraries' contexts.
    When to suppress: Never: the module fails at import, or the tool is served without its contract.

    Bad:
        @tool(errors=[...])
        @mcp.tool
        def fetch(ctx: fastmcp.Context, id: str) -> str: ...
    Good:
        @mcp.tool
        @tool(errors=[...])
        def fetch(ctx: mcpcore.Context, id: str) -> str: ...
    """

    severity = Severity.ERROR

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Look at each decorated function of a file that uses mcpcore."""
        if not module.source.has("mcpcore"):
            return
        module.complete()
        for node in list(module.functions):
            if not isinstance(node, ast.Lambda) and node.decorator_list:
                scope = module.scope_of(node)
                self._check(node, scope.parent or scope, ctx)

    def _check(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, ctx: RuleContext) -> None:
        ours: str | None = None
        for decorator in node.decorator_list:
            maker = decorator.func if isinstance(decorator, ast.Call) else decorator
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            errors = next((keyword for keyword in keywords if keyword.arg == "errors"), None)
            value = ctx.resolve(maker, scope)
            noun = _DECORATORS.get(value.name) if isinstance(value, Symbol) else None
            if noun is not None:
                ours = noun
                if errors is not None and not (isinstance(errors.value, ast.List) and not errors.value.elts):
                    _check_context(node, scope, ctx)
                continue
            if not isinstance(maker, ast.Attribute) or maker.attr not in _DECORATORS.values():
                continue
            flavour, _ = Calls(ctx.hierarchy).servers.server(maker.value, scope)
            written = ast.unparse(maker)
            if flavour is None:
                continue
            if ours is not None:
                step = f"put @{written} above @{ours}" if flavour == "fastmcp" else _STEP.format(maker.attr)
                ctx.report(decorator, f"@{written} below @{ours} serves the function without its contract", help=step)
            if errors is not None and flavour in ("fastmcp", "sdk"):
                below = f"declare them below it, with mcpcore's decorator: @{maker.attr}(errors=[...])"
                step = below if flavour == "fastmcp" else _STEP.format(maker.attr)
                ctx.report(errors, f"@{written} takes no errors=", help=step)


def _check_context(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, ctx: RuleContext) -> None:
    """Report the context of another library where mcpcore's belongs: as the first parameter, after `self`."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    if arguments and arguments[0].arg in ("self", "cls"):
        arguments = arguments[1:]
    if not arguments or arguments[0].annotation is None:
        return
    symbol = Resolver().annotation_symbol(arguments[0].annotation, scope)
    owner = None if symbol is None else _CONTEXTS.get(symbol.name)
    if owner is not None:
        inside = "ctx.fastmcp" if owner == "FastMCP" else "ctx.sdk"
        step = f"import Context from mcpcore; in a request, {inside} is {owner}'s own"
        message = f"{arguments[0].arg!r} takes {owner}'s Context, which cannot fail with a declared reason"
        ctx.report(arguments[0], message, help=step)
