"""Files that no person wrote: each costs itself, never the others of the run, and takes a time that grows with its size."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mcpcore_lint.runner.engine import fix_source, lint_paths
from mcpcore_lint.runner.groups import find_groups
from mcpcore_lint.runner.migrate import migrate
from mcpcore_lint.runner.outcome import Migration

from tests.migrate.migrating import run

HEAD = 'from mcp.server.fastmcp import FastMCP\n\nserver = FastMCP("x")\n\n\n'
TOOL = '@server.tool()\ndef f(a: str) -> str:\n    """Do it."""\n'
GOOD = f'{HEAD}{TOOL}    raise ValueError("it is too long")\n'
MANY = 10_000

HOSTILE = {
    "a sum of strings": TOOL + "    raise ValueError(" + " + ".join(['"a"'] * MANY) + ")\n",
    "a sum that Python reads": TOOL + "    raise ValueError(" + " + ".join(["a"] * 900) + ")\n",
    "conditions in conditions": TOOL + "    return " + '"b" if a else ' * 900 + "a\n",
    "a chain of attributes": TOOL + "    raise ValueError(a" + ".b" * 900 + ")\n",
    "a union of types": f"@server.tool()\ndef f(a: {' | '.join(['int'] * 900)}) -> str:\n    raise ValueError(a)\n",
    "brackets in brackets": "x = " + "(" * 400 + ")" * 400 + "\n",
    "a null byte": "x = '\0'\n",
    "a huge number": f"x = {'9' * MANY}\n",
    "an unknown encoding": "# x",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_file_that_ends_the_analysis_costs_that_file(tmp_path: Path, source: str) -> None:
    """The other files are converted and linted, and the run names the file, or has converted it."""
    text = f"# coding: nonsense\n{HEAD}" if source == "# x" else HEAD + source
    outcome, after = run(tmp_path, {"a_hostile.py": text, "good.py": GOOD, "z_hostile.py": text})
    assert 'ctx.fail("it_is_too_long"' in after["good.py"]
    for name in ("a_hostile.py", "z_hostile.py"):
        reported = [place.path for place in (*outcome.left, *outcome.failures) if place.path.endswith(name)]
        assert reported or after[name] != text or source.startswith(("x = 9", "x = ("))
    report = lint_paths([tmp_path], root=str(tmp_path))
    assert any(diagnostic.path == "good.py" for diagnostic in report.diagnostics)
    assert any(tool.path == "good.py" for tool in report.tools)


def test_a_crash_in_one_file_leaves_the_names_that_others_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the file whose analysis crashed, the others are migrated from the beginning; the run exits with 2."""
    from mcpcore_lint.runner import migrate

    plan = migrate.plan_tools

    def planned(module, *rest):  # type: ignore[no-untyped-def]
        if module.path.endswith("b.py"):
            raise MemoryError
        return plan(module, *rest)

    monkeypatch.setattr(migrate, "plan_tools", planned)
    outcome, after = run(tmp_path, {"a.py": GOOD, "b.py": GOOD, "c.py": GOOD})
    assert after["b.py"] == GOOD
    assert 'ctx.fail("it_is_too_long"' in after["a.py"]
    assert after["a.py"] == after["c.py"]
    (failure,) = outcome.failures
    assert failure.path.endswith("b.py")
    assert "the linter crashed: MemoryError" in failure.message
    assert outcome.exit_code == 2


@pytest.mark.parametrize("coding", ["idna", "punycode", "rot13", "zip", "utf-7", "undefined", "unicode_escape"])
def test_an_encoding_that_cannot_be_written_costs_that_file(tmp_path: Path, coding: str) -> None:
    """Whatever a codec raises when a file is decoded or encoded, the others are converted, and fixed."""
    text = f"# -*- coding: {coding} -*-\n{GOOD}"
    outcome, after = run(tmp_path, {"a_hostile.py": text, "good.py": GOOD})
    assert 'ctx.fail("it_is_too_long"' in after["good.py"]
    named = [place.path for place in (*outcome.left, *outcome.failures) if place.path.endswith("a_hostile.py")]
    assert named or after["a_hostile.py"] != text


def test_texts_in_the_syntax_of_a_later_python_are_kept(tmp_path: Path) -> None:
    """The tree of an earlier one has other texts there, of the same length."""
    source = f"{HEAD}{TOOL}    try:\n        open(a)\n    except PermissionError as e:\n"
    _, files = run(tmp_path, {"server.py": f'{source}        return f"Error: {{"none" if a else e}}"\n    return a\n'})
    assert 'fail("permission_denied", f"{"none" if a else e}") from e' in files["server.py"]


def test_two_names_of_one_file_are_one(tmp_path: Path) -> None:
    """A link to a file of the tree, or to one that is named by its folder's link, is not migrated a second time."""
    (tmp_path / "tree" / "inner").mkdir(parents=True)
    (tmp_path / "tree" / "own.py").write_text(GOOD)
    (tmp_path / "tree" / "a_link.py").symlink_to("own.py")
    (tmp_path / "tree" / "inner" / "z_link.py").symlink_to("../own.py")
    (tmp_path / "tree" / "inner" / "pyproject.toml").write_text("[tool.mcpcore.lint]\n")
    (tmp_path / "other").symlink_to("tree")
    outcome = migrate([str(tmp_path / name) for name in ("other", "tree")], write=True)
    assert not outcome.failures
    assert outcome.tools == len(outcome.files) == len(outcome.converted) == 1
    assert (tmp_path / "tree" / "a_link.py").is_symlink()
    assert 'ctx.fail("it_is_too_long"' in (tmp_path / "tree" / "own.py").read_text()
    groups = find_groups([str(tmp_path / "tree")], lambda settings: settings)
    assert [Path(path).name for group in groups for path in group.walk.files] == ["own.py"]


def test_a_chain_of_classes_is_followed_to_its_end(tmp_path: Path) -> None:
    """The chain may be longer than Python's stack; a class that inherits from itself ends it."""
    chain = "".join(f"class C{number}(C{number - 1}): ...\n" for number in range(1, MANY // 4))
    code = f'{HEAD}class C0(KeyError): ...\n{chain}{TOOL}    raise C{MANY // 4 - 1}("it is too long")\n'
    outcome, after = run(tmp_path, {"server.py": code, "loop.py": f"{HEAD}class C(C): ...\n{TOOL}    raise C(a)\n"})
    assert not outcome.failures
    assert 'ctx.fail("it_is_too_long"' in after["server.py"]
    assert not lint_paths([tmp_path], root=str(tmp_path)).failures


MANY_OF = {
    "except clauses": lambda count: (
        TOOL
        + "    try:\n        return open(a).read()\n"
        + "".join(f'    except E{n}:\n        raise ValueError("bad {n}")\n' for n in range(count))
        + "".join(f"class E{n}(Exception): ...\n" for n in range(count))
    ),
    "try blocks": lambda count: (
        TOOL + '    try:\n        return open(a).read()\n    except OSError:\n        raise ValueError("bad")\n' * count
    ),
    "branches": lambda count: (
        TOOL
        + "".join(f'    if a == "{n}":\n        raise ValueError("bad {n}")\n' for n in range(count))
        + "    return a\n"
    ),
    "elif": lambda count: (
        TOOL
        + '    if a == "":\n        raise ValueError("bad")\n'
        + "".join(f'    elif a == "{n}":\n        raise ValueError("bad {n}")\n' for n in range(count))
        + "    return a\n"
    ),
    "nested clauses": lambda count: (
        TOOL
        + "    try:\n        return open(a).read()\n    except OSError:\n"
        + "".join(
            f'        try:\n            close(a)\n        except E{n} as error:\n            raise ValueError("bad {n}")\n'
            for n in range(count)
        )
        + "".join(f"class E{n}(Exception): ...\n" for n in range(count))
    ),
    "cases": lambda count: (
        TOOL
        + "    match a:\n"
        + "".join(f'        case "{n}":\n            raise ValueError("bad {n}")\n' for n in range(count))
    ),
    "tools": lambda count: "".join(
        TOOL.replace("def f", f"def f{n}") + f'    raise ValueError("bad {n}")\n' for n in range(count)
    ),
    "results": lambda count: (
        TOOL
        + "".join(f'    if a == "{n}":\n        return {{"error": "bad {n}"}}\n' for n in range(count))
        + "    return a\n"
    ),
    "assignments": lambda count: TOOL + "    a = a.strip()\n" * count + "    raise ValueError(a)\n",
    "imports": lambda count: "".join(f"import m{n}\n" for n in range(count)) + TOOL + "    raise ValueError(a)\n",
    "suppressions": lambda count: (
        TOOL + "    raise ValueError(a)  # mcpcore: ignore[no-stringify-upstream-error] it is known\n" * count
    ),
}


def calls(function: Callable[..., object], *arguments: object, **options: object) -> int:
    """How many calls a function makes: a measure of its time that other processes do not change."""
    profile = cProfile.Profile()
    profile.runcall(function, *arguments, **options)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("many", MANY_OF.values(), ids=MANY_OF.keys())
def test_the_time_grows_with_the_size(tmp_path: Path, many: Callable[[int], str]) -> None:
    """Four times as many of a thing take much less than 16 times as long, in the linter, its fixes and the migration."""
    few, more = (dict[str, str | bytes]({"server.py": HEAD + many(count)}) for count in (12, 48))
    run(tmp_path / "warm", few)
    assert calls(run, tmp_path / "more", more) < 8 * calls(run, tmp_path / "few", few)
    for folder in (tmp_path / "few", tmp_path / "more"):
        assert not lint_paths([folder], root=str(folder)).failures
    before, after = ((tmp_path / name / "server.py").read_text() for name in ("few", "more"))
    assert calls(fix_source, after, unsafe=True) < 8 * calls(fix_source, before, unsafe=True)


def clauses(count: int, *, one_try: bool) -> str:
    """A tool with many `except` clauses, which return and raise by turns."""
    lines = [HEAD + TOOL.rstrip("\n")]
    for number in range(count):
        name = str(number).translate(str.maketrans("0123456789", "abcdefghij"))
        if number == 0 or not one_try:
            lines += ["    try:", "        open(a)"]
        lines += [f"    except E{number} as e:" if number % 3 else f"    except E{number}:"]
        text = f'"Error: step {name} is too long"' if number % 3 == 0 else f'f"Error: step {name} is too long: {{e}}"'
        lines += [f"        return {text}" if number % 2 else f"        raise ToolError({text})"]
    classes = "".join(f"class E{number}(Exception): ...\n" for number in range(count))
    return "from mcp.server.fastmcp.exceptions import ToolError\n" + "\n".join([*lines, "    return a", classes])


@pytest.mark.slow
@pytest.mark.parametrize("one_try", [True, False], ids=["of one try", "of a try each"])
def test_twice_as_many_clauses_take_twice_as_long(tmp_path: Path, *, one_try: bool) -> None:
    """That holds for the conversion, and for the diff that shows it."""

    def migrated(count: int) -> None:
        outcomes[count], _ = run(tmp_path / str(count), {"server.py": clauses(count, one_try=one_try)}, write=False)

    outcomes: dict[int, Migration] = {}
    migrated(10)
    few, more = calls(migrated, 200), calls(migrated, 400)
    assert more < 2.2 * few
    few, more = (calls(outcomes[count].files[0].diff, "server.py") for count in (200, 400))
    assert more < 2.2 * few
    assert [200, 400] == [len(outcomes[count].converted) for count in (200, 400)]
    assert 400 == outcomes[400].files[0].diff("server.py").count("\n+        raise ctx.fail(")
