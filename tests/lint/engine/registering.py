"""Helpers for the registration tests: format a tool as one line and compare it with the expected lines."""

from __future__ import annotations

import textwrap

from mcpcore_lint.model import string


def shown(tool):
    """A tool as one line: name, kind, flavour, handler and parameters."""
    name = string(tool.name)
    parameters = ", ".join(parameter.name for parameter in tool.handler.parameters if not parameter.injected)
    return f"{name or '?'}: {tool.kind} {tool.flavour} {tool.handler.qualname}({parameters})"


def check(project, source, expected, *, flavour="", **files):
    """Compare the tools that `app.py` and other files register with the lines expected.

    Each handler of a case raises, and each registration is on a line that ends in `# here`.
    """
    texts = {"app": textwrap.dedent(source), **{name: textwrap.dedent(text) for name, text in files.items()}}
    project.write(**texts)
    run = project.run()
    tools = [tool for tools_of_file in run.tools.values() for tool in tools_of_file]
    lines = [line.strip().replace("%", flavour) for line in expected.strip().splitlines()]
    registered = sorted(shown(tool) for tool in tools)
    assert sorted(lines) == registered, f"expected {sorted(lines)}, found {registered}"
    for tool in tools:
        assert tool.handler.throws, f"nothing raised in {tool.display_name}"
        assert run.reach(tool).own, f"nothing leaves {tool.display_name}"
    marked = {
        (f"{name.replace('__', '/')}.py".replace("/init.py", "/__init__.py"), number)
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# here")
    }
    if marked:
        places = {(tool.module.path, tool.registration.lineno) for tool in tools}
        assert marked == places, f"marked {sorted(marked)}, found {sorted(places)}"
