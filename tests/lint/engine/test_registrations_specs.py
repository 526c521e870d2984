"""Servers passed through functions of several modules, which register lists of objects built by factories."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest
from mcpcore_lint.runner.engine import lint_paths, lint_source
from mcpcore_lint.settings import Settings

from tests.files import write_files

RULE: Final = "tool-registration-unresolved"
SERVER: Final = {
    "acme/__init__.py": "",
    "acme/errors.py": "class OperationError(Exception): ...\n",
    "acme/tools/__init__.py": "",
    "acme/tools/common.py": """
        from collections.abc import Callable
        from dataclasses import dataclass
        from typing import Any
        @dataclass
        class ToolSpec:
            name: str
            description: str
            func: Callable[..., Any]
            idempotent: bool = False
            enabled: bool = True
        """,
    "acme/tools/images.py": """
        from typing import Any
        from acme.errors import OperationError
        from acme.tools.common import ToolSpec
        from acme.tools.filters import register_tools_with_filtering
        def create_list_images_tool(client) -> ToolSpec:
            def list_images(all: bool = False) -> dict:
                try:
                    return {"images": client.images(all)}
                except KeyError as e:
                    raise OperationError("no images") from e
            return ToolSpec(name="acme_list_images", description="Lists.", func=list_images, idempotent=True)
        def create_pull_tool(client) -> ToolSpec:
            def pull(image: str) -> dict:
                raise OperationError(image)
            spec = ToolSpec("acme_pull", "Pulls an image.", pull)
            return spec
        def create_push_tool(client) -> ToolSpec:
            def push(image: str) -> dict:
                raise OperationError(image)
            return ToolSpec("acme_push", "Pushes an image.", push, enabled=False)
        def register_image_tools(app: Any, client, safety) -> list[str]:
            tools = [create_list_images_tool(client), create_pull_tool(client), create_push_tool(client)]
            return register_tools_with_filtering(app, tools, safety)
        """,
    "acme/tools/volumes.py": """
        from typing import Any
        from acme.errors import OperationError
        from .common import ToolSpec
        from .filters import register_tools_with_filtering
        def create_list_volumes_tool(client) -> ToolSpec:
            def list_volumes() -> dict:
                raise OperationError("no volumes")
            return ToolSpec(name="acme_list_volumes", description="Lists volumes.", func=list_volumes)
        def register_volume_tools(app: Any, client, safety) -> list[str]:
            return register_tools_with_filtering(app, [create_list_volumes_tool(client)], safety)
        """,
    "acme/tools/filters.py": """
        from typing import Any
        from acme.tools.common import ToolSpec
        def register_tools_with_filtering(app: Any, tools: list[ToolSpec], safety) -> list[str]:
            names = []
            for spec in tools:
                if not spec.enabled:
                    continue
                spec.func._safety_level = safety
                app.tool(name=spec.name, description=spec.description, annotations={}, timeout=3)(spec.func)
                names.append(spec.name)
            return names
        """,
    "acme/tools/registration.py": """
        from typing import Any
        from acme.tools.images import register_image_tools
        from acme.tools.volumes import register_volume_tools
        def register_all_tools(app: Any, client, safety) -> dict:
            found = {}
            found["images"] = register_image_tools(app, client, safety)
            found["volumes"] = register_volume_tools(app, client, safety)
            return found
        """,
    "acme/server.py": """
        from fastmcp import FastMCP
        from acme.tools.registration import register_all_tools
        class Server:
            def __init__(self, client, config):
                self.app = FastMCP("x")
                register_all_tools(self.app, client, config.safety)
        """,
}
SEEN: Final = {
    "acme_list_images": ("acme/tools/images.py", "create_list_images_tool.list_images"),
    "acme_pull": ("acme/tools/images.py", "create_pull_tool.pull"),
    "acme_list_volumes": ("acme/tools/volumes.py", "create_list_volumes_tool.list_volumes"),
}
START: Final = {
    "acme/__init__.py": "",
    "acme/server.py": """
        from fastmcp import FastMCP
        from acme.install import register_all
        class Server:
            def __init__(self, client):
                self.bot = FastMCP("x")
                register_all(self.bot, client)
        """,
    "acme/install.py": """
        from acme.images import register_images
        def register_all(bot, client):
            register_images(bot, client)
        """,
}
IMAGES: Final = """
def make_list(client):
    def list_images():
        raise ValueError("x")
    return {one}
def make_pull(client):
    def pull():
        raise ValueError("x")
    return {other}
"""
HANDED: Final = """
def register_images(bot, client):
    register_specs(bot, [make_list(client), make_pull(client)])
"""
BOTH: Final = {"list": "make_list.list_images", "pull": "make_pull.pull"}
VARIANTS: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "dicts": (
        "from acme.specs import register_specs\n"
        + IMAGES.format(one='{"name": "list", "func": list_images}', other='dict(name="pull", func=pull)')
        + HANDED,
        """
        def register_specs(bot, specs):
            for spec in specs:
                bot.tool(name=spec["name"])(spec["func"])
        """,
        BOTH,
    ),
    "tuples": (
        "from acme.specs import register_specs\n"
        + IMAGES.format(one='"list", list_images', other='("pull", pull)')
        + HANDED,
        """
        def register_specs(bot, specs):
            for name, fn in specs:
                bot.tool(name=name)(fn)
        """,
        BOTH,
    ),
    "the list of a class": (
        """
        from acme.specs import Spec, register_specs
        def list_images():
            raise ValueError("x")
        class Images:
            specs = [Spec("list", list_images)]
        def register_images(bot, client):
            register_specs(bot, Images.specs)
        """,
        """
        from dataclasses import dataclass, field
        @dataclass
        class Base:
            name: str
        @dataclass
        class Spec(Base):
            func: object
            tags: list = field(default_factory=list)
        def register_specs(bot, specs):
            for spec in specs:
                bot.tool(name=spec.name)(spec.func)
        """,
        {"list": "list_images"},
    ),
    "a list that methods put together": (
        """
        from acme.specs import register_specs
        class Images:
            def make_list(self):
                def list_images():
                    raise ValueError("x")
                return "list", list_images
            def pull(self):
                raise ValueError("x")
            def specs(self):
                return [self.make_list(), ("pull", self.pull)]
        def register_images(bot, client):
            register_specs(bot, Images().specs())
        """,
        """
        def register_specs(bot, specs):
            for name, fn in specs:
                bot.tool(name=name)(fn)
        """,
        {"list": "Images.make_list.list_images", "pull": "Images.pull"},
    ),
    "a list that is handed on once more": (
        "from acme.specs import register_more\n"
        + IMAGES.format(one='"list", list_images', other='"pull", pull')
        + """
def register_images(bot, client):
    tools = [make_list(client)]
    tools.append(make_pull(client))
    register_more(bot, tools)
""",
        """
        def register_specs(bot, specs):
            for name, fn in specs:
                bot.tool(name=name)(fn)
        def register_more(bot, tools):
            register_specs(bot, tools)
        """,
        BOTH,
    ),
    "a base class that looks for marked methods": (
        """
        from acme.specs import Marked
        def register_images(bot, client):
            Marked().register(bot)
        """,
        """
        import inspect
        class Marked:
            def marked(self, mark):
                methods = []
                for name in dir(self):
                    member = inspect.getattr_static(self, name, None)
                    if hasattr(member, mark):
                        methods.append((getattr(self, name), getattr(member, mark)))
                return methods
            def register(self, bot):
                for method, options in self.marked("is_tool"):
                    bot.tool(name=options)(method)
        """,
        {},
    ),
    "an agent, which has the same method": (
        """
        from pydantic_ai import Agent
        from acme.specs import use
        def middle(bot):
            use(bot)
        def register_images(bot, client):
            middle(Agent("x"))
        """,
        """
        def use(bot):
            def find():
                raise ValueError("x")
            bot.tool(name="find")(find)
            @bot.tool(name="other")
            def other():
                raise ValueError("x")
        """,
        {},
    ),
}


def _run(folder, files):
    write_files(folder, {path: textwrap.dedent(text) for path, text in files.items()})
    report = lint_paths(folder, root=str(folder))
    assert not report.failures
    return report


def _places(report):
    return [(diagnostic.path, diagnostic.span.line) for diagnostic in report.diagnostics if diagnostic.rule == RULE]


def test_a_server_is_followed_through_three_modules(tmp_path):
    """Each tool has its object's name, and the nested function in its own module as its handler."""
    report = _run(tmp_path, SERVER)
    assert {tool.name: (tool.path, tool.handler) for tool in report.tools} == SEEN
    assert {tool.flavour for tool in report.tools} == {"fastmcp"}
    assert len(report.tools) == len(SEEN)
    assert not _places(report)


def test_callers_are_found_in_a_large_tree(tmp_path):
    """The files that the byte search selects include those that pass tools to a registering function."""
    _run(tmp_path, SERVER)
    report = lint_paths(tmp_path, root=str(tmp_path), settings=Settings(syntax_limit=0))
    assert {tool.name for tool in report.tools} == set(SEEN)


@pytest.mark.parametrize("case", VARIANTS)
def test_objects_of_other_types(tmp_path, case):
    """Dicts, tuples, constructor calls and lists from elsewhere are read like dataclasses."""
    images, specs, expected = VARIANTS[case]
    report = _run(tmp_path, {**START, "acme/images.py": images, "acme/specs.py": specs})
    assert {tool.name: tool.handler for tool in report.tools} == expected
    assert not _places(report)


def test_an_unknown_list_is_reported_at_the_call_that_passes_the_server(tmp_path):
    """The functions on the way are fine; the call by which the server starts it is reported."""
    images = """
        import importlib
        import os
        from acme.specs import Spec, register_specs
        def make(name):
            module = importlib.import_module(f"acme.tools.{name}")
            return Spec(name, module.run)
        def register_images(bot, client):
            register_specs(bot, [make(name) for name in os.listdir("x")])
        """
    specs = """
        from dataclasses import dataclass
        @dataclass
        class Spec:
            name: str
            func: object
        def register_specs(bot, specs):
            for spec in specs:
                bot.tool(name=spec.name)(spec.func)
        """
    report = _run(tmp_path, {**START, "acme/images.py": images, "acme/specs.py": specs})
    assert not report.tools
    assert _places(report) == [("acme/server.py", 7)]


def test_files_in_memory_are_searched_for_callers():
    """An editor's buffer counts like a file on disk."""
    files = {path: textwrap.dedent(text) for path, text in SERVER.items()}
    path = "acme/tools/volumes.py"
    report = lint_source(files.pop(path), path=path, root="/nowhere", files=files)
    assert [tool.name for tool in report.tools if tool.path == path] == ["acme_list_volumes"]


ENDLESS: Final = {
    "an object that is made of itself": """
        class A:
            def __init__(self, a=A()):
                self.a = a.a
        def register(app):
            for spec in [A(), A(A())]:
                app.tool(name=spec.a)(spec.a)
        """,
    "functions that hand on to one another": """
        def make():
            return make()
        def register_b(app, x):
            register_a(app, x)
        def register_a(app, x):
            register_b(app, x)
            for spec in x:
                app.tool(name=spec.n)(spec.n)
        register_a(app, [make()])
        """,
}


@pytest.mark.parametrize("case", ENDLESS)
def test_circular_references_end(case):
    """Self-referential objects and mutually recursive functions are given up."""
    assert not lint_source("import mcp\n" + textwrap.dedent(ENDLESS[case]), path="app.py", root="/nowhere").failures
