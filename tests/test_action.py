"""The action for GitHub: its shell steps, run with the built wheel in a repository with a base and a head."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.catalog.test_workflow import PAGE, SERVER, write_lock
from tests.files import write_files
from tests.test_package import PROJECT, wheel  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
VALUE = re.compile(r"\$\{\{ ([\w.-]+) \}\}")
BREAKING = SERVER.replace("queue_full", "too_busy")
EMPTY = SERVER.replace(
    '    raise ctx.fail("queue_full")\n',
    '    try:\n        raise ctx.fail("queue_full")\n    except Exception:\n        return ""\n',
)

GH = '''\
#!{python}
"""The comments of a pull request, in a file."""
import json, os, re, sys

words, file = sys.argv[1:], os.environ["COMMENTS"]
if not os.environ.get("GH_TOKEN"):
    sys.exit("gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable.")
comments = json.load(open(file))
if "--jq" in words:
    assert words[:2] == ["api", "--paginate"] and words[2] == "repos/o/r/issues/7/comments", words
    query = words[words.index("--jq") + 1]
    (mark,) = re.fullmatch(
        r'\\.\\[\\] \\| select\\(\\.user\\.type == "Bot" and \\(\\.body \\| startswith\\("(<!-- [\\w ]+ -->)"\\)\\)\\) \\| \\.id', query
    ).groups()
    for comment in comments:
        if comment["user"]["type"] == "Bot" and comment["body"].startswith(mark):
            print(comment["id"])
    sys.exit()
if os.environ["GH_TOKEN"] == "reader":
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
method, path = words[words.index("--method") + 1], words[words.index("--method") + 2]
text = open(words[words.index("-F") + 1].removeprefix("body=@")).read()
if method == "POST":
    assert path == "repos/o/r/issues/7/comments", path
    comments.append({{"id": len(comments) + 1, "user": {{"type": "Bot"}}, "body": text}})
else:
    (comment,) = [one for one in comments if path == f"repos/o/r/issues/comments/{{one['id']}}"]
    comment["body"] = text
json.dump(comments, open(file, "w"))
'''


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):  # noqa: F811
    """The folder into which the first step installs the wheel; its dependencies are those of this environment, which are locked."""
    folder = tmp_path_factory.mktemp("action") / "site"
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_COMPILE": "1",  # the steps compile only what they import
        "PIP_FIND_LINKS": str(wheel.parent),
        "PIP_TARGET": str(folder),
        "ACTION_PATH": str(wheel),
    }
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", STEPS[0]["run"]], env=environment, check=False)
    assert 0 == done.returncode
    return folder


class Runner:
    """Runs the steps after the installation, as GitHub does."""

    def __init__(self, folder, installed):
        self.folder, self.project = folder, folder / "project"
        self.summary, self.comments = folder / "summary.md", folder / "comments.json"
        self.comments.write_text("[]", encoding="utf-8")
        self.project.mkdir()
        (folder / "bin").mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(GH.format(python=sys.executable), encoding="utf-8")
        gh.chmod(0o755)
        self.environment = {
            "PATH": os.pathsep.join([str(folder / "bin"), str(installed / "bin"), os.environ["PATH"]]),
            "PYTHONPATH": str(installed),
            "HOME": str(folder),
            "MCPCORE_CACHE_DIR": str(folder / "cache"),
            "RUNNER_TEMP": str(folder),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": "o/r",
            "COMMENTS": str(self.comments),
            **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        self.shell("git init -q")

    def shell(self, script, **environment):
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.project,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def commit(self, files):
        write_files(self.project, files)
        return self.shell("git add -A && git commit -qm x --allow-empty && git rev-parse HEAD").stdout.strip()

    def run(self, base, *, token="writer", **inputs):
        """The exit code of the last step, and what all steps printed."""
        known = {f"inputs.{name}": str(value["default"]) for name, value in ACTION["inputs"].items()}
        known |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        known |= {"github.event.pull_request.base.sha": base, "github.event.pull_request.number": "7" if base else ""}
        known |= {"github.token": token}
        printed, code = "", 0
        for step in STEPS[1:]:
            condition = re.fullmatch(r"([\w.-]+) != ''", step["if"]) if "if" in step else None
            if "if" in step and not known.get(condition[1], ""):
                continue
            values = {
                name: known.get(VALUE.fullmatch(value)[1], "") for name, value in step.get("env", step.get("with")).items()
                if VALUE.fullmatch(value)
            }  # fmt: skip
            if "uses" in step:
                self.sarif = json.loads(Path(values["sarif_file"]).read_text(encoding="utf-8"))
                continue
            output = self.folder / "output"
            output.write_text("", encoding="utf-8")
            done = self.shell(step["run"], GITHUB_OUTPUT=str(output), **values)
            code, printed = done.returncode, printed + done.stdout + done.stderr
            assert 0 == code or step["name"] == "Result", f"{step['name']}: {printed}"
            lines = output.read_text(encoding="utf-8").splitlines()
            known |= {
                f"steps.{step.get('id')}.outputs.{line.partition('=')[0]}": line.partition("=")[2] for line in lines
            }
        return code, printed

    def bodies(self):
        return [comment["body"] for comment in json.loads(self.comments.read_text(encoding="utf-8"))]


@pytest.fixture
def runner(tmp_path, installed):
    return Runner(tmp_path, installed)


def test_no_text_of_an_input_or_an_event_is_in_a_script():
    """Scripts have no expressions, each value is a whole variable, and only the comment's step has the token."""
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert all(VALUE.fullmatch(value) for value in step.get("env", {}).values())
        assert ("github.token" in str(step)) == (step["name"] == "Comment")
    assert all(value["description"] for value in ACTION["inputs"].values())
    assert "own dependencies" in ACTION["inputs"]["contract"]["description"]


def test_the_page_uses_this_release_and_inputs_that_there_are():
    """The workflow of the page passes options that the action takes, on `pull_request`, with the rights that it needs."""
    (text,) = re.findall(r"```yaml\n(name: mcpcore\n.*?)```", PAGE, re.DOTALL)
    (job,) = yaml.safe_load(text)["jobs"].values()
    repository = PROJECT["urls"]["Repository"].removeprefix("https://github.com/")
    (step,) = [step for step in job["steps"] if step.get("uses", "").startswith(f"{repository}@")]
    assert f"{repository}@v{PROJECT['version']}" == step["uses"]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    assert {"contents": "read", "pull-requests": "write", "security-events": "write"} == job["permissions"]
    assert "pull_request_target" not in text
    named = re.findall(
        r"^\| `([\w-]+)` \|", PAGE.partition("## In every pull request")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert list(ACTION["inputs"]) == named


@pytest.mark.parametrize("path", ["/a path", "/a/$(touch x)/`touch x`;'\""])
def test_the_version_is_that_of_the_tag(tmp_path, path):
    """The action's own code is installed, which is that of the tag, and nothing comes from an index by its name."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n', encoding="utf-8")
    python.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ACTION_PATH": path}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", STEPS[0]["run"]], env=environment, capture_output=True, text=True, check=True
    )
    assert f"{path}[cli]" == done.stdout.splitlines()[-1]
    assert not (tmp_path / "x").exists()


def test_a_pull_request_without_changes_passes_in_silence(runner):
    """Nothing is commented and nothing is reported."""
    base = runner.commit({"server.py": SERVER})
    runner.commit({"README.md": "# Articles\n"})
    code, printed = runner.run(base, contract="server.py")
    assert (0, [], False) == (code, runner.bodies(), runner.summary.exists()), printed
    assert [] == runner.sarif["runs"][0]["results"]


def test_findings_of_the_change_fail_and_are_uploaded(runner):
    """Findings of the base are not reported."""
    base = runner.commit({"old.py": EMPTY.replace("fetch_articles", "old"), "server.py": SERVER})
    runner.commit({"server.py": EMPTY})
    code, printed = runner.run(base)
    assert 1 == code
    assert re.search(r"^::(error|warning) file=server\.py,.*no-fake-empty", printed, re.MULTILINE)
    places = [result["locations"][0]["physicalLocation"] for result in runner.sarif["runs"][0]["results"]]
    assert {"server.py"} == {place["artifactLocation"]["uri"] for place in places}
    code, printed = runner.run("")  # a push: everything is linted
    assert 1 == code
    assert "file=old.py" in printed


@pytest.mark.slow
@pytest.mark.parametrize("locked", [True, False])
def test_a_breaking_change_is_commented_once(runner, locked):
    """A later run replaces the comment; a base without a lock file has its code read."""
    (runner.project / "server.py").write_text(SERVER, encoding="utf-8")
    if locked:
        write_lock(runner.project)
    base = runner.commit({})
    runner.comments.write_text(json.dumps([{"id": 1, "user": {"type": "User"}, "body": "<!-- mcpcore contract"}]))
    runner.commit({"server.py": BREAKING})
    code, printed = runner.run(base, contract="server:server")
    assert (1, locked) == (code, "The lock file of the contract is not up to date" in printed)
    if locked:
        write_lock(runner.project)
        runner.commit({})
    code, printed = runner.run(base, contract="server:server", fail_on="never")
    assert (0, False) == (code, "base.json" in printed), printed
    _, body = runner.bodies()
    assert "### Breaking" in body
    assert "the reason was renamed from queue\\_full" in body

    runner.commit({"server.py": SERVER})
    if locked:
        write_lock(runner.project)
    assert 0 == runner.run(base, contract="server:server")[0]
    assert "The contracts are the same." in runner.bodies()[1]
    assert 2 == len(runner.bodies())
    assert not runner.summary.exists()


@pytest.mark.parametrize("token", ["", "reader"])
def test_without_the_right_to_write_the_report_is_in_the_summary(runner, token):
    """A pull request of a fork has a token that can only read."""
    base = runner.commit({"server.py": SERVER})
    runner.commit({"server.py": BREAKING})
    code, printed = runner.run(base, token=token, contract="server.py")
    assert (1, []) == (code, runner.bodies())
    assert "::notice::The pull request could not be commented" in printed
    assert "### Breaking" in runner.summary.read_text(encoding="utf-8")


def test_hostile_names_are_names(runner):
    """Nothing in the name of a file, a folder or a server is run by the shell."""
    folder = "a 'b' \"c\" $(touch x) `touch y`;touch z"
    base = runner.commit({f"{folder}/$(touch x)'\".py": SERVER})
    runner.commit({f"{folder}/$(touch x)'\".py": BREAKING, f"{folder}/--help.py": EMPTY})
    code, printed = runner.run(base, folder=folder, contract="$(touch x)'\".py", lock="$(touch y).json")
    assert 1 == code
    assert "### Breaking" in runner.bodies()[0], printed
    assert "no-fake-empty" in printed
    assert not {"x", "y", "z"} & {path.name for path in runner.folder.rglob("*")}


def test_what_cannot_be_compared_fails_and_says_what_to_do(runner):
    """A missing dependency, an option with an unknown value and a shallow checkout are no success."""
    runner.commit({"server.py": SERVER})
    write_lock(runner.project)
    base = runner.commit({})
    runner.commit({"server.py": SERVER.replace("from pydantic", "import nowhere_at_all\nfrom pydantic")})
    code, printed = runner.run(base, contract="server.py")
    assert (1, True) == (code, "must install the project's own dependencies" in printed)
    assert "nowhere_at_all" in printed

    code, printed = runner.run("0123456789" * 4, contract="server.py")
    assert (1, True) == (code, "fetch-depth: 0" in printed)

    shutil.rmtree(runner.project)
    runner.project.mkdir()
    runner.shell("git init -q")
    base = runner.commit({"other.py": "x = 1\n"})
    runner.commit({"server.py": SERVER})
    code, printed = runner.run(base, contract="server.py", fail_on="sometimes")
    assert (0, True) == (code, "The base has no such contract" in printed), printed
