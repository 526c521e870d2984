"""no-stdout-in-tool: a tool writes to standard output."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.diagnostics import Related, Severity, grouped
from mcpcore_lint.engine.flow.facts.stdout import written_by
from mcpcore_lint.engine.registrations.registration_forms import makes_server
from mcpcore_lint.engine.registrations.routes import is_route
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.frameworks import framework_of
from mcpcore_lint.model import Handler, ReachedWrite, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import in_test

_STEPS: Final = {
    "print": "log it with `logging`, which writes to standard error, or print it there: `file=sys.stderr`",
    "child": "capture the output (`capture_output=True`) or discard it (`stdout=subprocess.DEVNULL`)",
    "input": "make the value a parameter of the tool, or ask the user by elicitation",
}
_EFFECTS: Final = {
    "print": "writes to standard output, which over stdio carries the protocol",
    "child": "lets the child write to standard output, which over stdio carries the protocol",
    "input": "prompts on standard output and reads standard input, which over stdio carry the protocol",
}
_HTTP: Final = frozenset({"http", "streamable-http", "sse"})
_HTTP_RUNS: Final = frozenset(
    {"run_http_async", "run_streamable_http_async", "run_sse_async", "http_app", "streamable_http_app", "sse_app"}
)
_RUNS: Final = frozenset({"run", "run_async", "run_stdio_async"}) | _HTTP_RUNS
_MAY_BE_STDIO: Final = regex(r"""\.run(?:_async)?\((?:\)|transport=(?!["'](?:http|streamable-http|sse)["']))""")


class NoStdoutInTool(Rule):
    """A tool that writes to standard output.

    Summary: the client receives broken messages over stdio: the tool, or a function that it calls, prints
    Why: A server over stdio sends its messages on standard output, one JSON object per line. With SDK 1, and with
        FastMCP 2 and 3, which are built on it, the client also receives everything else printed there. It cannot parse
        such text, and text without a line end breaks the message that follows. With SDK 2, and so with FastMCP 4 and
        mcpcore, the file descriptor of standard output points to standard error while the server runs. But Python
        writes text left in the buffer of `print` only when the process ends. By then the descriptor is restored, so the
        client still receives the text. A child process that inherits standard output writes straight to the client with
        SDK 1 and FastMCP 2 and 3. With SDK 2 it writes to standard error, so the rule does not report it for mcpcore
        and SDK 2. It is information, since the child may print nothing. Over HTTP nothing breaks: the rule skips a
        server if the file that creates it runs it over HTTP only, and one that a function takes if each file that
        creates a server does so and no file runs one over stdio. The rule follows calls. A function that prints gets
        one finding, at its first `print`; it names the tools that call the function and shows their calls.
    How to fix: Use `logging`, which writes to standard error, or `print(..., file=sys.stderr)`. Capture the output of a
        child process, or send it to `subprocess.DEVNULL`.
    When to suppress: If the server never runs over stdio, or the child process prints nothing.

    Bad:
        print(f"fetching {pmid}")
    Good:
        logger.info("fetching %s", pmid)
    """

    severity = Severity.WARNING

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report each log that a file with tools sends to standard output, outside of the tools themselves."""
        tools = [tool for tool in ctx.tools if not in_test(tool) and not _runs_over_http_only(tool, ctx)]
        for call, scope in module.calls_near("stdout") if tools else ():
            name = getattr(ctx.resolve(call.func, scope), "name", "")
            if name in _HANDLERS and scope.node not in {tool.handler.node for tool in tools}:
                written = written_by(call, [], scope)
                if written is not None:
                    effect = "writes every line of the log to standard output, which over stdio carries the protocol"
                    ctx.report(call, f"{written[0]} {effect}", help="log to standard error: stream=sys.stderr")

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the writes to standard output in the handler and in the functions that it calls."""
        if in_test(tool) or _runs_over_http_only(tool, ctx):
            return
        # SDK 2 redirects the standard output of child processes to standard error.
        redirected = tool.flavour == "mcpcore" or framework_of(tool).name == "SDK 2"
        # A low-level handler dispatches to functions that are tools themselves, with their own findings.
        served = {route.handler.qualname for route in tool.serves if route.handler is not None}
        writes = (
            write
            for write in ctx.writes(tool)
            if not (write.kind == "child" and redirected) and served.isdisjoint(write.path[1:])
        )
        by_function = grouped(writes, lambda write: (write.site.path, write.function, write.label))
        for first, *others in by_function.values():
            module = ctx.project.module_at(first.site.path)
            if module is None:
                continue
            more = [Related(write.site.path, write.site.span, f"{write.label} again") for write in others]
            ctx.report(
                first.site.span,
                f"{first.label} in {first.function} {_EFFECTS[first.kind]}",
                help=_STEPS[first.kind],
                tool=tool,
                module=module,
                related=(*_call_site(first, handler, tool), *more),
                shared=True,
                weight=Severity.INFO if first.kind == "child" else None,
            )


_HANDLERS: Final = frozenset({"logging.basicConfig", "logging.StreamHandler"})
"""Functions that make a log write to the stream that they get."""


def _call_site(write: ReachedWrite, handler: Handler, tool: ToolDef) -> Iterator[Related]:
    """The call in the handler that leads to a write, unless the write is in the handler."""
    if not handler.contains(write.site):
        path = " > ".join((tool.display_name, *write.path[1:]))
        yield Related(handler.module.path, write.call, f"{tool.display_name} calls it here: {path}")


def _runs_over_http_only(tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether the file that creates the tool's server runs it, and never over stdio. Routes are served over HTTP."""
    if is_route(tool):
        return True
    path, _, position = (tool.server or "").partition(":")
    # A function that gets the server may get it from any file that makes one.
    made_here = position[:1].isdigit()
    makers = [ctx.project.module_at(path)] if made_here else []
    # To look at all files takes time. A file may also run a server that it imports.
    if not made_here and ctx.writes(tool) and not ctx.project.has_text(tool.module, _has_stdio):
        makers += ctx.project.modules_with(tool.module, makes_server) or []
    return bool(makers) and all(
        module is not None
        and any(map(module.source.has, ("http", "sse")))
        and _is_run_over_http(module, position if made_here else "")
        for module in makers
    )


def _has_stdio(text: str) -> bool:
    return "stdio" in text or _MAY_BE_STDIO.search(text) is not None


@kept
def _is_run_over_http(module: Module, position: str) -> bool:
    """Whether a file runs the server that it creates at a place, or each that it creates, and never over stdio."""
    module.complete()
    nodes = walk([*module.tree.body])
    servers = {
        ast.unparse(target)
        for node in nodes
        if isinstance(node, ast.Assign)
        and (
            f"{node.value.lineno}:{node.value.col_offset}" == position
            or (not position and last_name(node.value).endswith(("FastMCP", "Server")))
        )
        for target in node.targets
    }
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _RUNS]
    runs = [call for call in calls if ast.unparse(call.func).rpartition(".")[0] in servers]
    # An application that has the server in it may be served by itself.
    served = not runs and module.source.has("uvicorn.run(") and not module.source.has("stdio")
    return served or (bool(runs) and all(map(_is_over_http, runs)))


def _is_over_http(call: ast.Call) -> bool:
    if getattr(call.func, "attr", "") in _HTTP_RUNS:
        return True
    transport = [keyword.value for keyword in call.keywords if keyword.arg == "transport"] or call.args[:1]
    return bool(transport) and isinstance(transport[0], ast.Constant) and transport[0].value in _HTTP
