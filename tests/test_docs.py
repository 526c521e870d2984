"""Documentation that runs: the Python blocks and the transcripts of every page are executed.

The blocks marked `python` of a page run in order in one module. A block with `title="server.py"`, of any language, is also
written to that file first, and one with `append="server.py"` is added to its end. `python no-run` is only compiled. A block marked `console` is a transcript: its commands run in a folder for the
page and must print the text of the block, except for ids, times and durations. A block of commands without output is not checked,
and neither are blocks marked `text`, `sh`, `json` and so on. The pages of the lint rules show fragments that the
linter's own tests read.

`python tests/test_docs.py README.md` writes what the commands print into the page.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tests.tables import in_one_test

ROOT = Path(__file__).parents[1]
RULES = ROOT / "docs" / "rules"
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if RULES not in page.parents),
    *sorted((ROOT / "examples").rglob("*.md")),
]

FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
FIRST_PAGES = ("README.md", "docs/index.md", "docs/faq.md", "docs/tutorial/index.md", "docs/explanation/why-declare.md")
TITLE = re.compile(r'(title|append)="([^"]+)"')
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
OF_A_SHELL = re.compile(r"[|;&<>$`*~#]")
SHORTENED = re.compile(
    r"(?P<command>.*?)(?P<nothing>( 2>&1)? ?>/dev/null)?(?P<quiet> 2> ?/dev/null)?"
    r'( \| head -(?P<lines>\d+)| 2>&1 \| grep "(?P<part>[^"]+)")?'
)
"""A command of whose output a part is shown."""
NORMAL = (
    (re.compile(r"\bid [0-9a-f]{16}\b"), "id ID"),
    (re.compile(r'"correlationId": ?"[0-9a-f]{16}"'), '"correlationId": "ID"'),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "TIME"),
    (re.compile(r"^ +\d+\.\d s(?=  #\d)", re.MULTILINE), "SECONDS"),
    (re.compile(r" passed in \d+\.\d+s\b"), " passed in SECONDS"),
)


@dataclass
class Block:
    """A fenced block: its language, the rest of the info string, its text and its first line's number."""

    language: str
    info: str
    text: str
    line: int
    start: int
    end: int


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in FENCE.finditer(text):
        language, _, info = match["info"].strip().partition(" ")
        indent = match["indent"]
        body = "\n".join(line.removeprefix(indent) for line in match["body"].split("\n"))
        line = text.count("\n", 0, match.start("body")) + 1
        blocks.append(Block(language, info, body, line, match.start("body"), match.end("body")))
    return blocks


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_blocks_run_and_transcripts_are_true(page, tmp_path, monkeypatch):
    """Code copied from a page works in the order of the page and prints the shown output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # a block may import the file of an earlier one
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    module = ModuleType(f"docs_{page.stem}_{abs(hash(page))}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks_of(page):
        where = f"{named(page)}:{block.line}"
        write_titled(block, tmp_path)
        if title := TITLE.search(block.info):
            monkeypatch.delitem(sys.modules, Path(title[2]).stem, raising=False)
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True)
            if "no-run" not in block.info:
                exec(code, module.__dict__)
        elif block.language == "console":
            check_transcript(block, where, tmp_path)


@in_one_test("page", PAGES)
def test_the_name_of_a_file_is_in_the_sentence_before_it(page):
    """GitHub and editors show neither the title of a block nor its marked lines."""
    text = page.read_text(encoding="utf-8")
    for block in blocks_of(page):
        title = TITLE.search(block.info)
        before = text[: block.start].rpartition("```")[0].rstrip().rpartition("\n\n")[2]
        assert title is None or f"`{title[2]}`" in before, f"{named(page)}:{block.line} is {title[2]}: {before}"


def write_titled(block, folder):
    title = TITLE.search(block.info)
    if title is not None:
        with (folder / title[2]).open("a" if title[1] == "append" else "w", encoding="utf-8") as file:
            file.write(block.text)


def check_transcript(block, where, folder, *, scripts=None):
    commands = list(COMMAND.finditer(block.text))
    assert commands, f"{where}: a transcript begins its commands with '$ '"
    if not any(command[2].strip() for command in commands):
        return
    for command in commands:
        done = run(command[1], folder, scripts=scripts)
        assert normal(command[2]) == normal(done), f"{where}: {command[1]}"


def run(command, folder, *, scripts=None):
    """Return the output of a command in the page's folder, with standard error last.

    `scripts` is the folder of the environment's commands.
    """
    here = scripts is None
    scripts = scripts or sysconfig.get_path("scripts")
    environment = {**os.environ, "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]])}
    environment["PYRIGHT_PYTHON_IGNORE_WARNINGS"] = "1"  # about a newer version
    environment.pop("MCPCORE_AUDIT", None)
    view = SHORTENED.fullmatch(command)
    words = ["sh", "-c", command]
    if here and not OF_A_SHELL.search(view["command"]):
        words = shlex.split(view["command"])  # without a shell, the processes can be forked
    else:
        view = SHORTENED.fullmatch("")
        environment["PYTHONUTF8"] = "1"
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, cwd=folder, env=environment)
    lines = done.stdout.splitlines(keepends=True)[: 0 if view["nothing"] else int(view["lines"] or sys.maxsize)]
    lines += [] if view["quiet"] else done.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if (view["part"] or "") in line).replace(str(folder), "/home/you/project")


def normal(text):
    for pattern, replacement in NORMAL:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def test_the_readme_has_the_design_example_and_every_command():
    """The README shows a contract and names each command."""
    from mcpcore.cli.root import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 'raise ctx.fail("' in text
    for command in COMMANDS:
        assert f"`mcpcore {command}" in text


def test_the_generated_pages_are_up_to_date():
    """The reference and the rule pages match the current tables."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_pictures_show_what_runs(monkeypatch, capsys):
    """The pictures of terminals are what the commands print now."""
    import pictures

    monkeypatch.setattr(sys, "argv", ["pictures.py", "--check"])
    assert 0 == pictures.main(), capsys.readouterr().out


def test_every_picture_is_on_a_page_and_no_page_shows_one_that_is_gone():
    """The logo is in the header of the site."""
    shown = {
        (page.parent / name).resolve()
        for page in PAGES
        for name in re.findall(r"!\[[^\]]*\]\(([^)#]+)", page.read_text(encoding="utf-8"))
        if "://" not in name
    }
    assets = ROOT / "docs" / "assets"
    assert {path for path in assets.iterdir() if path.suffix in (".svg", ".png")} == shown | {assets / "logo.svg"}


def test_the_pages_that_readers_meet_first_link_to_the_glossary():
    """A reader who meets a word such as "effects" can look it up."""
    glossary = ROOT / "docs" / "reference" / "glossary.md"
    for page in map(ROOT.joinpath, FIRST_PAGES):
        links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
        assert glossary in {(page.parent / link).resolve() for link in links}, page


def write_transcripts(page):
    """Replace the output in a page's transcripts with the current output of its commands."""
    text = page.read_text(encoding="utf-8")
    written, at = "", 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        for block in blocks_of(page):
            write_titled(block, folder)
            if block.language != "console":
                continue
            lines = []
            for command in re.findall(r"^\$ (.*)$", block.text, re.MULTILINE):
                printed = run(command, folder).strip("\n")
                lines += [f"$ {command}", *([printed, ""] if printed else [])]
            written += text[at : block.start] + "\n".join(lines).rstrip("\n") + "\n"
            at = block.end
    page.write_text(written + text[at:], encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write_transcripts(Path(argument).resolve())
