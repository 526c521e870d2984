"""Where the servers of a project are run, also in other files: version 2 takes the options of a transport there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import scope_around
from mcpcore_lint.migrate.following import is_test
from mcpcore_lint.migrate.middleware import mounted_servers
from mcpcore_lint.values import CallValue

_METHODS: Final = {
    "run": "",
    "run_async": "",
    "run_sse_async": "sse",
    "run_streamable_http_async": "streamable-http",
    "run_http_async": "http",
    "sse_app": "sse",
    "streamable_http_app": "streamable-http",
    "http_app": "http",
}
"""The methods that run a server or make its application, each with its transport, or empty for those that take one."""
_SSE: Final = frozenset({"host", "port", "sse_path", "message_path", "transport_security"})
_HTTP: Final = (_SSE - {"sse_path", "message_path"}) | {
    "streamable_http_path", "json_response", "stateless_http", "event_store", "retry_interval",
}  # fmt: skip
_FAST: Final = frozenset({"host", "port", "log_level", "streamable_http_path", "json_response", "stateless_http"})
_TAKES: Final[dict[str, dict[str, frozenset[str]]]] = {
    "mcpcore.Server": {"sse": _SSE, "streamable-http": _HTTP, "": _SSE & _HTTP},
    "fastmcp.FastMCP": {
        "sse": frozenset({"host", "port", "log_level", "sse_path"}),
        "streamable-http": _FAST,
        "http": _FAST,
    },
}
"""What a kind of server takes for a transport; for one that is known later, what stdio takes too, and drops."""
_LISTENING: Final = {"mcpcore.Server": {"port"}, "fastmcp.FastMCP": {"host", "port", "log_level"}}
"""Options of `run` that an application does not take."""
_DEPTH: Final = 3
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Site(NamedTuple):
    """A call that runs a server or makes its application."""

    module: Module
    call: ast.Call
    server: ast.expr
    makers: frozenset[tuple[ast.AST, tuple[tuple[str, str], ...]]]
    """The calls that make the server, as far as they can be followed, with the parameters as the site spells them."""

    @property
    def transport(self) -> str:
        """The name of the transport; empty if it is known only when the server is run."""
        given = [keyword.value for keyword in self.call.keywords if keyword.arg == "transport"] or self.call.args[:1]
        if (known := _METHODS[getattr(self.call.func, "attr", "")]) or not given:
            return known or "stdio"
        return str(given[0].value) if isinstance(given[0], ast.Constant) else ""

    def runs(self, call: ast.Call, module: Module) -> bool:
        """Whether it runs the server that another call makes."""
        target = module.parents.get(call)
        targets = target.targets if isinstance(target, ast.Assign) else [getattr(target, "target", target)]
        named = self.module is module and any(
            isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == ast.unparse(self.server)
            for part in targets
        )
        return named or any(maker is call for maker, _ in self.makers)

    def passed(self, call: ast.Call) -> dict[str, str]:
        """The parameters of the function with a call that makes the server, as the site spells them."""
        return dict(next((passed for maker, passed in self.makers if maker is call), ()))

    def needs(self, option: str, kind: str) -> bool:
        """Whether an option means something there."""
        if getattr(self.call.func, "attr", "").endswith("_app") and option in _LISTENING[kind]:
            return False
        return not self.transport or option in _TAKES[kind].get(self.transport, ())

    def takes(self, option: ast.keyword, kind: str, scope: Scope, passed: Collection[str]) -> bool:
        """Whether an option can be given there, and means the same."""
        inside = scope_around(self.call, self.module)
        names = [part.id for part in walk([option.value]) if isinstance(part, ast.Name)]
        formatted = any(isinstance(part, ast.JoinedStr) for part in walk([option.value]))
        transports = frozenset[str]().union(*_TAKES[kind].values())
        makers = {maker for maker, _ in self.makers if isinstance(maker, ast.Call)}
        # With options of several servers, each would get those of the others.
        having = [maker for maker in makers if any(word.arg in transports for word in maker.keywords)]
        return (
            len(having) < 2
            and option.arg in _TAKES[kind].get(self.transport, ())
            and all(keyword.arg is not None for keyword in self.call.keywords)
            and all(
                (name in passed and len(scope.bindings.get(name, ())) == 1 and not formatted)
                or (scope.lookup(name) == inside.lookup(name) and not _changes(name, scope, option.lineno))
                or _origin(name, scope) == _origin(name, inside) != ""
                for name in names
            )
        )


def _changes(name: str, scope: Scope, line: int) -> bool:
    """Whether a name gets another value below a line."""
    return any(getattr(binding.node, "lineno", 0) > line for binding in (scope.lookup(name) or (scope, []))[1])


def _origin(name: str, scope: Scope) -> str:
    """The origin of a name that one import binds for the whole file; empty for other names."""
    match = scope.lookup(name)
    if match is None or len(match[1]) != 1 or not match[0].is_module or match[1][0].target is None:
        return ""
    package, imported, level = match[1][0].target
    home = scope.module.project.module_of(scope.module, package, level)
    return "" if home is None and level else f"{home.name if home is not None else package}:{imported}"


class Servers(NamedTuple):
    """The servers of a project."""

    mounted: set[ast.AST]
    """The calls that make those which others mount."""
    sites: list[Site]


def servers_of(modules: Collection[Module]) -> Servers:
    """The servers of a project, and the calls of files that are no tests which run them."""
    sites: list[Site] = []
    for module in (module for module in modules if not is_test(module)):
        for call, scope in module.calls_near("run(", "_async(", "_app("):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
                sites.append(Site(module, call, call.func.value, frozenset(_made(call.func.value, scope, module))))
    return Servers(mounted_servers(modules), sites)


def _made(
    server: ast.expr, scope: Scope, module: Module, depth: int = 0
) -> Iterator[tuple[ast.AST, tuple[tuple[str, str], ...]]]:
    """The calls that make a server, also in functions that return it."""
    match = scope.lookup(server.id) if isinstance(server, ast.Name) else None
    home, bindings = match or (scope, [])
    # A name with several values may hold the server of each.
    values = [binding.value for binding in bindings if binding.value is not None] if len(bindings) > 1 else [server]
    for part in values:
        value = evaluate(part, home if part is not server else scope)
        made = value.func.definition if isinstance(value, CallValue) else None
        if isinstance(value, CallValue) and value.node is not None and not isinstance(made, _FUNCTIONS):
            yield value.node, ()
        above = module.project.module_defining(made) if isinstance(made, _FUNCTIONS) else None
        if not isinstance(made, _FUNCTIONS) or above is None or depth == _DEPTH:
            continue
        call = value.node if isinstance(value, CallValue) and value.module is module and not depth else None
        passed = tuple(_passed(call, made, scope, module)) if isinstance(call, ast.Call) else ()
        inside = {*walk([made])}
        for returned in inside:
            if isinstance(returned, ast.Return) and returned.value is not None:
                makers = _made(returned.value, above.functions[made], above, depth + 1)
                yield from ((maker, passed if maker in inside else ()) for maker, _ in makers)


def _passed(
    call: ast.Call, made: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, module: Module
) -> Iterator[tuple[str, str]]:
    """The parameters of a function with what a call passes, if that means the same in a scope."""
    if not isinstance(call.func, ast.Name) or any(isinstance(value, ast.Starred) for value in call.args):
        return
    given, inside = made.args, scope_around(call, module)
    positional = [parameter.arg for parameter in (*given.posonlyargs, *given.args)]
    named = [parameter.arg for parameter in given.kwonlyargs]
    defaults = [*zip(named, given.kw_defaults, strict=True), *zip(positional[::-1], given.defaults[::-1], strict=False)]
    values: dict[str, ast.expr] = {name: value for name, value in defaults if isinstance(value, ast.Constant)}
    values |= dict(zip(positional, call.args, strict=False)) | {word.arg or "": word.value for word in call.keywords}
    for name in (*positional, *named) if "" not in values else ():
        value = values.get(name)
        root = ast.unparse(value).partition(".")[0] if isinstance(value, (ast.Name, ast.Attribute)) else ""
        if isinstance(value, ast.Constant):
            yield name, ast.unparse(value)
        elif (
            value is not None
            and root.isidentifier()
            and scope.lookup(root) == inside.lookup(root)
            and not _changes(root, scope, call.lineno)
        ):
            yield name, module.source.segment(value)
