"""The reference has every public name, with its example and its errors, and the JSON Schemas describe real answers."""

from __future__ import annotations

import ast
import asyncio
import builtins
import importlib
import inspect
import json
import re
import textwrap
import typing
from enum import Enum
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from mcp.server.mcpserver import MCPServer
from pages import api
from pydantic import BaseModel

import mcpcore
from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.contract.bound_fields import FIELDS, bind
from mcpcore.contract.codes import EFFECTS
from mcpcore.testing import tool_client
from tests.tables import in_one_test

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PYTHON = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)

ENTRIES = list(api.entries())
NAMES = {f"{module.name}.{name}" for _, module, name in ENTRIES}
OBJECTS = {f"{module.name}.{name}": (module, name) for _, module, name in ENTRIES}

INTERNAL = {
    "mcpcore.contract.failure_modes.CONTRACT_META_KEY",
    "mcpcore.integrations.fastmcp.registration_of",  # read by mcpcore itself, see `mcpcore._FROM_ABOVE`
    "mcpcore.integrations.fastmcp.signature_of",
    "mcpcore_lint.diagnostics.Severity",  # the same as `mcpcore_lint.Severity`
    "mcpcore_lint.model.Symbol",
    "mcpcore_lint.model.ToolDef",
}
"""Names in examples that need no entry."""


@cache
def imported():
    """Every name of the two packages that the documentation and the examples import."""
    sources = [
        *(
            block[1]
            for page in (ROOT / "docs").rglob("*.md")
            for block in PYTHON.findall(page.read_text(encoding="utf-8"))
        ),
        *(path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("*.py")),
        *(block[1] for block in PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))),
    ]
    names = set()
    for source in sources:
        try:
            tree = ast.parse(textwrap.dedent(source))
        except SyntaxError:  # a fragment on the page of a rule
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in (
                "mcpcore",
                "mcpcore_lint",
            ):
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_the_reference_has_every_name_that_the_documentation_uses():
    """A name that a guide or an example imports has an entry, under the module that it is imported from."""
    known = {*NAMES, *INTERNAL}
    assert not {name for name in imported() if name not in known and not inspect.ismodule(_loaded(name))}


def _loaded(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@in_one_test("module", sorted({module.name for _, module, _ in ENTRIES}))
def test_the_reference_has_every_name_of_a_module(module):
    """A name added to `__all__` needs an entry, or a line in `docs/pages/api.py` that says which names have one."""
    entries = {name for _, listed, name in ENTRIES if listed.name == module}
    loaded = importlib.import_module(module)
    if not next(listed for _, listed, _ in ENTRIES if listed.name == module).names:
        assert entries == set(loaded.__all__)
    assert all(hasattr(loaded, name) for name in entries)


@pytest.mark.parametrize("page", sorted({page for page, _, _ in ENTRIES}))
def test_a_page_of_the_reference_is_text_without_the_site(page):
    """Each name has its anchor, its signature, and its whole docstring but for the titles of sections."""
    text = (REFERENCE / "api" / f"{page}.md").read_text(encoding="utf-8")
    assert ":::" not in text
    sections = dict(zip(*[iter(re.split(r'^<a id="([\w.]+)"></a>$', text, flags=re.MULTILINE)[1:])] * 2, strict=True))
    for _, module, name in (entry for entry in ENTRIES if entry[0] == page):
        section = sections[f"{module.name}.{name}"]
        words = set(re.findall(r"\w+", api.docstring(module, name))) - {
            "Args",
            "Attributes",
            "Raises",
            "Returns",
            "python",
        }
        assert words <= set(re.findall(r"\w+", section)), name


def test_every_name_of_mcpcore_is_there():
    """The package's own table of contents is the first page."""
    assert {f"mcpcore.{name}" for name in mcpcore.__all__} <= NAMES


@in_one_test("path", sorted(NAMES))
def test_a_public_name_is_described_with_an_example(path):
    """The docstring has a sentence and an example, unless a guide has the example; a factory has it on its page."""
    module, name = OBJECTS[path]
    text = api.docstring(module, name)
    assert text.strip(), f"{path} has no docstring"
    if type(api.value_of(module, name)).__name__ == "Factory":
        raised = eval(api.FACTORIES[name], vars(mcpcore) | {name: getattr(mcpcore, name) for name in mcpcore.__all__})
        assert raised.code is api.value_of(module, name).code
    else:
        assert "```" in text or api.example_of(module, name), f"{path} has no example"


@cache
def documented():
    """Every public function and class, and the public methods that the reference shows, by their names.

    They are read in a test, not while tests are collected: that imports the frameworks for agents, in each worker.
    """
    return dict(_documented())


def _documented():
    for path, (module, name) in OBJECTS.items():
        value = inspect.unwrap(api.value_of(module, name)) if callable(api.value_of(module, name)) else None
        if not (inspect.isclass(value) or inspect.isfunction(value)) or not value.__module__.startswith("mcpcore"):
            continue
        yield path, value
        if inspect.isclass(value):
            hidden = re.compile("|".join(("_.*", *api.HIDDEN.get(name, ()))))
            for method, member in vars(value).items():
                function = inspect.unwrap(getattr(member, "__func__", member))
                if inspect.isfunction(function) and not hidden.fullmatch(method):
                    yield f"{path}.{method}", function


OURS = {name.rpartition(".")[2] for name in NAMES}


NOT_CONSTRUCTED = {"mcpcore_lint.rule.RuleContext", "mcpcore_lint.rule.ProjectContext"}
"""Classes whose objects only the linter makes."""


def _parameters(value):
    """The names of the parameters; of a class, the parameters of its constructor, unless that is inherited."""
    if inspect.isclass(value):
        has_own = {"__init__", "__new__"} & vars(value).keys() or issubclass(value, BaseModel)
        if not has_own or issubclass(value, Enum) or getattr(value, "_is_protocol", False):
            return []
    try:
        names = inspect.signature(value).parameters
    except ValueError:  # an exception that inherits its constructor
        return []
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def test_every_parameter_is_described():
    """Under "Args" or "Attributes", by a string below the field, in a sentence, or by the name of what describes it."""
    missing = {path: _undescribed(value) for path, value in documented().items() if path not in NOT_CONSTRUCTED}
    assert {} == {path: names for path, names in missing.items() if names}


def _undescribed(value):
    """The parameters of a function or class that no text describes."""
    constructors = [
        getattr(vars(value).get(name), "__func__", vars(value).get(name)) for name in ("__init__", "__new__")
    ]
    texts = [
        inspect.getdoc(target) or "" for target in (value, *(constructors if inspect.isclass(value) else ())) if target
    ]
    text = "\n".join(texts)
    if re.search(r"\bthose\s+of\s+`[\w.]+`", text):
        return []
    below = inspect.getsource(value) if inspect.isclass(value) else ""
    return [
        name
        for name in _parameters(value)
        if not re.search(rf"^ +\*{{0,2}}{name}: |`{name}[`=]", text, re.MULTILINE)
        and not re.search(rf'^    {name}: .*\n    """', below, re.MULTILINE)
    ]


def _raised(function):
    """The classes that the body of a function raises itself, by name; not those within inner functions."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    todo, names = list(ast.iter_child_nodes(tree)), set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            names.add(node.exc.func.id)
        todo += ast.iter_child_nodes(node)
    return {name for name in names if name[0].isupper()}


def test_every_public_function_says_what_it_raises():
    """Every class that the body raises is under "Raises", or is a subclass of one that is."""
    for path, function in documented().items():
        if not inspect.isfunction(function):
            continue
        text = inspect.getdoc(function) or ""
        assert text, f"{path} has no docstring"
        section = text.partition("Raises:")[2]
        for name in _raised(function) - {"UnansweredError"}:  # the server catches that one itself
            raised = {**vars(builtins), **function.__globals__}.get(name)
            allowed = {base.__name__ for base in raised.__mro__} - {"object"} if inspect.isclass(raised) else {name}
            assert any(re.search(rf"\b{base}:", section) for base in allowed), f"{path} raises {name}"


def test_the_examples_of_docstrings_run(tmp_path, monkeypatch):
    """Examples are Python. They run, up to a name of the reader's own program, such as `session` or `ctx`."""
    monkeypatch.chdir(tmp_path)
    with_examples = {
        path: value for path, value in documented().items() if "```python" in (inspect.getdoc(value) or "")
    }
    assert len(with_examples) > 30
    for path, value in with_examples.items():
        _run_examples(path, value)


def _run_examples(path, value):
    home = vars(importlib.import_module(value.__module__))
    module = {**{name: getattr(mcpcore, name) for name in mcpcore.__all__}, **home, "Literal": typing.Literal}
    module |= {"__name__": "example"}
    for _, source in PYTHON.findall(inspect.getdoc(value) + "\n"):
        code = compile(textwrap.dedent(source), path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            continue
        unknown = None
        try:
            exec(code, module)
        except NameError as error:
            unknown = error.name
        assert unknown not in OURS


ENVELOPE = json.loads((REFERENCE / "envelope.schema.json").read_text(encoding="utf-8"))
CONTRACT = json.loads((REFERENCE / "contract.schema.json").read_text(encoding="utf-8"))


class Facts(BaseModel):
    """Data of a failure."""

    pmids: list[str]


def _modes():
    for code in ErrorCode:
        yield FailureMode(code.name.lower(), code, when="It failed.", recovery="Call list_things to find another one.")
    yield FailureMode(
        "everything", ErrorCode.NOT_FOUND, when="Nothing matched.", recovery="Call search for other ids.",
        retry=Retry.after(seconds=1.5), fallback_tool="search", fallback_arguments={"ids": "{pmids}"},
        strategy="try_alternative", actions=["search"],
        corrective_params={"pmids": ["1"]}, user_message="Sorry.", data=Facts, effects="none",
    )  # fmt: skip
    for effects in EFFECTS:
        yield FailureMode(
            f"effects_{effects}", ErrorCode.TIMEOUT, when="Late.", recovery="Look first.", effects=effects
        )
    for name, retry in (("never", Retry.never()), ("now", Retry.now()), ("later", Retry.after(seconds=0))):
        yield FailureMode(f"retry_{name}", ErrorCode.CONFLICT, when="Busy.", recovery="Wait for a moment.", retry=retry)


MODES = list(_modes())


RECOVERIES = [
    {"hint": "x", "strategy": "dance", "actions": "a", "extra": 1, "fallback_tool": 7, "fallbackArguments": 7},
    {
        "hint": "x",
        "strategy": "RETRY_LATER",
        "actions": ["look", 1, None],
        "userMessage": "",
        "fallbackTool": "",
        "correctiveParams": 3,
    },
    {"actions": [{}], "hint": 3},
    "x" * 10_000,
    None,
]
"""Recoveries of throw sites, whose parts are not all of the right type."""


@tool(errors=MODES)
def fail(ctx: Context[str], reason: str) -> str:
    """Fail as asked."""
    if reason.isdecimal():
        raise ctx.fail("not_found", recovery=RECOVERIES[int(reason)], data={"reason": 5, "retryable": "yes"})
    if reason == "crash":
        raise RuntimeError("hidden")
    with bind(**dict.fromkeys(FIELDS, "bound")):
        raise ctx.fail(reason, data={"pmids": ["1"]})


async def _answers(server):
    async with tool_client(server, strict=False) as client:
        listed = {entry.name: entry for entry in (await client.list_tools()).tools}
        reasons = [*(mode.reason for mode in MODES), "crash", *map(str, range(len(RECOVERIES)))]
        answers = [await client.call_tool("fail", {"reason": reason}) for reason in reasons]
        answers += [await client.call_tool("fail", {"reason": 7}), await client.call_tool("plain", {})]
        return listed["fail"].meta, answers


def test_real_answers_fit_the_schema_of_the_envelope():
    """Every code, advice, effect and bound field, invalid arguments, a crash and a tool of the SDK."""
    server = Server("things", tools=[fail], external_tools=["search"])

    @MCPServer.tool(server)
    def plain() -> str:
        raise ValueError("hidden")

    meta, answers = asyncio.run(_answers(server))
    check = jsonschema.Draft202012Validator(ENVELOPE)
    for answer in answers:
        assert answer.is_error
        check.validate(answer.structured_content)
    seen = [answer.structured_content["error"] for answer in answers]
    assert {error["name"] for error in seen} == {code.name for code in ErrorCode}
    assert {error.get("effects") for error in seen} >= {*EFFECTS}
    assert any(set(error.get("context", ())) >= set(FIELDS) for error in seen)
    jsonschema.Draft202012Validator(CONTRACT).validate(meta["dev.mcpcore/errors"])
    assert len(meta["dev.mcpcore/errors"]) == len(MODES)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("code",), "NOT_FOUND"),
        (("name",), "not found"),
        (("retry",), {"kind": "retryable_after_ms"}),
        (("retry",), {"kind": "not_retryable", "afterMs": 5}),
        (("retry",), {"kind": "perhaps"}),
        (("effects",), "all"),
        (("correlationId",), "xyz"),
        (("timestamp",), "today"),
        (("context",), {"who": "me"}),
        (("data", "recovery"), {"strategy": "often"}),
        (("data", "recovery"), {}),
        (("data", "retryable"), "no"),
    ],
)
def test_the_schema_of_the_envelope_refuses_what_is_not_sent(path, value):
    """Each field has its form."""
    answer = asyncio.run(_structured_failure())
    check = jsonschema.Draft202012Validator(ENVELOPE)
    assert check.is_valid(answer)
    target = answer["error"]
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    assert not check.is_valid(answer)


async def _structured_failure():
    async with tool_client(Server("things", tools=[fail], external_tools=["search"])) as client:
        return (await client.call_tool("fail", {"reason": "everything"})).structured_content


def test_the_schemas_are_valid():
    """They follow the draft that they name."""
    for schema in (ENVELOPE, CONTRACT):
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_navigation_names_every_page():
    """The strict build checks that too; this says so before the site is built, and that the build is strict."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    entries = {line.strip().removeprefix("- ").rpartition(": ")[2] for line in config.splitlines()}
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    # The skill is for coding agents, and not a page of the site.
    assert "  /skill/\n" in config
    pages -= {Path("skill/SKILL.md")}
    assert not {page.as_posix() for page in pages if not {page.as_posix(), f"{page.parent.as_posix()}/*.md"} & entries}
    assert "\nstrict: true\n" in config
    assert "mkdocs build --strict\n" in (ROOT / "Makefile").read_text(encoding="utf-8"), (
        "--quiet hides the warnings from --strict"
    )


def test_every_command_and_option_is_on_the_page():
    """The page has a section for each command and a row for each option that `--help` shows."""
    import click

    from mcpcore.cli.root import cli

    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `(mcpcore[^`]*)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))

    def check(command, path):
        with click.Context(command, info_name=path) as ctx:
            for option in command.params:
                if isinstance(option, click.Option) and not option.hidden:
                    assert f"{option.opts[-1]}" in sections[path]
            if isinstance(command, click.Group):
                for name in command.list_commands(ctx):
                    check(command.get_command(ctx, name), f"{path} {name}")

    check(cli, "mcpcore")
