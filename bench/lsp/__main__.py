"""Measures the language server over stdio, with a real client: `python -m bench.lsp [TREE]`.

Opens a project of 1,000 files, types into its documents, and measures the time from each change to the findings, with
the pause that the server makes for further keystrokes; hover, completion in a document that does not parse, and
references as well. Writes the figures to bench/results/lsp.json; exits 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from bench.lint.__main__ import memory_of
from bench.lint.tree import generate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "bench" / "results" / "lsp.json"
LIMITS: Final = {
    "keystroke in a file with tools": 0.1,
    "keystroke in the longest file with tools": 0.1,
    "keystroke in a helper": 0.1,
    "hover": 0.1,
    "completion while the file does not parse": 0.1,
}
"""Seconds, for the median."""
ROUNDS: Final = 40


class Client(LanguageClient):
    """A client that keeps the latest findings of each document."""

    def __init__(self) -> None:
        super().__init__("bench", "1")
        self.published: dict[str, tuple[int | None, int]] = {}
        self.count = 0
        self.news = asyncio.Event()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = (params.version, len(params.diagnostics))
            self.count += 1
            self.news.set()

    async def findings(self, uri: str, version: int) -> int:
        """The number of findings in a version of a document, once they are there."""
        while self.published.get(uri, (None, 0))[0] != version:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 30)
        return self.published[uri][1]


class Editor:
    """An editor with one open project."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

    async def open(self, path: Path) -> str:
        """Open a file and wait for its findings; its URI."""
        uri = path.as_uri()
        self.texts[uri], self.versions[uri] = path.read_text(), 1  # noqa: ASYNC240 - nothing else runs
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.client.findings(uri, 1)
        return uri

    def insert(self, uri: str, offset: int, text: str) -> int:
        """Type a text at an offset; the new version."""
        old = self.texts[uri]
        line = old.count("\n", 0, offset)
        at = types.Position(line, offset - (old.rfind("\n", 0, offset) + 1))
        self.texts[uri] = old[:offset] + text + old[offset:]
        self.versions[uri] += 1
        change = types.TextDocumentContentChangePartial(types.Range(at, at), text)
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return self.versions[uri]

    def where(self, uri: str, offset: int) -> dict[str, Any]:
        """The parameters of a request at an offset."""
        before = self.texts[uri][:offset]
        position = types.Position(before.count("\n"), offset - (before.rfind("\n") + 1))
        return {"text_document": types.TextDocumentIdentifier(uri), "position": position}


async def timed(action: Callable[[], Awaitable[Any]], rounds: int = ROUNDS) -> list[float]:
    """The seconds of each round, with a short rest between rounds as between words."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        await action()
        seconds.append(time.perf_counter() - start)
        await asyncio.sleep(0.05)
    return seconds


async def measure(root: Path, figures: dict[str, Any]) -> None:
    """All measurements with one server."""
    client = Client()
    start = time.perf_counter()
    await client.start_io(str(Path(sys.executable).with_name("mcpcore")), "lint", "--lsp", cwd=root)
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), workspace_folders=folders))
    client.initialized(types.InitializedParams())
    editor = Editor(client)
    tools = sorted(root.rglob("tools_*.py"))  # noqa: ASYNC240 - nothing else runs
    middle = await editor.open(tools[len(tools) // 2])
    figures["first findings after the start"] = round(time.perf_counter() - start, 3)
    longest = await editor.open(max(tools, key=lambda path: path.stat().st_size))
    helper = await editor.open(max(tools[len(tools) // 2].parent.glob("service_*.py")))
    for path in tools[:10]:
        await editor.open(path)

    def keystroke(uri: str, at: str = "    total = 0\n") -> Callable[[], Awaitable[Any]]:
        async def typed() -> None:
            version = editor.insert(uri, editor.texts[uri].index(at) + len(at), "    # x\n")
            await client.findings(uri, version)

        return typed

    async def hover() -> None:
        reason = editor.texts[middle].rindex('ctx.fail("no_match') + len('ctx.fail("n')
        answer = await client.text_document_hover_async(types.HoverParams(**editor.where(middle, reason)))
        assert answer is not None

    async def completion() -> None:
        entries = await client.text_document_completion_async(types.CompletionParams(**editor.where(middle, cursor)))
        assert isinstance(entries, (list, tuple)), entries
        assert len(entries) == 2, entries

    async def references() -> None:
        reason = editor.texts[middle].rindex('ctx.fail("no_match') + len('ctx.fail("n')
        context = types.ReferenceContext(include_declaration=True)
        where = editor.where(middle, reason)
        places = await client.text_document_references_async(types.ReferenceParams(context=context, **where))
        assert places is not None
        assert len(places) > 2, places

    measures: dict[str, Callable[[], Awaitable[Any]]] = {
        "keystroke in a file with tools": keystroke(middle),
        "keystroke in the longest file with tools": keystroke(longest),
        "keystroke in a helper": keystroke(helper, "        seen: set[str] = set()\n"),
        "hover": hover,
        "completion while the file does not parse": completion,
        "references in the project": references,
    }
    end = '        raise ctx.fail("queue_full")\n'
    for name, action in measures.items():
        if action is completion:
            place = editor.texts[middle].rindex(end)
            await client.findings(middle, editor.insert(middle, place, '        raise ctx.fail("\n'))
            cursor = place + len('        raise ctx.fail("')
        elif action is references:
            editor.insert(middle, cursor, '")')
        await action()
        seconds = await timed(action, 5 if action is references else ROUNDS)
        median, most = statistics.median(seconds), max(seconds)
        figures[name] = {"median": round(median, 4), "most": round(most, 4)}
        limit = LIMITS.get(name)
        bound = f"  limit {limit:g} s" if limit is not None else ""
        print(f"  {name:<44}{median:>9.4f} s   at most {most:.4f} s{bound}")
    before = client.count
    for _ in range(100):
        version = editor.insert(longest, editor.texts[longest].index("    total = 0\n"), "    # y\n")
        await asyncio.sleep(0.005)
    await client.findings(longest, version)
    figures["checks for 100 keystrokes in half a second"] = client.count - before
    print(f"  {'checks for 100 keystrokes in half a second':<44}{client.count - before:>9}")
    figures["memory"] = round(memory_of(client._server.pid) / 1024)  # noqa: SLF001
    print(f"  {'memory':<44}{figures['memory']:>9} MB")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def main() -> int:
    """Measure, print, write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench.lsp", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tree", nargs="?", type=Path, help="measure on this folder instead of a generated one")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = arguments.tree.resolve() if arguments.tree else Path(folder) / "tree"
        if arguments.tree is None:
            tree = generate(root, files=1_000, lines=340_000)
            figures["tree"] = {"files": tree.files, "lines": tree.lines, "tool_files": tree.tool_files}
            print(f"{tree.files:,} files, {tree.lines:,} lines, {tree.tool_files} files with tools")
        asyncio.run(measure(root, figures))
    if arguments.tree is None:
        machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
        record = {"python": platform.python_version(), "machine": machine, **figures}
        RESULTS.write_text(json.dumps(record, indent=2) + "\n")
    broken = [name for name, limit in LIMITS.items() if figures[name]["median"] > limit]
    for name in broken:
        print(f"OVER THE LIMIT: {name} takes {figures[name]['median']} s, and may take {LIMITS[name]:g} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
