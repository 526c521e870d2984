"""The workspace server over real stdio: its tools, and every failure of each."""

from __future__ import annotations

import hashlib
import itertools
import os
import socket
import stat
import sys
import threading
import time
import unicodedata
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from examples.workspace.folder import MAX_BYTES, Folder
from examples.workspace.server import Workspace, make_server
from mcpcore import CodedError, Envelope

ROOT = Path(__file__).parents[2]


class Connection:
    """The SDK's client, from code that is not async."""

    def __init__(self, portal, client, folder):
        self._portal, self._client, self.folder = portal, client, folder

    def result(self, tool, **arguments):
        return self._portal.call(self._client.call_tool, tool, arguments)

    def ok(self, tool, **arguments):
        result = self.result(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def fails(self, tool, **arguments):
        result = self.result(tool, **arguments)
        failure = Envelope.from_result(result)
        assert failure is not None, result
        assert failure.correlation_id in result.content[0].text
        return failure

    def tools(self):
        return self._portal.call(self._client.list_tools).tools


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace") / "root"
    folder.mkdir()
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "examples.workspace", str(folder)], cwd=ROOT, env=dict(os.environ)
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(command)) as client:
        yield Connection(portal, client, folder)


@pytest.fixture
def server(connection):
    """The connection, on a folder that is empty but for what every test may name."""
    for entry in sorted(connection.folder.rglob("*"), reverse=True):
        if entry.is_dir() and not entry.is_symlink():
            entry.rmdir()
        else:
            entry.unlink()
    outside = connection.folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret.txt").write_text("the secret\n")
    folder = connection.folder
    (folder / "notes").mkdir()
    (folder / "notes" / "today.md").write_text("# Today\n\nBuy milk.\nBuy bread.\n")
    (folder / "binary.bin").write_bytes(b"\xff\xfe\x00")
    (folder / "nul.txt").write_bytes(b"a\0b")
    (folder / "large.txt").write_bytes(b"x" * (MAX_BYTES + 1))
    (folder / "out").symlink_to(outside)
    (folder / "out.txt").symlink_to("../outside/secret.txt")
    (folder / "in").symlink_to(folder / "notes")
    (folder / "round").symlink_to("again")
    (folder / "again").symlink_to("round")
    (folder / "zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    return connection


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


CREATE = {"text": "x"}
REPLACE = {"text": "x", "expected_hash": "0" * 16}
PATCH = {"edits": [{"old": "milk", "new": "tea"}]}
TODAY = "notes/today.md"

# Each failure mode of each tool, by arguments that meet it.
CASES = [
    *(
        (tool, reason, {**arguments, "path": path})
        for tool, arguments in (
            ("list_files", {}),
            ("search_files", {"text": "x"}),
            ("read_file", {}),
            ("write_file", CREATE),
            ("patch_file", PATCH),
        )
        for reason, path in (
            ("invalid_path", ""),
            ("invalid_path", "a\0b"),
            ("invalid_path", "n" * 256),
            ("invalid_path", "é" * 128),
            ("invalid_path", "a/" * 2100),
            ("invalid_path", "round"),
            ("invalid_path", "round/x"),
            ("outside_workspace", ".."),
            ("outside_workspace", "../outside/secret.txt"),
            ("outside_workspace", "notes/../../root/notes"),
            ("outside_workspace", "/etc/passwd"),
            ("outside_workspace", "//etc/passwd"),
            ("outside_workspace", "out/secret.txt"),
            ("outside_workspace", "out.txt"),
            ("outside_workspace", "in/../out/secret.txt"),
            ("outside_workspace", "zero"),
            ("not_a_folder", "notes/today.md/x"),
        )
    ),
    ("list_files", "not_found", {"path": "nots"}),
    ("list_files", "not_a_folder", {"path": TODAY}),
    ("list_files", "not_a_folder", {"path": "pipe"}),
    ("search_files", "not_found", {"path": "nots", "text": "x"}),
    ("read_file", "not_found", {"path": "notes/toady.md"}),
    ("read_file", "not_found", {"path": "nots/today.md"}),
    ("read_file", "is_a_folder", {"path": "notes"}),
    ("read_file", "is_a_folder", {"path": "."}),
    ("read_file", "is_a_folder", {"path": "in/."}),
    ("read_file", "special_file", {"path": "pipe"}),
    ("read_file", "not_text", {"path": "binary.bin"}),
    ("read_file", "not_text", {"path": "nul.txt"}),
    ("read_file", "too_large", {"path": "large.txt"}),
    ("write_file", "already_exists", {**CREATE, "path": TODAY}),
    ("write_file", "already_exists", {**CREATE, "path": "notes"}),
    ("write_file", "already_exists", {**CREATE, "path": "pipe"}),
    ("write_file", "not_found", {**REPLACE, "path": "nothing/here.txt"}),
    ("write_file", "is_a_folder", {**REPLACE, "path": "notes"}),
    ("write_file", "special_file", {**REPLACE, "path": "pipe"}),
    ("write_file", "content_changed", {**REPLACE, "path": TODAY}),
    ("write_file", "too_large", {"path": "new.txt", "text": "é" * (MAX_BYTES // 2 + 1)}),
    ("patch_file", "not_found", {**PATCH, "path": "nothing.txt"}),
    ("patch_file", "is_a_folder", {**PATCH, "path": "notes"}),
    ("patch_file", "special_file", {**PATCH, "path": "pipe"}),
    ("patch_file", "not_text", {**PATCH, "path": "binary.bin"}),
    ("patch_file", "too_large", {**PATCH, "path": "large.txt"}),
    ("patch_file", "content_changed", {**PATCH, "path": TODAY, "expected_hash": "1" * 16}),
    ("patch_file", "malformed_patch", {"path": TODAY}),
    ("patch_file", "malformed_patch", {"path": TODAY, **PATCH, "diff": "@@ -1 +1 @@\n-a\n+b\n"}),
    ("patch_file", "malformed_patch", {"path": TODAY, "diff": "nothing"}),
    ("patch_file", "malformed_patch", {"path": TODAY, "edits": [{"old": "", "new": "x"}]}),
    ("patch_file", "patch_does_not_apply", {"path": TODAY, "edits": [{"old": "Buy", "new": "x"}]}),
    ("patch_file", "patch_does_not_apply", {"path": TODAY, "edits": [{"old": "wine", "new": "x"}]}),
    ("patch_file", "patch_does_not_apply", {"path": TODAY, "diff": "@@ -3 +3 @@\n-Buy wine.\n+Buy tea.\n"}),
]


def snapshot(folder):
    return {
        str(path): (os.lstat(path).st_ino, path.read_bytes() if path.is_file() and not path.is_symlink() else None)
        for path in sorted([*folder.rglob("*"), *(folder.parent / "outside").rglob("*")])
    }


@pytest.mark.parametrize(("tool", "reason", "arguments"), CASES)
def test_each_failure_mode_is_met_and_changes_nothing(server, tool, reason, arguments):
    """The reason, its declared code and a recovery come back; no file is touched; nothing from outside is shown."""
    before = snapshot(server.folder)
    failure = server.fails(tool, **arguments)
    assert (reason, int(CONTRACTS[tool][reason].code)) == (failure.reason, failure.code)
    assert failure.hint
    assert "secret\n" not in failure.text()
    assert before == snapshot(server.folder)
    assert failure.fallback_tool in (None, *CONTRACTS)


CONTRACTS = make_server(str(Path(__file__).parent)).contracts


def test_the_cases_meet_every_failure_mode_of_every_tool():
    """The tests raise every declared reason."""
    declared = {(tool, reason) for tool, contract in CONTRACTS.items() for reason in contract.reasons}
    assert declared == {(tool, reason) for tool, reason, _ in CASES}


def test_recoveries_lead_to_the_call_that_works(server):
    """An agent that does what the hints say, argument by argument, gets there."""
    failure = server.fails("read_file", path="notes/Today.md")
    assert "Today" in server.ok("read_file", **failure.recovery["correctiveParams"])["text"]
    failure = server.fails("read_file", path=str(server.folder / TODAY))
    assert {"path": TODAY} == failure.recovery["correctiveParams"]
    failure = server.fails("write_file", path=TODAY, text="new")
    assert "read_file" == failure.fallback_tool
    read = server.ok(failure.fallback_tool, **failure.recovery["correctiveParams"])
    (server.folder / TODAY).write_text("someone else was here\n")
    failure = server.fails("write_file", path=TODAY, text="new", expected_hash=read["hash"])
    assert "content_changed" == failure.reason
    read = server.ok(failure.fallback_tool, **failure.recovery["correctiveParams"])
    assert "someone else was here\n" == read["text"]
    server.ok("write_file", path=TODAY, text=read["text"] + "and so was I\n", expected_hash=read["hash"])
    assert "someone else was here\nand so was I\n" == (server.folder / TODAY).read_text()


def test_a_name_in_another_unicode_form_is_found_by_its_hint(server):
    """A composed and a decomposed name look alike; the hint has the one that is there."""
    there, asked = unicodedata.normalize("NFD", "café.md"), unicodedata.normalize("NFC", "café.md")
    (server.folder / there).write_text("x")
    assert {"path": there} == server.fails("read_file", path=asked).recovery["correctiveParams"]


def test_a_file_is_read_in_parts(server):
    """`next_line` leads through the file; a line beyond the limit is cut, not repeated for ever."""
    text = "".join(f"line {number}\n" for number in range(1, 1201))
    (server.folder / "long.txt").write_text(text)
    got, line = "", 1
    while line is not None:
        part = server.ok("read_file", path="long.txt", start_line=line, max_lines=500)
        got, line = got + part["text"], part["next_line"]
    assert (text, 1200) == (got, part["total_lines"])
    (server.folder / "wide.txt").write_text("x" * 100_000 + "\nend\n")
    part = server.ok("read_file", path="wide.txt")
    assert (60_000, 2) == (len(part["text"]), part["next_line"])
    assert "" == server.ok("read_file", path="wide.txt", start_line=9)["text"]
    (server.folder / "empty.txt").write_text("")
    assert {"text": "", "total_lines": 0, "next_line": None}.items() <= server.ok("read_file", path="empty.txt").items()


def test_links_inside_the_workspace_are_followed_and_kept(server):
    """A link that stays inside works for reading and writing; writing replaces what it leads to, not the link."""
    read = server.ok("read_file", path="in/../in/./today.md")
    assert TODAY == server.ok("write_file", path="in/today.md", text="new\n", expected_hash=read["hash"])["path"]
    assert (server.folder / "in").is_symlink()
    assert "new\n" == (server.folder / TODAY).read_text()


def test_writing_creates_folders_keeps_modes_and_leaves_no_temporary_file(server):
    """A new file has an ordinary mode, a replaced one its own; nothing else appears."""
    written = server.ok("write_file", path="deep/er/new.sh", text="echo é\n")
    assert (True, 8, hash_of(server.folder / "deep/er/new.sh")) == (
        written["created"],
        written["size"],
        written["hash"],
    )
    (server.folder / "deep/er/new.sh").chmod(0o750)
    server.ok("write_file", path="deep/er/new.sh", text="exit\n", expected_hash=written["hash"])
    assert 0o750 == stat.S_IMODE((server.folder / "deep/er/new.sh").stat().st_mode)
    assert ["new.sh"] == [path.name for path in (server.folder / "deep/er").iterdir()]
    server.fails("write_file", path="out/../../x/y.txt", text="x")
    assert not (server.folder.parent / "x").exists()


def test_a_patch_is_applied_as_a_whole_or_not_at_all(server):
    """Edits and diffs change the file; one part that does not fit leaves all of it alone."""
    file = server.folder / TODAY
    written = server.ok("patch_file", path=TODAY, edits=[{"old": "milk", "new": "tea"}, {"old": "tea.", "new": "tea!"}])
    assert "# Today\n\nBuy tea!\nBuy bread.\n" == file.read_text()
    assert hash_of(file) == written["hash"]
    diff = "--- a\n+++ b\n@@ -3,2 +3,1 @@\n-Buy tea!\n Buy bread.\n"
    server.ok("patch_file", path=TODAY, diff=diff, expected_hash=written["hash"])
    assert "# Today\n\nBuy bread.\n" == file.read_text()
    failure = server.fails("patch_file", path=TODAY, edits=[{"old": "bread", "new": "x"}, {"old": "gone", "new": "x"}])
    assert (2, "not_found") == (failure.details["index"], failure.details["problem"])
    assert "# Today\n\nBuy bread.\n" == file.read_text()


def test_lists_and_searches_are_sorted_bounded_and_stay_inside(server):
    """Links are listed and not followed; the answer says that there are more entries than the limit."""
    listing = server.ok("list_files", recursive=True)
    paths = [entry["path"] for entry in listing["entries"]]
    assert sorted(paths) == paths
    assert {"out": "link", "pipe": "special", "notes": "folder", TODAY: "file"}.items() <= {
        entry["path"]: entry["kind"] for entry in listing["entries"]
    }.items()
    assert [TODAY] == [entry["path"] for entry in server.ok("list_files", recursive=True, pattern="*.md")["entries"]]
    answer = server.ok("search_files", text="BUY", ignore_case=True)
    assert [(TODAY, 3), (TODAY, 4)] == [(match["path"], match["line"]) for match in answer["matches"]]
    assert [] == server.ok("search_files", text="secret")["matches"]
    many = server.folder / "many"
    many.mkdir()
    for number in range(510):
        (many / f"{number:03}.txt").write_text("needle\n")
    listing = server.ok("list_files", path="many")
    assert (500, True) == (len(listing["entries"]), listing["truncated"])
    answer = server.ok("search_files", text="needle", path="many")
    assert (100, True) == (len(answer["matches"]), answer["truncated"])


def test_names_that_no_text_can_carry_do_not_break_a_list(server):
    """A file name that is not UTF-8 is passed over."""
    file = Path(os.fsdecode(os.fsencode(server.folder) + b"/\xff.txt"))
    file.touch()
    try:
        assert "notes" in [entry["path"] for entry in server.ok("list_files")["entries"]]
        server.fails("read_file", path="y.txt")
    finally:
        file.unlink()


def test_arguments_that_do_not_fit_name_what_does(server):
    """Bad arguments are answered by the boundary, before any file is looked at."""
    failure = server.fails("read_file", pth=TODAY)
    assert ("invalid_arguments", "INVALID_PARAMS") == (failure.reason, failure.name)
    assert "path" in failure.hint


def test_no_race_with_a_symbolic_link_leads_outside(tmp_path):
    """A folder that turns into a link and back, again and again, never shows what is outside."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "a", outside):
        folder.mkdir(parents=True)
        (folder / "f.txt").write_text("inside" if folder != outside else "secret")
    done = threading.Event()
    turns = itertools.count()

    def flip():
        while not done.is_set():
            (root / "a").rename(root / "b")
            (root / "a").symlink_to(outside)
            if next(turns) % 3:
                time.sleep(0.0003)
            (root / "a").unlink()
            (root / "b").rename(root / "a")
            if next(turns) % 3:
                time.sleep(0.0003)

    flipping = threading.Thread(target=flip)
    flipping.start()
    seen = set()
    try:
        folder = Folder(root)
        for _ in range(3000):
            try:
                seen.add(folder.read("a/f.txt"))
            except CodedError as error:
                seen.add(error.reason)
    finally:
        done.set()
        flipping.join()
    assert b"secret" not in seen
    assert seen <= {b"inside", "outside_workspace", "not_found"}
    assert {b"inside", "outside_workspace"} <= seen


def test_of_many_writers_with_one_hash_one_wins(tmp_path):
    """Comparing the hash and replacing the file is one step among all threads and servers on the folder."""
    file = tmp_path / "f.txt"
    file.write_text("start")
    expected = hash_of(file)
    workspaces = [Workspace(Folder(tmp_path)) for _ in range(4)]
    won, lost = [], []

    def write(number):
        try:
            workspaces[number % 4].write_file(path="f.txt", text=f"writer {number}", expected_hash=expected)
            won.append(number)
        except CodedError as error:
            lost.append(error.reason)

    threads = [threading.Thread(target=write, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (1, ["content_changed"] * 11) == (len(won), lost)
    assert f"writer {won[0]}" == file.read_text()
    assert [file] == list(tmp_path.iterdir())


def test_a_socket_is_special_and_a_handler_runs_without_a_server(tmp_path, monkeypatch):
    """A tool is called directly in a unit test; a socket is left alone."""
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # the path of a socket has few bytes
        listening.bind("s")
        with pytest.raises(CodedError) as caught:
            Workspace(Folder(tmp_path)).read_file(path="s")
    assert "special_file" == caught.value.reason


def test_a_folder_that_is_not_there_is_told_at_the_start(tmp_path):
    """The server does not start on nothing."""
    with pytest.raises(SystemExit, match="No such file or directory; give a folder that exists"):
        make_server(str(tmp_path / "nothing"))


def test_the_contracts_are_listed_with_the_shapes_of_their_data(server):
    """`tools/list` carries each failure mode, with a schema where its data has one."""
    tools = {tool.name: tool for tool in server.tools()}
    entries = {entry["reason"]: entry for entry in tools["patch_file"].meta["dev.mcpcore/errors"]}
    assert set(CONTRACTS["patch_file"].reasons) == set(entries)
    assert "expected_hash" in entries["content_changed"]["dataSchema"]["properties"]
    assert tools["read_file"].annotations.read_only_hint
