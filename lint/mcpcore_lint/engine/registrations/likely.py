"""The calls of a file that may register something."""

import ast
from bisect import bisect_left
from typing import Final

from mcpcore_lint.engine.registrations.callers import is_decorator
from mcpcore_lint.engine.registrations.registration_forms import HINTS, NEAR
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.patterns import regex

_ALIAS: Final = regex(r"(\w+)\s*=\s*[\w.]+\.(?:add_)?tool\b(?!\()")
"""A name that is given to a method of a server."""
_HINTED: Final = frozenset(word for word in NEAR if any(hint in word for hint in HINTS))


def is_likely(call: ast.Call, module: Module) -> bool:
    """Whether a call is read as a registration, as each decorator is."""
    likely = module.once("likely calls", lambda: {node for node, _ in likely_calls(module)})
    return call in likely or is_decorator(call)


def likely_calls(module: Module) -> list[tuple[ast.Call, Scope]]:
    """The calls that may register something: by their words, or by a name that such a line binds."""
    text = module.source.text
    hinted = {line for hint in (*HINTS, "MCP(") for line in module.lines_with(hint)}
    lines = [*map(module.source.line, sorted(hinted))]
    # Most words contain a hint, and the lines with hints are a small part of the file.
    near_hints = "\n".join(lines)
    words = [word for word in NEAR if word in (near_hints if word in _HINTED else text)]
    aliases = (_ALIAS.search(line) for line in lines if ".tool" in line or ".add_tool" in line)
    words += [f"{alias[1]}(" for alias in aliases if alias is not None]
    for local, bindings in module.scope.bindings.items():
        if bindings[0].kind == "import" and bindings[0].target == ("mcpcore", local, 0):
            continue  # mcpcore's own names are among the words
        # A long line may bind a name many times.
        numbers = {getattr(binding.node, "lineno", 1) for binding in bindings}
        if not numbers.isdisjoint(hinted):
            # A server may be called, or handed to a function of any name: `setup(mcp)`.
            words += [word for word in (f"{local}(", f"({local})", f"({local},") if word in text]
    # A function of any name may register what it is given, unless it calls itself.
    near = sorted({line for word in words for line in module.lines_with(word)})
    for function in list(module.functions) if near else ():
        first, last = function.lineno, function.end_lineno or function.lineno
        after = bisect_left(near, first)
        if isinstance(function, ast.Lambda) or function.name.startswith("__") or near[after : after + 1] > [last]:
            continue
        calls = module.lines_with(f"{function.name}(") if near[after:] else ()
        words += [f"{function.name}("] if calls and not any(first < line <= last for line in calls) else []
    return module.calls_near(*dict.fromkeys(words)) if words else []
