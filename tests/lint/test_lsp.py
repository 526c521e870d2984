"""`mcpcore lint --lsp` with a real client over a real process."""

from __future__ import annotations

import asyncio
import cProfile
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from mcpcore_lint.lsp import actions
from mcpcore_lint.lsp.workspace import Document
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from mcpcore.values import site
from tests.files import write_files

COMMAND = [sys.executable, "-m", "mcpcore_lint", "--lsp"]
ERRORS = """\
from mcpcore import ErrorCode, FailureMode

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="The *queue* is full.", recovery="Wait a bit and then retry.")
"""
HELPER = """\
from mcpcore import Context, not_found
from typing import Literal


def check(ctx: Context[Literal["no_match"]], number: int) -> None:
    if number > 3:
        raise ctx.fail("no_match")
"""
SERVER = """\
from typing import Literal

from errors import BUSY
from helper import check
from mcpcore import Context, ErrorCode, FailureMode, Server, tool


@tool(
    errors=[
        BUSY,
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing.", recovery="Call search to find valid numbers."),
    ]
)
async def fetch(ctx: Context[Literal["busy", "no_match"]], number: int) -> str:
    \"\"\"Fetch one thing.\"\"\"
    check(ctx, number)
    raise ctx.fail(BUSY)


server = Server("numbers", tools=[fetch])
"""


class Editor:
    """A client, used without `await`."""

    def __init__(self, root, encoding="utf-16", command=COMMAND):
        self.root = root
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("tests", "1")
        self.news = asyncio.Event()
        self.findings, self.shown, self.texts, self.versions = {}, [], {}, {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params):
            self.findings[params.uri] = params
            self.news.set()

        self.registered = []

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(params):
            self.registered += [registration.method for registration in params.registrations]
            self.news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def _(params):
            self.shown.append(params.message)
            self.news.set()

        self.run(self.client.start_io(*command, cwd=root))
        watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        capabilities = types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(did_change_watched_files=watching),
            general=types.GeneralClientCapabilities(position_encodings=[encoding]),
        )
        folders = [types.WorkspaceFolder(root.as_uri(), "tests")]
        params = types.InitializeParams(capabilities, workspace_folders=folders)
        assert encoding == self.run(self.client.initialize_async(params)).capabilities.position_encoding
        self.client.initialized(types.InitializedParams())

    def run(self, awaitable):
        return self.loop.run_until_complete(asyncio.wait_for(awaitable, 10))

    def write(self, name, text):
        write_files(self.root, {name: text})
        return self.root / name

    def until(self, holds):
        async def wait():
            while not holds():
                self.news.clear()
                await self.news.wait()

        self.run(wait())

    def open(self, name, text):
        uri = (self.root / name).as_uri()
        # Findings of an earlier document of this name, which may still be on their way, have another version.
        self.texts[uri], self.versions[uri] = text, self.versions.get(uri, 0) + 1
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, self.versions[uri], text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri, text):
        self.texts[uri] = text
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def close(self, uri):
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def rules(self, uri):
        """The (line, rule) of the findings in the current version."""
        self.until(lambda: uri in self.findings and self.findings[uri].version == self.versions[uri])
        return [(diagnostic.range.start.line + 1, diagnostic.code) for diagnostic in self.findings[uri].diagnostics]

    def at(self, uri, before, after=""):
        """The parameters of a request between two texts."""
        offset = self.texts[uri].index(before + after) + len(before)
        line = self.texts[uri].count("\n", 0, offset)
        column = offset - (self.texts[uri].rfind("\n", 0, offset) + 1)
        return {"text_document": types.TextDocumentIdentifier(uri), "position": types.Position(line, column)}

    def ask(self, name, params):
        return self.run(getattr(self.client, f"text_document_{name}_async")(params))

    def actions(self, uri, line, only=None):
        at = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
        context = types.CodeActionContext([], only=only)
        return self.ask("code_action", types.CodeActionParams(types.TextDocumentIdentifier(uri), at, context))

    def applied(self, uri, edits):
        """The text of a document after edits."""
        document = Document("x.py", self.texts[uri])
        text = self.texts[uri]
        for edit in sorted(edits, key=lambda edit: document.offset(edit.range.start), reverse=True):
            text = text[: document.offset(edit.range.start)] + edit.new_text + text[document.offset(edit.range.end) :]
        return text

    def end(self):
        self.run(self.client.shutdown_async(None))
        self.client.exit(None)
        code = self.run(self.client._server.wait())
        self.run(self.client.stop())
        self.loop.close()
        return code


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    editor = Editor(tmp_path_factory.mktemp("project"))
    editor.write("pyproject.toml", '[tool.mcpcore.lint]\nexclude = ["old"]\n')
    editor.write("errors.py", ERRORS)
    editor.write("helper.py", HELPER)
    yield editor
    assert 0 == editor.end()
    assert not editor.shown


@pytest.fixture
def server(editor):
    uri = editor.open("server.py", SERVER)
    assert [] == editor.rules(uri)
    yield uri
    editor.close(uri)


def test_findings_follow_unsaved_texts_of_other_documents(editor, server):
    """A change of a helper, which is not saved, updates the findings of the open server that calls it."""
    helper = editor.open("helper.py", HELPER)
    assert [] == editor.rules(helper)
    editor.change(helper, HELPER.replace('raise ctx.fail("no_match")', "pass"))
    editor.until(lambda: editor.findings[server].diagnostics)
    (finding,) = editor.findings[server].diagnostics
    assert ("error-contract-unthrown", "mcpcore") == (finding.code, finding.source)
    assert site.page("rules/error-contract-unthrown") == (finding.code_description and finding.code_description.href)
    editor.close(helper)
    editor.until(lambda: not editor.findings[server].diagnostics)
    assert [] == list(editor.findings[helper].diagnostics)


def test_files_changed_on_disk_are_read_again(editor, server):
    """Deleted files and changed settings matter without a restart, and an excluded file has no findings."""
    excluded = editor.open("old/server.py", SERVER.replace("raise ctx.fail(BUSY)", 'raise ctx.fail("nothing")'))
    assert [] == editor.rules(excluded)
    editor.until(lambda: editor.registered == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES])
    settings = editor.write("pyproject.toml", "[tool.mcpcore.lint]\n")
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    editor.until(lambda: editor.findings[excluded].diagnostics)
    editor.write("pyproject.toml", '[tool.mcpcore.lint]\nexclude = ["old"]\n')
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    editor.until(lambda: not editor.findings[excluded].diagnostics)
    editor.close(excluded)


def test_without_libcst_only_the_fixes_are_missing(tmp_path):
    """The findings and the other actions are there; the first question for a fix shows once what to install."""
    code = "import runpy, sys; sys.modules['libcst'] = None; runpy.run_module('mcpcore_lint', run_name='__main__')"
    editor = Editor(tmp_path, command=[sys.executable, "-c", code, "--lsp"])
    text = SERVER.replace("    raise ctx.fail(BUSY)", '    raise ctx.fail("no_mach")')
    editor.write("errors.py", ERRORS)
    editor.write("helper.py", HELPER)
    server = editor.open("server.py", text)
    assert (17, "error-contract-fail-undeclared") in editor.rules(server)
    assert [] == editor.shown
    for only in (None, None, ["source.fixAll.mcpcore"]):
        actions = editor.actions(server, 17, only=only)
        assert [True] * len(actions) == [action.title.startswith("Ignore") for action in actions]
        assert bool(actions) == (only is None)
    editor.until(lambda: editor.shown)
    assert 1 == len(editor.shown)
    assert 'needs libcst, which is not installed; run: pip install "mcpcore[cli]"' in editor.shown[0]
    assert 0 == editor.end()


def test_fixes_and_suppressions_are_code_actions(editor, server):
    """Each fix is a small edit; a suppression hides its finding; `source.fixAll.mcpcore` makes all safe fixes."""
    text = SERVER.replace("    raise ctx.fail(BUSY)", '    raise ctx.fail("no_mach", "😀")  # here')
    editor.change(server, text)
    assert (17, "error-contract-fail-undeclared") in editor.rules(server)
    fix = next(action for action in editor.actions(server, 17) if not action.title.startswith("Ignore"))
    (edit,) = fix.edit.changes[server]
    assert len(edit.new_text) < 12
    assert 'ctx.fail("no_match", "😀")  # here' in editor.applied(server, [edit])
    ignore = next(action for action in editor.actions(server, 17) if action.title.startswith("Ignore"))
    editor.change(server, editor.applied(server, ignore.edit.changes[server]))
    assert "  # mcpcore: ignore[error-contract-fail-undeclared] " in editor.texts[server].splitlines()[16]
    assert (17, "error-contract-fail-undeclared") not in editor.rules(server)
    editor.change(server, SERVER.replace('"busy", "no_match"]', '"busy", "no_match", "other"]'))
    assert [(14, "error-contract-context-mismatch")] == editor.rules(server)
    (everything,) = editor.actions(server, 1, only=["source.fixAll"])
    assert "source.fixAll.mcpcore" == everything.kind
    editor.change(server, editor.applied(server, everything.edit.changes[server]))
    assert [] == editor.rules(server)
    assert SERVER == editor.texts[server]


def test_hover_shows_the_entry_of_a_reason_and_where_it_is_raised(editor, server):
    """Text of the source is escaped, since Markdown of an editor can hold links."""
    text = editor.ask("hover", types.HoverParams(**editor.at(server, "ctx.fail(B", "USY)"))).contents.value
    for part in (
        "**When**: The \\*queue\\* is full.",
        "**Recovery**: Wait a bit and then retry.",
        "RATE\\_LIMITED",
        "retryable after 30 seconds",
        f"[server.py:17]({server}#L17)",
    ):
        assert part in text
    assert editor.ask("hover", types.HoverParams(**editor.at(server, "async def fe", "tch"))) is None


@pytest.mark.parametrize(
    ("old", "new", "cursor", "expected"),
    [
        ("raise ctx.fail(BUSY)", 'raise ctx.fail("', 'raise ctx.fail("', ["busy", "no_match"]),
        ("raise ctx.fail(BUSY)", 'raise ctx.fail(\n        "no', '    "no', ["busy", "no_match"]),
        ("raise ctx.fail(BUSY)", "if number: raise ctx.fail(", "number: raise ctx.fail(", ['"busy"', '"no_match"']),
        ("check(ctx, number)", 'with ctx.guard({ValueError: "', 'ValueError: "', ["busy", "no_match"]),
        ('["busy", "no_match"]]', '["busy", "', '["busy", "', ["no_match"]),
        ('["busy", "no_match"]], number: int) -> str:', "[", "Context[Literal[", ['"busy"', '"no_match"']),
        ("check(ctx, number)", 'other.fail("', 'other.fail("', []),
    ],
)
def test_reasons_are_completed_while_the_file_does_not_parse(editor, server, old, new, cursor, expected):
    """Typing leaves quotes and brackets open most of the time."""
    editor.change(server, SERVER.replace(old, new))
    items = editor.ask("completion", types.CompletionParams(**editor.at(server, cursor))) or []
    assert expected == [completion.text_edit.new_text for completion in items]


def test_a_helper_is_completed_from_the_annotation_of_its_context(editor):
    """A helper has no contract."""
    uri = editor.open("helper.py", HELPER.replace('fail("no_match")', 'fail("'))
    items = editor.ask("completion", types.CompletionParams(**editor.at(uri, 'ctx.fail("')))
    assert ["no_match"] == [completion.label for completion in items]
    editor.close(uri)


def places(locations):
    return sorted((Path(location.uri).name, location.range.start.line + 1) for location in locations or ())


def test_a_reason_leads_to_its_declaration_and_to_its_uses_in_the_project(editor, server):
    """From a helper that declares nothing, the entry of the tool that calls it is found."""
    helper = editor.open("helper.py", HELPER)
    where = editor.at(helper, 'ctx.fail("no_', "match")
    assert [("server.py", 11)] == places(editor.ask("definition", types.DefinitionParams(**where)))
    context = types.ReferenceContext(include_declaration=True)
    uses = editor.ask("references", types.ReferenceParams(context=context, **where))
    assert [("helper.py", 5), ("helper.py", 7), ("server.py", 11), ("server.py", 14)] == places(uses)
    busy = editor.ask("references", types.ReferenceParams(context=context, **editor.at(server, '"bu', 'sy"')))
    assert [("errors.py", 3), ("server.py", 14), ("server.py", 17)] == places(busy)
    editor.close(helper)


def test_an_alias_and_a_recovery_are_uses_of_a_reason(editor, server):
    """An alias of `Literal` names reasons, and so does `ctx.recovery_for`."""
    text = SERVER.replace('Context[Literal["busy", "no_match"]]', "Context[Reasons]").replace(
        "    check(ctx, number)", '    check(ctx, number)\n    ctx.recovery_for("no_match")'
    )
    editor.change(server, text.replace("@tool", 'Reasons = Literal["busy", "no_match"]\n\n\n@tool', 1))
    context = types.ReferenceContext(include_declaration=False)
    where = editor.at(server, 'recovery_for("no_', "match")
    uses = places(editor.ask("references", types.ReferenceParams(context=context, **where)))
    assert [8, 20] == [line for name, line in uses if name == "server.py"]


def test_renaming_a_reason_edits_every_use(editor, server):
    """Uses in files that are not open are edited as well. A name that is not a reason or not free is refused."""
    where = editor.at(server, 'Literal["busy", "no', "_match")
    assert "no_match" == editor.ask("prepare_rename", types.PrepareRenameParams(**where)).placeholder
    changes = editor.ask("rename", types.RenameParams(new_name="nothing", **where)).changes
    assert {server, (editor.root / "helper.py").as_uri()} == set(changes)
    assert SERVER.replace("no_match", "nothing") == editor.applied(server, changes[server])
    for name in ("busy", "not a reason"):
        with pytest.raises(JsonRpcException, match=name):
            editor.ask("rename", types.RenameParams(new_name=name, **where))


def test_a_strange_client_does_not_end_the_server(editor, server):
    """Unknown documents, positions outside of the text and texts that are not Unicode are answered."""
    unknown = types.VersionedTextDocumentIdentifier(2, "file:///never-opened.py")
    whole = types.TextDocumentContentChangeWholeDocument("x")
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(unknown, [whole]))
    for position in (types.Position(2**31 - 1, 0), types.Position(16, 2**31 - 1)):
        assert editor.ask("hover", types.HoverParams(types.TextDocumentIdentifier(server), position)) is None
    for number, text in enumerate(("x = '\ud83d'\n", "x = '\0'\n", f"x = {'(' * 3000}\n")):
        uri = editor.open(f"strange_{number}.py", text)
        assert [(1, "parse-error")] == editor.rules(uri)
        editor.close(uri)
    same = editor.open(
        "strange.py", f"\ufeff\f{SERVER}".replace("\n", "\r\n").replace("ctx.fail(BUSY)", 'ctx.fail("x")')
    )
    assert [(17, "error-contract-fail-undeclared")] == [finding for finding in editor.rules(same) if finding[0] == 17]
    editor.close(same)


@pytest.mark.parametrize(
    "text",
    ["x = " + "(" * 5_000, "x = '\0'\n", "x = " + " + ".join("a" * 10_000) + "\n", "x = 1\n" * 20_000],
    ids=["brackets", "null bytes", "a sum", "many equal lines"],
)
def test_a_document_that_ends_the_analysis_costs_its_own_answers(editor, text):
    """The server answers for it, and for the documents after it."""
    hostile = editor.open("hostile.py", text)
    assert not editor.actions(hostile, 1, [actions.FIX_ALL])
    editor.close(hostile)
    assert [(1, "parse-error")] == editor.rules(editor.open("after.py", "x = (\n"))
    editor.close((editor.root / "after.py").as_uri())


def test_edits_of_many_equal_lines_take_a_time_that_grows_with_their_number():
    """A fix at each end of a long file replaces the lines between them, or leaves them alone."""
    before = "x = 1\n" * 20_000
    after = f"import a\n{before}y = 2\n"
    document = Document("x.py", before)
    profile = cProfile.Profile()
    edits = profile.runcall(document.edits_to, after)
    assert sum(entry.callcount for entry in profile.getstats()) < 500_000
    events = [types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text) for edit in edits[::-1]]
    assert after == document.changed(events, 2).source.text
    assert [] == document.edits_to(before)


def test_places_without_a_reason_have_no_answer(editor, server):
    """Neither has a document that is not open, or whose scheme is that of an old revision."""
    context = types.ReferenceContext(include_declaration=True)
    old = server.replace("file:", "git:").replace("server.py", "revision.py")
    editor.client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(old, types.LanguageKind.Python, 1, SERVER))
    )
    for uri in (server, old):
        where = {**editor.at(server, "async def fe", "tch"), "text_document": types.TextDocumentIdentifier(uri)}
        answers = [
            editor.ask("definition", types.DefinitionParams(**where)),
            editor.ask("references", types.ReferenceParams(context=context, **where)),
            editor.ask("prepare_rename", types.PrepareRenameParams(**where)),
            editor.ask("rename", types.RenameParams(new_name="other", **where)),
        ]
        assert not any(answers), answers
    assert not editor.actions(old, 1)


def test_an_unsaved_document_and_an_undeclared_reason(editor, server):
    """A document without a file is checked in the first folder of the workspace."""
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(server)))
    uri = "untitled:new.py"
    editor.texts[uri], editor.versions[uri] = SERVER.replace("ctx.fail(BUSY)", 'ctx.fail("x")'), 1
    item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, editor.texts[uri])
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert (17, "error-contract-fail-undeclared") in editor.rules(uri)
    hover = editor.ask("hover", types.HoverParams(**editor.at(uri, 'ctx.fail("', "x")))
    assert "**x** is not declared by the contract of this tool" in hover.contents.value
    editor.close(uri)


def test_a_suppression_gets_one_more_rule(editor, server):
    """The comment of the line is extended, and a finding about the comment itself cannot be ignored."""
    comment = "  # mcpcore: ignore[no-fake-empty] it is so"
    editor.change(server, SERVER.replace("ctx.fail(BUSY)", 'ctx.fail("x")' + comment))
    assert {"unused-ignore", "error-contract-fail-undeclared"} <= {rule for _, rule in editor.rules(server)}
    ignoring = [action for action in editor.actions(server, 17) if action.title.startswith("Ignore")]
    assert ["Ignore error-contract-fail-undeclared here"] == [action.title for action in ignoring]
    text = editor.applied(server, ignoring[0].edit.changes[server])
    assert "# mcpcore: ignore[no-fake-empty, error-contract-fail-undeclared] it is so" in text


def test_a_problem_of_the_linter_is_shown_and_does_not_end_the_server(tmp_path):
    """Invalid settings are reported once; the process ends when its input does."""
    editor = Editor(tmp_path, "utf-8")
    editor.write("pyproject.toml", "[tool.mcpcore.lint]\nselct = []\n")
    assert [] == editor.rules(editor.open("server.py", SERVER))
    editor.until(lambda: editor.shown)
    (message,) = editor.shown
    assert "selct: unknown key; did you mean 'select'?" in message
    assert 0 == editor.end()


def test_a_request_with_invalid_parameters_is_answered(tmp_path):
    """With an error of the protocol; the requests after it are answered too."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
        {"id": 2, "method": "textDocument/hover", "params": {"position": 1}},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    done = subprocess.run(COMMAND, cwd=tmp_path, input=sent, capture_output=True, timeout=30, check=False)
    assert 0 == done.returncode
    assert b'{"error": {"code": -32602, "message": "Invalid Params"}, "jsonrpc": "2.0", "id": 2}' in done.stdout
    assert b'{"id": 3, "jsonrpc": "2.0", "result": null}' in done.stdout


def test_the_process_ends_with_its_input():
    """A client that is killed leaves no process behind, and the exit code says that it did not shut the server down."""
    done = subprocess.run(COMMAND, input=b"", capture_output=True, timeout=30, check=False)
    assert (1, b"") == (done.returncode, done.stdout)
    refused = subprocess.run([*COMMAND, "--fix"], input=b"", capture_output=True, timeout=30, check=False)
    assert 2 == refused.returncode
    assert b"leave --fix out" in refused.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_incremental_changes_match_the_text_of_the_client(encoding):
    """Whatever lies between: characters of several units, byte-order marks, form feeds and all line ends."""
    units = {
        "utf-8": lambda char: len(char.encode()),
        "utf-16": lambda char: 1 + (char > "\uffff"),
        "utf-32": lambda _: 1,
    }
    pick = random.Random(7)
    alphabet = ["a", "é", "€", "😀", "\n", "\r\n", "\r", "\f", "\u2028", "\t"]

    def text(length):
        return "".join(pick.choice(alphabet) for _ in range(pick.randrange(length)))

    for bom in ("", "\ufeff"):
        whole = bom + text(60)
        document = Document("x.py", whole, encoding=encoding)
        for version in range(150):
            lines = _split(whole)
            ends = []
            for _ in range(2):
                line = pick.randrange(len(lines))
                bare = lines[line].rstrip("\r\n")
                column = pick.randrange(1 if bom and not line else 0, len(bare) + 1) if bare else 0
                offset = sum(map(len, lines[:line])) + column
                ends.append((offset, types.Position(line, sum(units[encoding](char) for char in bare[:column]))))
            (start, first), (end, last) = sorted(ends, key=lambda place: place[0])
            new = text(5)
            whole = whole[:start] + new + whole[end:]
            change = types.TextDocumentContentChangePartial(types.Range(first, last), new)
            assert first == document.position(start - len(bom))
            document = document.changed([change], version)
            assert whole == bom + document.source.text


def _split(text):
    """The lines of a text as the protocol counts them."""
    lines = [""]
    for index, char in enumerate(text):
        lines[-1] += char
        if char == "\n" or (char == "\r" and text[index + 1 : index + 2] != "\n"):
            lines.append("")
    return lines
