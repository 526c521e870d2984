"""The JSON Schemas of files that people write: as SchemaStore takes them, and never stricter than what reads the files."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator
from jsonschema.validators import validator_for
from mcpcore_lint.config import KEYS, ConfigError, Finder
from pages import schemastore

from mcpcore.cli.root import cli
from tests.catalog.making import catalog
from tests.files import ROOT
from tests.reach.drivers import NODE

DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
SCHEMAS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in REFERENCE.glob("*.schema.json")}
SETTINGS = Draft7Validator(SCHEMAS["pyproject.schema.json"])
WRITTEN = ("overlay.schema.json", "pyproject.schema.json")
AJV = ROOT / "tests" / "reach" / "node_modules" / "ajv"
TABLES = [
    block
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for block in re.findall(r"```toml[^\n]*\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    if "[tool.mcpcore" in block
]
VALUES = ['"error"', '"json"', '"x"', '""', "true", "3", "-1", "1.5", "[]", '["a"]', "[1]", "{}", '{ "a" = "info" }']
VALUES += ['{ "a" = ["b"] }', '{ "a" = [1] }', '{ "a" = { "b" = 1 } }', '{ "a" = { select = ["b"] } }', '{ "a" = 1 }']


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_names_its_dialect_its_address_and_its_subject(name):
    """The address is that of the file on the site, or in the repository without one, and the page has a row for it."""
    schema = SCHEMAS[name]
    validator_for(schema, default=None).check_schema(schema)
    assert schemastore.address(name) == schema["$id"]
    assert schema["title"]
    assert f"| [{name}]({name}) | {schema['title']} |" in (REFERENCE / "schemas.md").read_text(encoding="utf-8")
    assert name not in WRITTEN or "http://json-schema.org/draft-07/schema#" == schema["$schema"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_address_of_a_schema_leads_to_its_file(name):
    """Below the address of the repository, or of the site, which has `docs/` at its top."""
    repository, site = f"{URLS['Repository']}/raw/main/", URLS.get("Documentation", "")
    address = SCHEMAS[name]["$id"]
    file = DOCS / address.removeprefix(site) if site else ROOT / address.removeprefix(repository)
    assert file.samefile(REFERENCE / name)
    tracked = subprocess.run(["git", "ls-files", str(file)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert tracked.stdout, f"a clone has no {file}"


def test_the_address_of_a_schema_follows_the_site():
    """The site has the files of `docs/reference` at the same place, so that the address answers where the site is."""
    repository = f"{URLS['Repository']}/raw/main/docs/reference/a.schema.json"
    site = "https://docs.example/mcpcore/"
    assert repository == schemastore.address("a.schema.json", {"Repository": URLS["Repository"]})
    assert f"{site}reference/a.schema.json" == schemastore.address("a.schema.json", {**URLS, "Documentation": site})


@pytest.mark.skipif(not AJV.exists(), reason="make reach")
@pytest.mark.parametrize("name", WRITTEN)
def test_ajv_takes_the_schema_in_its_strict_mode(name):
    """SchemaStore checks with it; a keyword that it does not know, or a union of types, is an error there."""
    script = (
        "const Ajv = require('ajv'); const ajv = new Ajv({strict: true}); require('ajv-formats')(ajv);"
        "ajv.compile(JSON.parse(require('fs').readFileSync(process.argv[1])));"
    )
    command = [NODE, "-e", script, REFERENCE / name]
    done = subprocess.run(command, cwd=AJV.parents[1], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


def reads(folder, text):
    """Whether `mcpcore lint` and `mcpcore diff` take the settings."""
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    try:
        Finder().find(str(folder))
    except ConfigError:
        return False
    done = CliRunner().invoke(cli, ["diff", "old.json", "old.json"], catch_exceptions=False)
    assert done.exit_code in (0, 2), done.output
    return 0 == done.exit_code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text(catalog().dumps(), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("text", TABLES)
def test_settings_of_the_documentation_are_valid(text):
    """Every table of a page."""
    SETTINGS.validate(tomllib.loads(text)["tool"]["mcpcore"])


@pytest.mark.parametrize("key", ["unknown", *KEYS])
def test_the_schema_of_the_linter_agrees_with_its_reader(folder, key):
    """A value is valid exactly if the linter takes it."""
    verdicts = []
    for value in VALUES:
        text = f"[tool.mcpcore.lint]\n{key} = {value}\n"
        verdicts.append((value, reads(folder, text), SETTINGS.is_valid(tomllib.loads(text)["tool"]["mcpcore"])))
    # An entry of `handlers` is a pattern, whose form only the linter checks.
    lax = {"handlers": {'["a"]'}}.get(key, set())
    assert [] == [verdict for verdict in verdicts if verdict[1] is not verdict[2] and verdict[0] not in lax]
    assert (key != "unknown") is any(valid for *_, valid in verdicts)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('fail-on = "never"', True),
        ('levels = { reason-added = "off" }', True),
        ('fail-on = "error"', False),
        ('levels = { no-rule = "off" }', False),
        ('levels = { reason-added = "error" }', False),
        ("levels = 3", False),
        ("level = {}", False),
    ],
)
def test_the_schema_of_diff_agrees_with_its_reader(folder, text, valid):
    """Rules and levels are those of the command."""
    text = f"[tool.mcpcore.diff]\n{text}\n"
    assert (valid, valid) == (reads(folder, text), SETTINGS.is_valid(tomllib.loads(text)["tool"]["mcpcore"]))


def test_the_overlays_of_the_examples_are_valid():
    """In draft-07 too, and a misspelt key is not."""
    validator = Draft7Validator(SCHEMAS["overlay.schema.json"])
    overlays = [tomllib.loads(path.read_text("utf-8")) for path in (ROOT / "examples" / "overlays").glob("*.toml")]
    assert overlays
    for overlay in overlays:
        validator.validate(overlay)
        assert not validator.is_valid({**overlay, "tolls": {}})
