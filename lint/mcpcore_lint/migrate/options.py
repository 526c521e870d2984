"""Options and methods that releases of FastMCP and of the SDK removed: written where they belong now, or listed."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Container, Iterable, Iterator
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import name_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, all_parameters, defaults_of, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import classes_of, scope_around
from mcpcore_lint.migrate.callers import is_test
from mcpcore_lint.migrate.members import plan_members
from mcpcore_lint.migrate.middleware import mounted_servers
from mcpcore_lint.migrate.model import FAILS, STOPS, Left
from mcpcore_lint.migrate.prompts import refused_messages
from mcpcore_lint.migrate.renames import (
    DECORATED,
    FASTMCP_4,
    GONE,
    HOST_CHECK,
    LOCAL_HOSTS,
    PATHS,
    RUN,
    TASKS,
    UNCHECKED,
    UNUSED,
    WHERE_RUN,
)
from mcpcore_lint.model import Symbol
from mcpcore_lint.values import CallValue

_FASTMCP: Final = "fastmcp.FastMCP"
_OPTIONS: Final = (*GONE.values(), DECORATED, WHERE_RUN, ("prefix", "as_proxy"))
_WORDS: Final = (*dict.fromkeys(f"{option}=" for options in _OPTIONS for option in options), ".fn(")
RUNS: Final = rb"\.run\((?:[^()]*\btransport\b|\s*[\"'](?:http|sse|streamable))|(?:http|sse)_(?:app|async)\("
"""Code that runs a server in a way that takes options."""
_SEVERAL: Final = frozenset({"fastmcp.server.auth.MultiAuth", "fastmcp.server.auth.auth.MultiAuth"})
_TOKENS: Final = frozenset({"fastmcp.server.auth.AuthContext", "fastmcp.server.dependencies.get_access_token"})
_OF_SDK: Final = frozenset({"mcpcore.Server", "mcp.LowLevelServer"})
_DECORATORS: Final = frozenset({"tool", "resource", "prompt"})
READING: Final = frozenset({"int", "str", "os.getenv", "os.environ.get", "getenv"})
"""Calls that give the same value again."""


def plan_options(
    module: Module,
    handlers: Container[str],
    sites: Collection[Site],
    elsewhere: dict[str, list[Edit]],
) -> tuple[list[Edit], list[Left], list[Left]]:
    """The edits for what releases removed from servers and contexts, what is left, and the options that went.

    Args:
        module: The file.
        handlers: The names of the functions of tools, by which a test calls them on an object that is not known.
        sites: Where the servers of the project are run.
        elsewhere: The edits of other files by their paths, which get the options of servers that they run.
    """
    edits: list[Edit] = []
    left: list[Left] = []
    gone: list[Left] = []
    for call, scope in module.calls_near(*_WORDS, decorators=True):
        kind, own = kind_of(evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None)
        kind = kind or _of_super(call, module)
        table = {name: entry for name, entry in GONE.get(kind, {}).items() if name not in own}
        if options := [keyword for keyword in call.keywords if keyword.arg in table]:
            edits += _removed(call, options, module)
            by_site: dict[Site, list[str]] = {}
            for keyword in options:
                release, instead = table[keyword.arg or ""]
                pattern = f"{keyword.arg}={ast.unparse(keyword.value)} of the server, which {release} does not have"
                moved, lost = _moved(call, keyword, module, kind, sites if instead == RUN else ())
                for site, argument in moved:
                    by_site.setdefault(site, []).append(argument)
                if lost:
                    calls = (
                        f"{ast.unparse(site.call.func)}() at {site.module.path}:{site.call.lineno}" for site in lost
                    )
                    decide = f"give it to {' and to '.join(calls)}"
                    gone.append(Left(module.path, keyword.lineno, (), f"{pattern}, is removed", decide, stops=STOPS))
                elif not moved:
                    unused = instead == RUN and _is_unused(call, keyword.arg or "", module, kind, sites)
                    gone.append(
                        Left(module.path, keyword.lineno, (), f"{pattern}, is removed", UNUSED if unused else instead)
                    )
            for site, arguments in by_site.items():
                added = edits if site.module is module else elsewhere.setdefault(site.module.absolute, [])
                added.append(codemods.add_argument(site.module, site.call, ", ".join(arguments)))
        elif isinstance(call.func, ast.Attribute):
            edits += _method(call, call.func, scope, module, left, handlers)
    edits += _settings(module, left, gone, sites)
    awaited, members = plan_members(module)
    edits += awaited
    left += [*members, *_tasks(module), *_clients(module)]
    return edits, [*(line._replace(stops=STOPS) for line in left), *refused_messages(module)], gone


def _of_super(call: ast.Call, module: Module) -> str:
    """The server whose constructor a subclass calls: `super().__init__(name, port=port)`."""
    owner = module.around(call, ast.ClassDef) if ast.unparse(call.func) == "super().__init__" else None
    names = [name_of(base, module.scope) for base in owner.bases] if isinstance(owner, ast.ClassDef) else []
    return next((name for name in names if name in GONE), "")


def kind_of(made: object) -> tuple[str, set[str]]:
    """The server that a class is or derives from, and the parameters that a class of the project takes itself."""
    definition, home = (made.definition, made.module) if isinstance(made, Symbol) else (None, None)
    if not (isinstance(definition, ast.ClassDef) and home is not None):
        return (made.name or "", set()) if isinstance(made, Symbol) else ("", set())
    bases = [evaluate(base, home.scope) for base in definition.bases]
    names = [base.name for base in bases if isinstance(base, Symbol) and base.name in GONE]
    methods = [part for part in definition.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    return (names or [""])[0] or "", {part.arg for method in methods for part in all_parameters(method.args)}


def _settings(module: Module, left: list[Left], gone: list[Left], sites: Collection[Site]) -> list[Edit]:
    """The edits that give what a server's settings hold no longer to the call that runs it, or lines of the report."""
    edits: list[Edit] = []
    source, by_run = module.source, dict[ast.Call, list[str]]()
    for node in walk([module.tree]) if source.has("settings") else ():
        match node:
            case ast.Attribute(attr=option, value=ast.Attribute(attr="settings", value=server)):
                kind = next((kind for kind in GONE if kind in classes_of(server, scope_around(node, module))), "")
            case _:
                continue
        if option not in GONE.get(kind, ()):
            continue
        (release, instead), statement = GONE[kind][option], module.parents[node]
        makers = {maker for maker, _ in makers_of(server, scope_around(node, module), module)}
        if option == "host" and kind != _FASTMCP and _was_checked(statement, makers, module):
            gone.append(Left(module.path, node.lineno, (), *HOST_CHECK, stops=FAILS))
        runs = [site for site in sites if site.needs(option, kind) and not makers.isdisjoint(dict(site.makers))]
        if isinstance(statement, ast.Assign) and statement.targets == [node] and instead == RUN:
            run = _run_after(statement, server, kind, option, module, makers)
            if run is not None and (len(runs) < 2 or not ast.unparse(run.func).endswith("_app")):
                name = "path" if kind == _FASTMCP and option in PATHS else option
                lines = source.line_starts[statement.lineno - 1], source.line_starts[statement.end_lineno or 0]
                by_run.setdefault(run, []).append(f"{name}={source.segment(statement.value)}")
                edits.append(Edit(*lines, ""))
                continue
        start = _given_at_start(node, server, option, module) if instead == RUN else None
        if start is not None:
            edits.append(Edit(*source.node_range(node), source.segment(start)))
            continue
        pattern = f"settings.{option} of the server, which {release} does not have"
        methods = {str(getattr(site.call.func, "attr", "")) for site in runs} or {"run"}
        ways = [f"{method}({'' if _METHODS[method] else 'transport=..., '}{option}=...)" for method in sorted(methods)]
        decide = f"{RUN}, as in {' and '.join(ways)}" if instead == RUN else instead
        is_unchecked = (
            option == "transport_security" and isinstance(statement, ast.Assign) and _is_none(statement.value)
        )
        decide = f"{decide}, and {UNCHECKED} for None" if is_unchecked else decide
        decide = f"look at the {option}= that the call which runs the server gets" if is_test(module) else decide
        left.append(Left(module.path, node.lineno, (), pattern, decide))
    return [*edits, *(codemods.add_argument(module, run, ", ".join(arguments)) for run, arguments in by_run.items())]


def _was_checked(statement: ast.AST, makers: Collection[ast.AST], module: Module) -> bool:
    """Whether a statement gives a server another host, and the SDK went on to check the headers of requests."""
    if not isinstance(statement, ast.Assign) or is_test(module) or module.source.has("transport_security"):
        return False
    options = {keyword.arg for maker in makers for keyword in getattr(maker, "keywords", ())}
    return "host" not in options and getattr(statement.value, "value", None) not in LOCAL_HOSTS


def _given_at_start(node: ast.Attribute, server: ast.expr, option: str, module: Module) -> ast.expr | None:
    """The option of the one call that makes a server, if a read of its setting may be written like that."""
    spelled, scope = ast.unparse(server), scope_around(node, module)
    assigned = (part for part in walk([module.tree]) if isinstance(part, (ast.Assign, ast.AnnAssign)))
    makes = [
        part.value
        for part in assigned
        if spelled in map(ast.unparse, part.targets if isinstance(part, ast.Assign) else [part.target])
    ]
    values = [word.value for call in makes for word in getattr(call, "keywords", ()) if word.arg == option]
    parts = [*walk(values)]
    places = [scope.lookup(part.id) for part in parts if isinstance(part, ast.Name)]
    means_the_same = (
        len(makes) == len(values) == 1
        # Before Python 3.12, an f-string cannot hold its own quotes.
        and not isinstance(module.parents[node], ast.FormattedValue)
        and not any(
            isinstance(part, ast.Attribute)
            and isinstance(part.ctx, ast.Store)
            and ast.unparse(part) == ast.unparse(node)
            for part in walk([module.tree])
        )
        and all(place is None or (place[0] is module.scope and len(place[1]) == 1) for place in places)
        and all(
            isinstance(part, (ast.Name, ast.Constant, ast.Attribute, ast.expr_context))
            or (isinstance(part, ast.Call) and ast.unparse(part.func) in READING and not part.keywords)
            for part in parts
        )
    )
    return values[0] if means_the_same else None


def _run_after(
    statement: ast.Assign, server: ast.expr, kind: str, option: str, module: Module, makers: Collection[ast.AST]
) -> ast.Call | None:
    """The one call behind a statement that sets an option which runs the server, or makes its application, with it."""
    source, spelled = module.source, ast.unparse(server)
    block = next((part for part in _blocks(module.parents.get(statement)) if statement in part), [statement])
    calls = (part for part in walk([*block[block.index(statement) + 1 :]]) if isinstance(part, ast.Call))
    # An application does not take the address.
    names = {"run", "run_async", "run_sse_async", "run_streamable_http_async"}
    names |= {
        name
        for name, over in _METHODS.items()
        if name.endswith("_app") and option in _TAKES[kind].get(over, frozenset()) - _LISTENING[_FASTMCP]
    }
    runs = [call for call in calls if ast.unparse(call.func) in {f"{spelled}.{name}" for name in names}]
    lines = source.line_starts[statement.lineno - 1], source.line_starts[statement.end_lineno or 0]
    assigned = (part for part in walk([module.tree]) if isinstance(part, ast.Assign))
    makes = [part.value for part in assigned if spelled in map(ast.unparse, part.targets)]
    means_the_same = (
        source.text[slice(*lines)].partition("  #")[0].strip() == source.segment(statement)
        and f"{spelled}.settings" not in ast.unparse(statement.value)
        # None turns the check of Host headers off in settings, and on in a call.
        and not _is_none(statement.value)
        and not any(_changes(part, module) for part in walk([statement.value]))
        and sum(source.segment(part).startswith(f"{spelled}.settings.{option} ") for part in block) == 1
        and all(word.arg != option for call in (*runs, *makes, *makers) for word in getattr(call, "keywords", ()))
        # `**options` may hold it.
        and all(word.arg for call in runs for word in call.keywords)
    )
    return runs[0] if len(runs) == 1 and means_the_same else None


def _is_none(value: ast.expr) -> bool:
    return re.search(r"\bNone\b", ast.unparse(value)) is not None


def _changes(part: ast.AST, module: Module) -> bool:
    """Whether a name of an expression is bound more than once, so that it may have another value later."""
    place = scope_around(part, module).lookup(part.id) if isinstance(part, ast.Name) else None
    return place is not None and len(place[1]) > 1


def _blocks(node: ast.AST | None) -> list[list[ast.stmt]]:
    return [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]


def _moved(
    call: ast.Call, option: ast.keyword, module: Module, kind: str, sites: Iterable[Site]
) -> tuple[list[tuple[Site, str]], list[Site]]:
    """The calls that run a server, each with an option to give; if one cannot take it, all of them, such ones first."""
    name = option.arg or ""
    spelled = "path" if kind == _FASTMCP and name in PATHS else name
    running = [site for site in sites if site.runs(call, module) and site.needs(name, kind)]
    running = [site for site in running if all(word.arg != spelled for word in site.call.keywords)]
    scope, source, at = scope_around(call, module), module.source, module.source.node_range(option.value)[0]
    names = [part for part in walk([option.value]) if isinstance(part, ast.Name)]
    takes = {site: site.takes(option, kind, scope, site.passed(call)) for site in running}
    lost = [] if all(takes.values()) else sorted(running, key=lambda site: takes[site])
    moved: list[tuple[Site, str]] = []
    for site in running if not lost else ():
        passed = site.passed(call)
        spans = [(*source.node_range(name), passed[name.id]) for name in names if name.id in passed]
        edits = sorted(Edit(start - at, end - at, text) for start, end, text in spans)
        moved.append((site, f"{spelled}={apply(source.segment(option.value), edits)}"))
    return moved, lost


def _is_unused(call: ast.Call, option: str, module: Module, kind: str, sites: Iterable[Site]) -> bool:
    """Whether the calls that run a server are known, and none of them lacks an option."""
    spelled = "path" if kind == _FASTMCP and option in PATHS else option
    runs = [site for site in sites if site.runs(call, module)]
    # `asyncio.run(...)` runs no server.
    unknown = (
        site
        for site in sites
        if not site.makers and not isinstance(evaluate(site.server, scope_around(site.call, site.module)), Symbol)
    )
    lacking = (
        site.needs(option, kind) and all(word.arg != spelled for word in site.call.keywords)
        for site in (*runs, *unknown)
    )
    return runs != [] and not any(lacking)


def _removed(call: ast.Call, options: list[ast.keyword], module: Module) -> list[Edit]:
    """The edits that remove arguments of a call, with the commas and comments between them."""
    source, arguments = module.source, codemods.arguments_in_order(call)
    edits: list[Edit] = []
    at = 0
    while at < len(arguments):
        first = at
        while at < len(arguments) and arguments[at] in options:
            at += 1
        if at > first:
            start, end = source.node_range(arguments[first])[0], source.node_range(arguments[at - 1])[1]
            above = re.search(r"(?<=\n)(?:[ \t]*#[^\n]*\n)*[ \t]*$", source.text[:start])
            behind = re.match(r"[ \t]*,?[ \t]*(?:#[^\n]*)?\r?\n", source.text[end:])
            if above is not None and behind is not None:  # whole lines, so other comments stay with their options
                start, end = above.start(), end + behind.end()
            elif at < len(arguments):
                end = source.node_range(arguments[at])[0]
            elif first:
                start = source.node_range(arguments[first - 1])[1]
            edits.append(Edit(start, end, ""))
        at += 1
    return edits


def _method(
    call: ast.Call, func: ast.Attribute, scope: Scope, module: Module, left: list[Left], handlers: Container[str]
) -> list[Edit]:
    """The edits for a call of a method of FastMCP, or a line of the report."""
    name = func.attr
    options = {keyword.arg: keyword for keyword in call.keywords}
    line = call.lineno
    if name == "fn" and _is_registered(func.value, scope, module, handlers):
        # Since FastMCP 3.0, a decorator returns the function, and no object that holds it.
        return [Edit(module.source.node_range(func.value)[1], module.source.node_range(func)[1], "")]
    if name in _DECORATORS and "fastmcp.FastMCP" in classes_of(func.value, scope):
        for option in DECORATED.keys() & options.keys():
            release, instead = DECORATED[option]
            left.append(Left(module.path, line, (), f"{option}= of @{name}, which {release} does not have", instead))
    elif name == "mount" and "prefix" in options and "fastmcp.FastMCP" in classes_of(func.value, scope):
        start = module.source.offset(options["prefix"].lineno, options["prefix"].col_offset)
        return [Edit(start, start + len("prefix"), "namespace")]
    elif name in _METHODS and (old := WHERE_RUN.keys() & options.keys()) and _OF_SDK & classes_of(func.value, scope):
        for option in old:
            release, instead = WHERE_RUN[option]
            left.append(Left(module.path, line, (), f"{option}= of {name}(), which {release} does not have", instead))
    elif name == "mount" and "as_proxy" in options and "fastmcp.FastMCP" in classes_of(func.value, scope):
        pattern = f"as_proxy= of mount(), which {FASTMCP_4} does not have"
        left.append(Left(module.path, line, (), pattern, "mount create_proxy(...) of fastmcp.server"))
    return []


def _tasks(module: Module) -> list[Left]:
    """The line about the tools of a file that run as tasks, if no file of the project names the extension for them."""
    for call, scope in module.calls_near("task=", "tasks=", decorators=True):
        func = call.func
        owner = func.value if isinstance(func, ast.Attribute) and func.attr in _DECORATORS else func
        options = [option for option in call.keywords if option.arg in {"task", "tasks"}]
        # A value that is not written here may be true.
        is_on = any(getattr(option.value, "value", True) for option in options)
        if not is_on or _FASTMCP not in classes_of(owner, scope):
            continue
        if module.project.modules_with(module, lambda text: "TasksExtension" in text) == []:
            pattern = f"{options[0].arg}= of {ast.unparse(func)}(), which {FASTMCP_4} runs with an extension"
            return [Left(module.path, options[0].value.lineno, (), pattern, TASKS)]
    return []


def _clients(module: Module) -> Iterator[Left]:
    """The lines about the client of a token that a file reads, if tokens of the project come from several sources."""
    is_open = module.source.has(".client_id") and not module.source.has("original_client_id")
    users = is_open and module.project.modules_with(module, lambda text: "MultiAuth(" in text)
    calls = (call for user in users or () for call in user.calls_near("MultiAuth("))
    shared = any(getattr(evaluate(call.func, scope), "name", "") in _SEVERAL for call, scope in calls)
    for node in walk([module.tree]) if shared else ():
        if not (isinstance(node, ast.Attribute) and node.attr == "client_id" and isinstance(node.ctx, ast.Load)):
            continue
        scope = scope_around(node, module)
        place = scope.lookup(node.value.id) if isinstance(node.value, ast.Name) else None
        values = [node.value, *(binding.value for binding in (place[1] if place is not None else ()) if binding.value)]
        # `ctx.token` of an AuthContext
        owners = (
            value.value if isinstance(value, ast.Attribute) and value.attr == "token" else value for value in values
        )
        if any(_TOKENS & classes_of(owner, scope) for owner in owners):
            pattern = f"{ast.unparse(node)}, which holds the source of the token too behind MultiAuth of {FASTMCP_4}"
            yield Left(module.path, node.lineno, (), pattern, "read original_client_id")


def _is_registered(node: ast.expr, scope: Scope, module: Module, handlers: Container[str]) -> bool:
    """Whether an expression names a function that a decorator of a FastMCP server registers."""
    made = evaluate(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None
    definition = made.definition if isinstance(made, Symbol) else None
    if not isinstance(made, Symbol) and isinstance(node, ast.Attribute):
        return node.attr in handlers
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    home = module.project.module_defining(definition)
    for decorator in definition.decorator_list:
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        if home is not None and isinstance(func, ast.Attribute) and func.attr in _DECORATORS:
            return _FASTMCP in classes_of(func.value, home.scope)
    return False


# -- where servers are run ---------------------------------------------------------------------------------------------

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
        values = [keyword.value for keyword in self.call.keywords if keyword.arg == "transport"] or self.call.args[:1]
        if (known := _METHODS[getattr(self.call.func, "attr", "")]) or not values:
            return known or "stdio"
        return str(values[0].value) if isinstance(values[0], ast.Constant) else ""

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
        ways = [{*passed} for maker, passed in self.makers if maker is call]
        # In several branches, a parameter may get another value in each.
        return dict(set.intersection(*ways)) if ways else {}

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
                or (scope.lookup(name) == inside.lookup(name) and not _changes_below(name, scope, option.lineno))
                or _origin(name, scope) == _origin(name, inside) != ""
                for name in names
            )
        )


def _changes_below(name: str, scope: Scope, line: int) -> bool:
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
                sites.append(Site(module, call, call.func.value, frozenset(makers_of(call.func.value, scope, module))))
    return Servers(mounted_servers(modules), sites)


def makers_of(
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
        if isinstance(value, CallValue) and value.node is not None and not isinstance(made, FUNCTIONS):
            yield value.node, ()
        above = module.project.module_defining(made) if isinstance(made, FUNCTIONS) else None
        if not isinstance(made, FUNCTIONS) or above is None or depth == _DEPTH:
            continue
        call = value.node if isinstance(value, CallValue) and value.module is module and not depth else None
        passed = tuple(_passed(call, made, scope, module)) if isinstance(call, ast.Call) else ()
        inside = {*walk([made])}
        for returned in inside:
            if isinstance(returned, ast.Return) and returned.value is not None:
                makers = makers_of(returned.value, above.functions[made], above, depth + 1)
                yield from ((maker, passed if maker in inside else ()) for maker, _ in makers)


def _passed(
    call: ast.Call, made: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, module: Module
) -> Iterator[tuple[str, str]]:
    """The parameters of a function with what a call passes, if that means the same in a scope."""
    if not isinstance(call.func, ast.Name) or any(isinstance(value, ast.Starred) for value in call.args):
        return
    signature, inside = made.args, scope_around(call, module)
    positional = [parameter.arg for parameter in (*signature.posonlyargs, *signature.args)]
    named = [parameter.arg for parameter in signature.kwonlyargs]
    defaults = defaults_of(signature).items()
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
            and not _changes_below(root, scope, call.lineno)
        ):
            yield name, module.source.segment(value)
