"""Measures each part of the engine: which findings change when it is switched off.

`python -m bench.lint.ablation` makes a table with one row for each part of `bench/lint/parts.py`, and writes it to
bench/results/lint-parts.md. It clones the public servers in `REAL` at the commits named there, unless `--real` names
their folders, and converts the first three. A part that changes no finding on any tree does not belong in the engine,
unless the description of a rule promises it.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib
import inspect
import io
import json
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bench.conditions import conditions
from bench.lint.parts import PARTS, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Findings: TypeAlias = "set[tuple[str | int, ...]]"

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "bench" / "results" / "lint-parts.md"
# The pseudo-tree of the rule cases.
CASES: Final = "tests/lint/cases"
# The pseudo-part of the complete engine.
NO_PART: Final = "none"
# Public servers with their commits. The linter was not written with any of them at hand.
REAL: Final = {
    "https://github.com/keboola/mcp-server": "e2417a7942f39316faf1b08d39d12755d43f1088",
    "https://github.com/quiltdata/quilt-mcp-server": "8de68793b1142f876d226b8d73afee70de00160a",
    "https://github.com/zscaler/zscaler-mcp-server": "809f68d6c921e0829fb2e07e9b797e7e70cf720b",
    "https://github.com/stickerdaniel/linkedin-mcp-server": "9bc9cf226d219e162bcf338c70aef58ce3696023",
    "https://github.com/ckreiling/mcp-server-docker": "6288015cee6b76b2e2bf2c64232f0748baf48c1c",
    "https://github.com/gbrlcustodio/pipefy-mcp-server": "9d04abac5fd4d13d950ae22cf91c572e890fdb1b",
}
# The number of these servers that are also linted with contracts, as `bench.lint.convert` writes them.
CONVERTED: Final = 3


# -- switching off ------------------------------------------------------------------------------------------


def switch_off(part: Part) -> None:
    """Replace the functions of a part, in every module that imported them."""
    import mcpcore_lint

    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(mcpcore_lint.__path__, "mcpcore_lint.")
        if not module.name.endswith("__main__")
    ]
    for hook, answer in part.hooks.items():
        module_name, _, path = hook.partition(":")
        owner: Any = importlib.import_module(f"mcpcore_lint.{module_name}")
        *outer, name = path.split(".")
        for attribute in outer:
            owner = getattr(owner, attribute)
        original = getattr(owner, name)
        replacement = _replacement(original, answer)
        setattr(owner, name, replacement)
        for module in [] if outer else modules:
            if getattr(module, name, None) is original:
                setattr(module, name, replacement)


def _replacement(original: Callable[..., Any], answer: Any) -> Callable[..., Any]:
    """Return a function with a fixed answer, or one that returns the argument which `answer` names."""
    signature = inspect.signature(original)

    def answering(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(answer, str):
            return copy.copy(answer)
        arguments = signature.bind(*args, **kwargs).arguments
        if answer == "unknown":
            from mcpcore_lint.model import Unknown

            return Unknown(arguments["node"], arguments["module"], "switched off")
        return [arguments["node"]] if answer == "node" else arguments[answer]

    return answering


# -- in a separate process -------------------------------------------------------------------------------------------


def findings_in(tree: str) -> Findings:
    """Return the findings on a tree by place, rule and severity. Messages are not compared."""
    from mcpcore_lint.cli import lint

    os.chdir(tree)
    output = io.StringIO()
    arguments = ["--no-cache", "--jobs", "1", "--select", "all", "--format", "json", "."]
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        lint(arguments)
    report = json.loads(output.getvalue())
    entries = report if isinstance(report, list) else report["diagnostics"]
    return {(entry["path"], entry["rule"], entry["severity"], entry["line"]) for entry in entries}


def findings_in_cases() -> Findings:
    """Return the findings on the cases of the rules."""
    from mcpcore_lint.runner.engine import lint_source
    from mcpcore_lint.settings import Settings

    names = runpy.run_path(str(ROOT / "tests" / "lint" / "test_cases.py"))
    findings: Findings = set()
    with tempfile.TemporaryDirectory() as root:
        for rule, path in names["ALL"]:
            case = names["read"](path)
            settings = Settings(select=frozenset({rule.id}))._replace(**case.settings)
            report = lint_source(case.code, path="server.py", settings=settings, root=root, files=case.files)
            findings |= {
                (f"{rule.id}/{path.name}/{finding.path}", finding.rule, finding.severity, finding.span.line)
                for finding in report.diagnostics
            }
    return findings


def work(part_name: str, tree: str) -> None:
    """Print the findings on a tree with a part switched off."""
    for part in PARTS:
        if part.name == part_name:
            switch_off(part)
    print(json.dumps(sorted(findings_in_cases() if tree == CASES else findings_in(tree))))


# -- comparing ------------------------------------------------------------------------------------------


def measure(part_name: str, tree: str) -> Findings | None:
    """Return the findings on a tree with a part switched off; None if the linter failed."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'lint'}"}
    command = [sys.executable, "-m", "bench.lint.ablation", "--worker", part_name, tree]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        print(f"{part_name}, {tree}: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return {tuple(entry) for entry in json.loads(process.stdout)}


def change(before: Sequence[Findings | None], after: Sequence[Findings | None]) -> str:
    """Return how many findings are lost and how many are new, over all trees."""
    if None in (*before, *after):
        return "failed"
    pairs = [(old or set(), new or set()) for old, new in zip(before, after, strict=True)]
    lost, added = sum(len(old - new) for old, new in pairs), sum(len(new - old) for old, new in pairs)
    return f"-{lost} +{added}" if lost or added else "same"


def clone(folder: str) -> list[str]:
    """Clone the public servers at their commits and return the folders."""
    trees: list[str] = []
    for url, commit in REAL.items():
        tree = str(Path(folder) / url.rpartition("/")[2])
        subprocess.run(["git", "init", "-q", tree], check=True)
        subprocess.run(["git", "-C", tree, "fetch", "-q", "--depth", "1", url, commit], check=True)
        subprocess.run(["git", "-C", tree, "checkout", "-q", "FETCH_HEAD"], check=True)
        trees.append(tree)
    return trees


def converted(tree: str, folder: str) -> str:
    """Turn a copy of a server into one with contracts and return its folder."""
    target = str(Path(folder) / "contracts" / Path(tree).name)
    subprocess.run([sys.executable, "-m", "bench.lint.convert", tree, target], check=True, cwd=ROOT, stdout=sys.stderr)
    return target


def row(*cells: str) -> str:
    """Return a row of the table in Markdown."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run the comparison, and print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", nargs="+", default=[], metavar="TREE", help="the servers in `REAL`, in that order")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(*options.worker)
        return
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        real = [str(Path(tree).resolve()) for tree in options.real] or clone(folder)
        contract = [str(ROOT / "examples"), *(converted(tree, folder) for tree in real[:CONVERTED])]
        groups = {"real servers": real, "servers with contracts": contract, "rule cases": [CASES]}
        trees = [tree for group in groups.values() for tree in group]
        names = (NO_PART, *(part.name for part in PARTS))
        jobs = {(name, tree): pool.submit(measure, name, tree) for name in names for tree in trees}
        complete = [[jobs[NO_PART, tree].result() for tree in group] for group in groups.values()]
        totals = [f"{sum(len(findings or ()) for findings in group):,} findings" for group in complete]
        lines = [
            row("part", "purpose", *groups),
            row(*["---"] * (len(groups) + 2)),
            row("all", "the complete engine", *totals),
        ]
        for part in PARTS:
            changes = [
                change(before, [jobs[part.name, tree].result() for tree in group])
                for before, group in zip(complete, groups.values(), strict=True)
            ]
            lines.append(row(part.name, part.does, *changes))
            print(lines[-1], flush=True)
    when = conditions()
    lines += ["", f"Measured on {when['date']} with Python {when['python']}."]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
