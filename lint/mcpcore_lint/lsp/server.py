"""The language server: it keeps the open documents, checks them after each change, and answers requests.

The engine runs in one thread. A change is checked after a short pause, so that superseded keystrokes cost nothing;
documents that depend on the changed one are checked after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Final, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from mcpcore_lint.lsp import actions, reasons
from mcpcore_lint.lsp.actions import converted
from mcpcore_lint.lsp.reasons import Reading
from mcpcore_lint.lsp.workspace import Analysis, Document, Workspace
from mcpcore_lint.output import CannotRunError
from mcpcore_lint.settings import Settings

T = TypeVar("T")

_PAUSE: Final = 0.02
"""The seconds without a keystroke before a document is checked."""
_LATER: Final = 0.15
"""The same for the documents that depend on it."""
_LONGEST_PAUSE: Final = 1.0
"""The seconds after which a document is checked although its user still types."""
_IDLE: Final = 1.0
"""The seconds without work before garbage is collected. A collection takes longer than most checks."""
_GARBAGE: Final = (20_000, 200_000)
"""How many new objects make a collection worthwhile when idle, and at any time."""


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls, which loses requests with invalid parameters, and ends lines at form feeds."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message from its JSON. A request with invalid parameters is answered with an error."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), (int, str)):
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        document = params.text_document
        self._documents.open(document.uri, document.language_id, document.text, document.version)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        self._documents.change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        self._documents.close(params.text_document.uri)

    @property
    def _documents(self) -> Server:
        assert isinstance(self._server, Server)
        return self._server

    @property
    def ended_well(self) -> bool:
        """Whether the client asked for the shutdown before it left."""
        return self._shutdown


class Server(LanguageServer):
    """The server. All methods run in the thread of the event loop, and hand work to the thread of the engine."""

    def __init__(self, change: Callable[[Settings], Settings], config_path: str | None, version: str) -> None:
        super().__init__("mcpcore", version, protocol_cls=_Protocol)
        self.open_files = Workspace(change, config_path)
        self.analyses: dict[str, Analysis] = {}
        self._engine = ThreadPoolExecutor(1, "engine")
        self._due: dict[str, float] = {}
        """The documents to check, by path, each with the time of its check."""
        self._since: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._said: set[str] = set()
        self._worker: asyncio.Task[None] | None = None
        _register(self)

    # -- documents -------------------------------------------------------------------------------------------------

    def path_of(self, uri: str) -> str:
        """The absolute path of a document. One without a file is put into the first folder of the workspace."""
        path = to_fs_path(uri)
        if path is not None:
            return os.path.abspath(path)
        folder = next(iter(self.open_files.folders), os.getcwd())
        return os.path.join(folder, os.path.basename(uri.partition(":")[2]) or "untitled.py")

    @property
    def encoding(self) -> str:
        """The unit of columns that was negotiated."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))

    def document_at(self, uri: str) -> Document | None:
        """An open document."""
        return self.open_files.documents.get(self.path_of(uri))

    def open(self, uri: str, language: str, text: str, version: int) -> None:
        """Keep a document that was opened."""
        path = self.path_of(uri)
        known = language == "python" or path.endswith(".py")
        # Other schemes are old revisions, cells of notebooks and the like.
        if not known or not uri.startswith(("file:", "untitled:")):
            return
        self.open_files.uris[path] = uri
        self.open_files.documents[path] = Document(path, text, encoding=self.encoding, version=version)
        # Nothing was typed yet, so there is no keystroke to wait for.
        self._touch(path, 0)
        self._touch_others(path)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes to a document. A document that was never opened is ignored."""
        path = self.path_of(params.text_document.uri)
        document = self.open_files.documents.get(path)
        if document is not None:
            self.open_files.documents[path] = document.changed(params.content_changes, params.text_document.version)
            self._touch(path, _PAUSE)

    def close(self, uri: str) -> None:
        """Forget a document, and its findings."""
        path = self.path_of(uri)
        if self.open_files.documents.pop(path, None) is not None:
            self.open_files.uris.pop(path, None)
            self._due.pop(path, None)
            # Before its findings go, as these say what the document imports.
            self._touch_others(path)
            self.analyses.pop(path, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def recheck(self) -> None:
        """Check all documents again, since files changed on disk."""
        self.open_files.reset()
        for path in self.open_files.documents:
            self._touch(path, _LATER)

    # -- checks ----------------------------------------------------------------------------------------------------

    def _touch(self, path: str, pause: float) -> None:
        now = time.monotonic()
        self._due[path] = min(now + pause, self._since.setdefault(path, now) + _LONGEST_PAUSE)
        self._wake.set()

    def _touch_others(self, path: str) -> None:
        """Check the documents that depend on one, and those that it imports, since it may register their tools."""
        own = self.analyses.get(path)
        module = path.removesuffix(".py").removesuffix(os.sep + "__init__")
        for other, analysis in self.analyses.items():
            used = other in own.depends if own is not None else False
            if other != path and (used or path in analysis.depends or module in analysis.depends):
                self._touch(other, _LATER)

    async def work(self) -> None:
        """Check the documents that are due, until the server ends."""
        while True:
            self._wake.clear()
            path = min(self._due, key=self._due.__getitem__, default=None)
            pause = self._due[path] - time.monotonic() if path is not None else _IDLE
            if path is not None and pause <= 0:
                await self._check(path)
                self._collect(_GARBAGE[1])
                continue
            try:
                await asyncio.wait_for(self._wake.wait(), pause)
            except TimeoutError:
                if path is None:
                    self._collect(_GARBAGE[0])
                    await self._wake.wait()

    async def _check(self, path: str) -> None:
        """Check a document, and publish its findings unless it changed meanwhile."""
        del self._due[path]
        self._since.pop(path, None)
        document = self.open_files.documents.get(path)
        try:
            analysis = await self._analyse(document) if document is not None else None
            if analysis is not None and self.open_files.documents.get(path) is document:
                self._publish(analysis)
        except Exception as error:  # noqa: BLE001 - a bug here must not end the checks of all documents
            self.say(f"{path}: {type(error).__name__}: {error}")

    @staticmethod
    def _collect(limit: int) -> None:
        if gc.get_count()[0] > limit:
            gc.collect()
            if not gc.get_freeze_count():
                gc.freeze()  # the objects that remain are mostly code

    async def analysis_of(self, document: Document) -> Analysis:
        """The findings in a document, from its last check if nothing changed since."""
        known = self.analyses.get(document.path)
        current = known is not None and known.document is document and document.path not in self._due
        return known if known is not None and current else await self._analyse(document)

    async def _analyse(self, document: Document) -> Analysis:
        """Check a document. A problem of the linter is shown, and the document then has no findings."""
        try:
            return await self.run(self.open_files.analyse, document)
        except CannotRunError as error:
            self.say("\n".join(error.lines))
        except Exception as error:  # noqa: BLE001 - a bug of the linter or of a custom rule must not end the server
            self.say(f"the linter crashed on {document.path}: {type(error).__name__}: {error}")
        return Analysis(document)

    def _publish(self, analysis: Analysis) -> None:
        path = analysis.document.path
        changed = self.analyses.get(path)
        self.analyses[path] = analysis
        for problem in analysis.problems:
            self.say(problem)
        shown = [converted(diagnostic, analysis, self.open_files) for diagnostic in analysis.diagnostics]
        params = types.PublishDiagnosticsParams(self.open_files.uri_of(path), shown, version=analysis.document.version)
        self.text_document_publish_diagnostics(params)
        # Only after a change: two documents that depend on each other would be checked in turns for ever.
        if changed is None or changed.document is not analysis.document:
            self._touch_others(path)

    def run(self, function: Callable[..., T], *args: Any, **options: Any) -> asyncio.Future[T]:
        """Run a function in the thread of the engine."""
        return asyncio.get_running_loop().run_in_executor(self._engine, lambda: function(*args, **options))

    def say(self, message: str) -> None:
        """Show a problem to the user, once until the settings change."""
        if message not in self._said:
            self._said.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"mcpcore lint: {message}"))

    def forget_problems(self) -> None:
        """Show problems again that were shown before, since the settings changed."""
        self._said.clear()

    def begin(self) -> None:
        """Start to check documents, once the client is ready."""
        self.refresh_folders()
        self._worker = asyncio.create_task(self.work())
        workspace = self.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace is not None else None
        if watched is not None and watched.dynamic_registration:
            # All three decide about findings: as imported modules, as settings, and as lists of files to skip.
            globs = ("**/*.py", "**/pyproject.toml", "**/.gitignore")
            options = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher(pattern) for pattern in globs]
            )
            watching = types.Registration("mcpcore-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(types.RegistrationParams([watching]))

    def refresh_folders(self) -> None:
        """Take over the folders of the workspace."""
        uris = [folder.uri for folder in self.workspace.folders.values()] or [
            uri for uri in (self.workspace.root_uri,) if uri
        ]
        self.open_files.folders = tuple(os.path.abspath(path) for uri in uris if (path := to_fs_path(uri)) is not None)
        self.recheck()


def _register(server: Server) -> None:
    """Register the requests and notifications that the server answers."""

    async def at(params: Any, answer: Callable[..., T], match: re.Match[str] | None = None, **options: Any) -> T | None:
        """Answer a request at a position of a document from what a reading of it says."""
        document = server.document_at(params.text_document.uri)
        if document is None:
            return None
        offset = document.offset(params.position)
        tried = reasons.insertions(document, offset, match) if match is not None else ()
        line = document.source.position(offset)[0]

        def read() -> T:
            reading = Reading(server.open_files, document, line, tried)
            try:
                return answer(reading, document, offset, **options)
            finally:
                reading.checker.project.forget()

        return await server.run(read)

    @server.feature(types.INITIALIZED)
    def _(params: types.InitializedParams) -> None:  # noqa: ARG001
        server.begin()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def _(params: types.DidChangeWorkspaceFoldersParams) -> None:  # noqa: ARG001
        server.refresh_folders()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(params: types.DidChangeWatchedFilesParams) -> None:
        if any(change.uri.endswith("/pyproject.toml") for change in params.changes):
            server.forget_problems()
        server.recheck()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _(params: types.DidSaveTextDocumentParams) -> None:  # noqa: ARG001
        server.recheck()

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[*actions.KINDS]))
    async def _(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        document = server.document_at(uri)
        if document is None:
            return []
        analysis = await server.analysis_of(document)
        made, missing = await server.run(actions.actions, analysis, params.range, only, server.open_files, uri)
        if missing is not None:
            server.say(str(missing))
        return made

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _(params: types.HoverParams) -> types.Hover | None:
        return await at(params, reasons.hover)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[*reasons.TRIGGERS]))
    async def _(params: types.CompletionParams) -> list[types.CompletionItem] | None:
        document = server.document_at(params.text_document.uri)
        # Every bracket and quote triggers this, so a document is read only where a reason belongs.
        match = reasons.place_of(document, document.offset(params.position)) if document is not None else None
        return None if match is None else await at(params, reasons.completion, match, before=match)

    async def definition(params: types.DefinitionParams) -> list[types.Location] | None:
        return await at(params, reasons.definition)

    server.feature(types.TEXT_DOCUMENT_DEFINITION)(definition)
    server.feature(types.TEXT_DOCUMENT_DECLARATION)(definition)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def _(params: types.ReferenceParams) -> list[types.Location] | None:
        return await at(params, reasons.references, declared=params.context.include_declaration)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def _(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return await at(params, reasons.renamable)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def _(params: types.RenameParams) -> types.WorkspaceEdit | None:
        return await at(params, reasons.rename, name=params.new_name)


def serve(change: Callable[[Settings], Settings], config_path: str | None, version: str) -> int:
    """Serve one client on standard input and output until it leaves; return the exit code."""
    stdin, stdout = _own_streams()
    gc.disable()  # the server collects garbage when it is idle
    server = Server(change, config_path, version)
    server.start_io(stdin, stdout)
    with contextlib.suppress(OSError, ValueError):
        stdout.close()
    sys.stderr.flush()
    # A check that is still running must not keep the process alive.
    protocol = server.protocol
    os._exit(0 if isinstance(protocol, _Protocol) and protocol.ended_well else 1)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """The streams of the protocol. Everything else that reads or prints gets an empty input and standard error."""
    try:
        stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    except OSError as error:
        raise CannotRunError("--lsp needs an editor on standard input and output, and one of them is closed") from error
    with open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing.fileno(), 1)
    sys.stdout = sys.stderr
    return stdin, stdout
