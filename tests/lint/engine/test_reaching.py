"""A name refers to the assignments that can reach its use, not to all in the function."""

from __future__ import annotations

import ast
import textwrap

import pytest
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import own_nodes
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.engine.syntax.source import Source
from mcpcore_lint.model import Const, options

CASES = {
    "the later one": ("x = 1\nx = 2\nuse(x)", {2}),
    "before the later one": ("x = 1\nuse(x)\nx = 2", {1}),
    "one of two branches": ("x = 1\nif a:\n    x = 2\nuse(x)", {1, 2}),
    "both branches": ("x = 1\nif a:\n    x = 2\nelse:\n    x = 3\nuse(x)", {2, 3}),
    "inside a branch": ("x = 1\nif a:\n    x = 2\n    use(x)", {2}),
    "a branch that ends": ("x = 1\nif a:\n    x = 2\n    return x\nuse(x)", {1}),
    "a chain": ("x = 1\nif a:\n    x = 2\nelif b:\n    x = 3\nelse:\n    raise a\nuse(x)", {2, 3}),
    "the round before": ("x = 1\nfor y in a:\n    use(x)\n    x = 2", {1, 2}),
    "behind a loop": ("x = 1\nfor y in a:\n    x = 2\nuse(x)", {1, 2}),
    "in the same round": ("x = 1\nwhile a:\n    x = 2\n    use(x)", {2}),
    "the end of a loop": ("x = 1\nfor y in a:\n    break\nelse:\n    x = 2\nuse(x)", {1, 2}),
    "a clause": ("x = 1\ntry:\n    x = 2\n    x = 3\nexcept E:\n    use(x)", {1, 2, 3}),
    "behind a clause": ("x = 1\ntry:\n    x = 2\nexcept E:\n    x = 3\nuse(x)", {2, 3}),
    "a clause that ends": ("x = 1\ntry:\n    x = 2\nexcept E:\n    return 3\nuse(x)", {2}),
    "finally": ("x = 1\ntry:\n    x = 2\nfinally:\n    use(x)", {1, 2}),
    "behind finally": ("x = 1\ntry:\n    x = 2\nfinally:\n    close()\nuse(x)", {2}),
    "a context": ("x = 1\nwith a:\n    x = 2\nuse(x)", {2}),
    "a context that swallows": ("x = 1\nwith suppress(E):\n    x = 2\nuse(x)", {1, 2}),
    "some cases": ("x = 1\nmatch a:\n    case 1:\n        x = 2\nuse(x)", {1, 2}),
    "all cases": ("x = 1\nmatch a:\n    case 1:\n        x = 2\n    case _:\n        x = 3\nuse(x)", {2, 3}),
    "a walrus": ("x = 1\nif (x := 2) and use(x):\n    pass", {1, 2}),
    "a declaration": ("x = 1\nx: int\nuse(x)", {1}),
    "by itself": ("x = 1\nx = x\nuse(x)", {1}),
    "a closure": ("x = 1\ndef later():\n    use(x)\nx = 2", {1, 2}),
    "set by a closure": ("x = 1\ndef set():\n    nonlocal x\n    x = 3\nx = 2\nset()\nuse(x)", {1, 2}),
    "not reached": ("x = 1\nx = 2\nreturn\nuse(x)", {1, 2}),
}


def meant(body):
    """The constants that the argument of `use` can be."""
    text = "def handler(a, b):\n" + textwrap.indent(body, "    ") + "\n"
    module = Project("/nowhere").add("/nowhere/case.py", Source("/nowhere/case.py", text))
    module.complete()
    for function in (node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)):
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "use":
                value = evaluate(node.args[0], module.scope_of(function))
                return {option.value for option in options(value) if isinstance(option, Const)}
    raise AssertionError(body)


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_the_assignments_that_reach_a_use(body, expected):
    """An assignment replaces earlier ones; every assignment that may have run last counts."""
    assert expected == meant(body)


def test_a_long_chain_of_branches():
    """An `elif` chain of any length is followed without recursion."""
    chain = "".join(f"elif a == {number}:\n    pass\n" for number in range(3, 800))
    assert {2} == meant(f"x = 1\nif a:\n    x = 2\n    use(x)\n{chain}")


@pytest.mark.parametrize(("bindings", "expected"), [(150, {149}), (300, set())])
def test_very_many_bindings(bindings, expected):
    """A name that generated code binds too often evaluates to unknown."""
    assert expected == meant("".join(f"x = {number}\n" for number in range(bindings)) + "use(x)")
