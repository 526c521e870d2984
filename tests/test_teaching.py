"""`llms.txt` and the skill for coding agents: every page is there, and no name in them is stale."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import shlex

import pytest
import yaml
from pages import commands

import mcpcore
import mcpcore.testing
from mcpcore.contract.codes import EFFECTS
from mcpcore.wire.dialects import DIALECTS
from tests.files import ROOT

DOCS = ROOT / "docs"
LLMS = (DOCS / "llms.txt").read_text(encoding="utf-8")
SKILL = (DOCS / "skill" / "SKILL.md").read_text(encoding="utf-8")
PLUGIN = (ROOT / "mcpcore" / "testing" / "plugin.py").read_text(encoding="utf-8")
LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")

OPTIONS = {
    ctx.command_path.partition(" [")[0]: {*ctx.help_option_names, *(o for p in ctx.command.params for o in p.opts)}
    for ctx in commands.contexts()
}
NAMES = {name: getattr(module, name) for module in (mcpcore, mcpcore.testing) for name in module.__all__}
KNOWN = {**NAMES, "ctx": mcpcore.Context, "server": mcpcore.Server, "NO_ORDER": mcpcore.FailureMode}
PARAMETERS = {name for cls in (mcpcore.FailureMode, mcpcore.Server) for name in inspect.signature(cls).parameters}
WORDS = {*PARAMETERS, *DIALECTS, "errors", "main"}


def stale(text):
    """The names, commands and options in the code of a text that there are not."""
    prose = re.sub(r"^```(?!sh).*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    code = [*re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose), *re.findall(r"^(?:mcpcore|pytest) .*", prose, re.MULTILINE)]
    return [name for snippet in code for name in _stale(snippet)]


def _stale(code):
    words = shlex.split(code, comments=True) if code.startswith(("mcpcore ", "pytest ")) else []
    if words:
        command = max((name for name in OPTIONS if f"{code} ".startswith(f"{name} ")), key=len, default="")
        options = OPTIONS.get(command, set()) if words[0] == "mcpcore" else set(re.findall(r'"(--[\w-]+)"', PLUGIN))
        missing = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]
        is_command = command != "mcpcore" or words[1].startswith("-")
        return missing if is_command else [words[1]]
    if re.fullmatch(r"mcpcore(\.\w+)+", code):
        return [] if _loads(code) else [code]
    if re.fullmatch(r"[A-Z][A-Z_]+", code):
        return [] if code in mcpcore.ErrorCode.__members__ or code in KNOWN else [code]
    if code.startswith("[") or code.strip('"') in EFFECTS or re.fullmatch(r"[\w/.-]+\.(py|md|toml|json)", code):
        return []
    try:
        tree = ast.parse(code.removeprefix("@").removesuffix("=") if "(" not in code else code.removeprefix("@"))
    except SyntaxError:
        return []
    return list(_unknown(tree))


def _unknown(tree):
    """Names that neither mcpcore nor the text brings, attributes that the object has not, and keywords that it refuses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in KNOWN:
            if not hasattr(KNOWN[node.value.id], node.attr):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
            taken = inspect.signature(NAMES[node.func.id]).parameters.values()
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
                names = {parameter.name for parameter in taken}
                yield from (keyword.arg for keyword in node.keywords if keyword.arg not in names)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Name):
            yield from {node.value.id} - {*KNOWN, *WORDS, *dir(builtins)}


def _loads(path):
    module, _, name = path.rpartition(".")
    try:
        importlib.import_module(path)
    except ImportError:
        try:
            return hasattr(importlib.import_module(module), name)
        except ImportError:
            return False
    return True


@pytest.mark.parametrize("text", [LLMS, SKILL], ids=["llms.txt", "SKILL.md"])
def test_no_name_is_stale(text):
    """Commands, options, functions, parameters, codes and modules exist."""
    assert [] == stale(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("`mcpcore lint --fixx`", "--fixx"),
        ("`mcpcore lnt`", "lnt"),
        ("```sh\nmcpcore diff --chek a.json  # why\n```", "--chek"),
        ("`pytest --reason-cover`", "--reason-cover"),
        ("`mcpcore.clients`", "mcpcore.clients"),
        ("`assert_fail`", "assert_fail"),
        ('`raise ctx.fails("a")`', "ctx.fails"),
        ("`Retry.later(seconds=3)`", "Retry.later"),
        ('`FailureMode(recover="a")`', "recover"),
        ('`tool_client(server, fial={"a": "b"})`', None),
        ("`NOTFOUND`", "NOTFOUND"),
    ],
)
def test_a_stale_name_is_found(text, name):
    """The check is not blind, but for functions that pass any keyword on."""
    assert ([name] if name else []) == stale(text)


def test_the_skill_is_short_and_says_when_to_use_it():
    """Its front matter is what agents read to choose it."""
    _, head, body = SKILL.split("---\n", 2)
    front = yaml.safe_load(head)
    assert {"name": "mcpcore"} == {key: value for key, value in front.items() if key != "description"}
    assert "Use it when" in front["description"]
    assert len(front["description"]) <= 1024
    assert body.startswith("\n# ")
    assert len(SKILL.splitlines()) <= 150


def test_the_list_has_every_page_with_a_sentence():
    """Each link leads to a file of the repository; of the rules, the index is enough."""
    lines = [line for line in LLMS.splitlines() if line.startswith("- ")]
    linked = [LINK.search(line)[1].partition("/raw/main/")[2] for line in lines]
    assert all(
        (ROOT / path).is_file()
        for path in [*linked, *(link.partition("/raw/main/")[2] for link in LINK.findall(SKILL))]
    )
    pages = {path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md")}
    assert {path for path in pages if not path.startswith(("docs/rules/", "docs/skill/"))} <= {*linked}
    assert "docs/rules/index.md" in linked
    for line in lines:
        assert re.search(r"\): \S.{10,}\.$", line), line
