"""`[tool.mcpcore.lint]`: settings apply, and mistakes are reported with file, line and the closest name."""

from __future__ import annotations

import textwrap

import pytest
from mcpcore_lint.settings import PerFile, Settings

from tests.lint.front.samples import CLEAN, CONFLICT, DIRECT, SERVER

PREFER, CONFORM = DIRECT[2], CONFLICT[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '\nselekt = ["all"]\n',
            "pyproject.toml:3: [tool.mcpcore.lint] selekt: unknown key; did you mean 'select'?",
        ),
        ('fail-on = "never"\n', "pyproject.toml:2: [tool.mcpcore.lint] fail-on: 'never' is not a severity"),
        ('format = "sarfi"\n', "unknown format 'sarfi'; did you mean 'sarif'?"),
        ('ignore = "handler"\n', "ignore: must be a list of strings, got 'handler'"),
        ('cache-dir = ""\n', "cache-dir: must not be empty"),
        ("jobs = -1\n", "jobs: must be an integer that is not negative, got -1"),
        ("jobs = true\n", "jobs: must be an integer"),
        ("respect-gitignore = 1\n", "must be true or false"),
        ('[tool.mcpcore.lint.severities]\nno-fake-empty = "fatal"\n', "no-fake-empty: 'fatal' is not a severity"),
        ('[tool.mcpcore.lint.per-file]\n"x" = { ignored = ["all"] }\n', "unknown key; did you mean 'ignore'?"),
        ('[tool.mcpcore.lint.per-file]\n"x" = 3\n', "must be a list of rules to ignore, or a table"),
        ("exclude = [\n", "pyproject.toml: not valid TOML"),
        (
            '[tool.mcpcore.lnt]\nselect = ["all"]\n',
            "unknown section [tool.mcpcore.lnt]; did you mean [tool.mcpcore.lint]?",
        ),
        ('[tool.mcpcore]\nselect = ["all"]\n', "this key belongs under [tool.mcpcore.lint]"),
        ("[tool.mcpcore.lint.raises]\nx = 1\n", "must be a list of strings, got 1"),
        ("[tool.mcpcore]\nlint = 3\n", "[tool.mcpcore.lint] must be a table, not 3"),
        ("[tool]\nmcpcore = 3\n", "[tool.mcpcore] must be a table, not 3"),
        ('exclude = [\n"a",\n"\\q"]\n', "(at line 4, column"),
        (
            "[tool.mcpcore.lint.options]\nno-fake-empty = { x = 1 }\n",
            "no-fake-empty: this rule has no options, so 'x' does nothing",
        ),
    ],
    ids=lambda text: text.splitlines()[-1][:30] if "=" in text else "",
)
def test_mistakes_are_reported(project, text, said):
    """A mistake stops the run; the message has the file, the line, the key and the next step."""
    project.settings(text)
    if text.startswith(("[tool]", "[tool.mcpcore]\nlint")):
        project.write("pyproject.toml", text)
    assert said in project.lint(code=2).stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'[tool.mcpcore.lint]\nexclude = ["\xff"]\n',
            "pyproject.toml:2: not valid TOML: it is not UTF-8",
        ),
        (b"\xef\xbb\xbf[tool.mcpcore.lint]\n", "it begins with a byte order mark, which TOML forbids"),
    ],
    ids=["not UTF-8", "a byte order mark"],
)
def test_a_configuration_in_another_encoding(project, content, said):
    """Invalid UTF-8 is reported with its line; the byte order mark, which editors do not show, is named."""
    project.write("pyproject.toml", content)
    assert said in project.lint(code=2).stderr


@pytest.mark.parametrize(
    "text",
    [
        '[tool.mcpcore.lint.severities]\n{} = "info"',
        '[tool.mcpcore.lint.per-file]\n"a" = {{ severity = {{ {} = "info" }} }}',
    ],
)
def test_a_severity_applies_to_one_rule(project, text):
    """A family is rejected where a single rule is required."""
    project.settings(text.format("handler"))
    (finding,) = [finding for finding in project.json(code=1)["diagnostics"] if finding["rule"] == "unknown-rule"]
    assert finding["message"].endswith("name single rules here; 'handler' means several")


def test_unknown_rules_are_findings(project):
    """An unknown rule name is reported at its line in the configuration, and selects no rule."""
    project.settings(
        'ignore = [\n  "handler",\n  "no-fake-emtpy",\n]\n[tool.mcpcore.lint.severities]\nnope = "error"\n'
    )
    unknown = [finding for finding in project.json(code=1)["diagnostics"] if finding["rule"] == "unknown-rule"]
    assert [("pyproject.toml", 4, 4), ("pyproject.toml", 7, 1)] == [
        (finding["path"], finding["line"], finding["column"]) for finding in unknown
    ]
    assert "did you mean 'no-fake-empty'?" in unknown[0]["message"]
    project.settings('ignore = ["nope", "unknown-rule"]')
    assert [CONFLICT, DIRECT] == project.findings()
    project.settings('select = ["nope"]')
    assert [("pyproject.toml", 2, "unknown-rule")] == project.findings(code=1)


def test_severities(project):
    """A severity can be changed for all files or for some."""
    project.settings(
        f"""
        include-tests = true
        [tool.mcpcore.lint.severities]
        {PREFER} = "info"
        [tool.mcpcore.lint.per-file]
        "tests/*" = {{ severity = {{ {PREFER} = "error" }} }}
        """
    )
    project.write("tests/server.py", SERVER)
    severities = {
        (finding["path"], finding["severity"]) for finding in project.json()["diagnostics"] if finding["rule"] == PREFER
    }
    assert {("server.py", "info"), ("tests/server.py", "error")} == severities


def test_per_file(project):
    """Rules are ignored or selected for the files that a glob matches, also with backslashes."""
    project.write("tests/server.py", SERVER)
    project.write("scripts/server.py", SERVER)
    project.settings(
        f"""
        [tool.mcpcore.lint.per-file]
        'tests\\*' = ["all"]
        "scripts/*" = {{ select = ["{PREFER}"] }}
        """
    )
    assert [("scripts/server.py", 11, PREFER), CONFLICT, DIRECT] == project.findings()


@pytest.mark.parametrize(
    ("glob", "path", "meant"),
    [
        ("tests/*", "tests/deep/test_a.py", True),
        ("tests/*", "src/tests/test_a.py", False),
        ("**/tests/*", "tests/test_a.py", True),
        ("**/tests/*", "src/tests/test_a.py", True),
        ("src/**/api.py", "src/api.py", True),
        ("src/**/api.py", "src/one/two/api.py", True),
        ("tests", "src/tests/deep/test_a.py", True),
        ("tests", "tests.py", False),
        ("tests/", "tests/test_a.py", True),
        ("tests/", "src/tests", False),
        ("src/app", "src/app/deep/a.py", True),
        ("src/app/", "src/app/a.py", True),
        ("src/app", "src/apple/a.py", False),
        ("server.py", "deep/server.py", True),
        ("test_*.py", "deep/test_a.py", True),
        ("test_*.py", "deep/contest_a.py", False),
        ("./src/a.py", "src/a.py", True),
        ("!src/*", "src/a.py", False),
        ("!src/*", "other/a.py", True),
        ("a[", "a[", True),
    ],
)
def test_globs_of_per_file(glob, path, meant):
    """A name matches files and folders anywhere, a folder everything below it, and `!` all other files."""
    assert meant is PerFile(glob).matches(path)


def test_exclude_and_gitignore(repository):
    """Files excluded by the settings or git are not read, unless they are named on the command line."""
    repository.write("generated/server.py", SERVER)
    repository.write("ignored.py", SERVER)
    repository.write(".gitignore", "/ignored.py\n")
    repository.settings('exclude = ["./generated"]')
    assert {"server.py"} == {path for path, _, _ in repository.findings()}
    repository.settings('exclude = ["generated"]')
    assert {"server.py"} == {path for path, _, _ in repository.findings()}
    assert {"ignored.py"} == {path for path, _, _ in repository.findings("ignored.py")}
    repository.settings("respect-gitignore = false")
    assert {"server.py", "generated/server.py", "ignored.py"} == {path for path, _, _ in repository.findings()}


def test_configuration_elsewhere(project):
    """`--config` replaces all other configuration, with or without the section, inside or outside the project."""
    project.settings('ignore = ["all"]')
    shared = project.root.parent / "shared"
    shared.mkdir()
    (shared / "lint.toml").write_text(f'ignore = ["{PREFER}"]\n[per-file]\n"old/*" = ["all"]\n')
    project.write("old/server.py", SERVER)
    assert [CONFLICT] == project.findings("--config", "../shared/lint.toml")
    (shared / "pyproject.toml").write_text(f'[tool.mcpcore.lint]\nignore = ["{CONFORM}"]\n')
    assert [("old/server.py", 11, PREFER), DIRECT] == project.findings("--config", shared / "pyproject.toml")
    (shared / "pyproject.toml").write_text("[tool.other]\n")
    assert (
        "the section [tool.mcpcore.lint] is missing"
        in project.lint("--config", shared / "pyproject.toml", code=2).stderr
    )


def test_show_settings(project):
    """`--show-settings` prints each setting and where it comes from."""
    project.settings('fail-on = "error"\njobs = 1\n')
    text = project.lint("--show-settings", "--jobs", "3", "--select", "handler", code=0).stdout
    for part in (
        'fail-on = "error"  (pyproject.toml:2)',
        "jobs = 3  (--jobs)",
        'select = ["handler"]  (--select)',
        "min-recovery-words = 5  (default)",
        "respect-gitignore = true  (default)",
        "rules on: 13 of",
        "    no-fake-empty                warning\n",
    ):
        assert part in text
    assert "nowhere: no such file" in project.lint("--show-settings", "nowhere", code=2).stderr


def test_settings_are_shown_as_toml(project):
    """`--show-settings` prints tables and lists as TOML."""
    import tomllib

    text = """
        exclude = ["a \\"quoted\\" name"]
        [severities]
        no-fake-empty = "error"
        [per-file]
        "tests/*" = { ignore = ["all"] }
        "x" = { select = ["handler"], severity = { no-fake-empty = "info" } }
        [raises]
        "a.b" = ["builtins.OSError"]
        """
    (project.root / "own.toml").write_text(textwrap.dedent(text), encoding="utf-8")
    shown = project.lint("--show-settings", "--config", "own.toml", code=0).stdout
    lines = [line.strip().rpartition("  (own.toml:")[0] for line in shown.splitlines() if "(own.toml:" in line]
    assert tomllib.loads(text) == tomllib.loads("\n".join(lines))


def test_settings_of_an_editor(project):
    """An unsaved file uses the configuration of its folder."""
    project.settings(f'ignore = ["{PREFER}"]')
    assert [("deep/er/x.py", 3, "tool-description-required")] == [
        (path, line, rule)
        for path, line, rule in project.findings(
            "--stdin-filename", "deep/er/x.py", input="from mcpcore import tool\n@tool\ndef x(): ...\n"
        )
    ]


def test_every_key_is_documented(project):
    """Each key has a description, and each field of the settings has a key."""
    from mcpcore_lint.config import KEYS

    assert all(key.meaning and key.kind for key in KEYS.values())
    assert {name.replace("_", "-") for name in Settings._fields} <= set(KEYS)
    assert [] == project.findings("--stdin-filename", "clean.py", input=CLEAN)
