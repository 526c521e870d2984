"""The rule about registrations whose functions cannot be found."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.records import in_test_file
from mcpcore_lint.registrations.unresolved import unresolved_in
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.rules.base import Family


class ToolRegistrationUnresolved(Rule):
    """Tools that nobody looks at."""

    id = "tool-registration-unresolved"
    severity = Severity.INFO
    family: ClassVar[Family] = "definitions"
    summary = "a registration whose function cannot be found"
    why = (
        "The linter reads the code and never runs it. Where the function that is registered is only known at run time, "
        "because its module is imported by a name from a file or it is picked by a variable, no rule holds for it."
    )
    bad = (
        "for name in settings.modules:\n"
        '    module = importlib.import_module(f"acme.tools.{name}")\n'
        "    server.add_tool(module.run)"
    )
    good = '[tool.mcpcore.lint]\nhandlers = ["acme.tools.*:run"]'
    how_to_fix = (
        "Name the functions in the settings: `handlers` takes the module and the function, both with stars, and every "
        "rule then holds for them. Or write down what is registered: a list of functions, the members of a module with "
        "a prefix, a table of names and objects that factories make are followed, through imports, wrappers, filters "
        "and the functions that are handed the server."
    )
    when_to_suppress = "Where the functions are no code of the project: plugins, or tools of another server."
    valid = (
        """
        import inspect

        from fastmcp import FastMCP

        mcp = FastMCP("acme")

        def find(q: str) -> str: ...

        TOOLS = [find]
        for fn in TOOLS:
            mcp.tool()(fn)
        for name in ("find",):
            mcp.add_tool(globals()[name])
        """,
        # Tools of other packages are not functions of the project.
        """
        from fastmcp import FastMCP
        from importlib.metadata import entry_points
        from langchain_adapters import to_fastmcp

        mcp = FastMCP("acme")
        for point in entry_points(group="acme.plugins"):
            mcp.add_tool(point.load())
        for each in load_tools():
            mcp.add_tool(to_fastmcp(each))

        def register(server: FastMCP, fn) -> None:
            server.add_tool(fn)

        async def copy(other) -> None:
            for tool in await other.list_tools():
                mcp.add_tool(tool)
        """,
    )
    invalid = (
        Invalid(
            """
            import importlib.util
            from pathlib import Path

            from fastmcp import FastMCP

            mcp = FastMCP("x")

            def discovered() -> dict:
                found = {}
                for path in Path("skills").rglob("*.py"):
                    spec = importlib.util.spec_from_file_location(path.stem, path)
                    module = importlib.util.module_from_spec(spec)
                    spec.loader.exec_module(module)
                    run = getattr(module, path.stem, None)
                    found[path.stem] = {"run": run}
                return found

            def register(skills: dict) -> None:
                for name, record in skills.items():
                    mcp.tool(name=name)(record["run"])

            register(discovered())  # here
            """,
            "no function is found behind",
        ),
        Invalid(
            """
            import importlib
            import os

            from fastmcp import FastMCP

            mcp = FastMCP("acme")
            for name in os.environ["MODULES"].split(","):
                module = importlib.import_module(f"acme.tools.{name}")
                mcp.add_tool(module.run)  # here
            """,
            "no function is found behind `module.run`",
        ),
        Invalid(
            """
            import os
            import sys

            from mcp.server.fastmcp import FastMCP

            server = FastMCP("acme")
            server.tool()(getattr(sys.modules[__name__], os.environ["TOOL"]))  # here
            """,
            "no function is found behind",
        ),
        Invalid(
            """
            from fastmcp import FastMCP

            mcp = FastMCP("acme")
            COMMANDS = []

            def command(fn):
                COMMANDS.append(wrap(fn))
                return fn

            for each in COMMANDS:
                mcp.add_tool(each)  # here
            """,
            "no function is found behind `each`",
        ),
        # The function that registers is right; the call that hands it the list is not.
        Invalid(
            """
            import importlib
            import os
            from dataclasses import dataclass

            from fastmcp import FastMCP

            @dataclass
            class Spec:
                name: str
                run: object

            def register(app, specs: list[Spec]) -> None:
                for spec in specs:
                    app.tool(name=spec.name)(spec.run)

            def spec_of(name: str) -> Spec:
                return Spec(name, importlib.import_module(f"acme.tools.{name}").run)

            register(FastMCP("acme"), [spec_of(name) for name in os.listdir("tools")])  # here
            """,
            "no function is found behind `spec.run`",
        ),
    )

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report each registration once; the settings that name functions answer for all."""
        if ctx.settings.handlers or in_test_file(module.path):
            return
        for each in unresolved_in(module):
            ctx.report(
                each.registration,
                f"no function is found behind `{each.what}`, so no rule checks it",
                help=f'name the functions in [tool.mcpcore.lint], such as handlers = ["{each.example}"]',
            )
