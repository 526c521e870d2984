"""`python -m examples.demo`: what an agent sees of a server whose failures are declared.

The demo starts the workspace server on a temporary folder as a separate process, calls its tools over stdio with the
SDK's client, and prints the answers unchanged.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from examples.workspace.folder import MAX_BYTES
from mcpcore import Envelope
from mcpcore.contract.failure_modes import CONTRACT_META_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT: Final = Path(__file__).resolve().parent.parent
SERVER: Final = Path(__file__).with_name("demo_server.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One call: what happens before it, and what it is to show.

    Attributes:
        title: What is shown.
        tool: The tool to call.
        arguments: Its arguments.
        reason: The reason that the failure must have; None for a success.
        before: A change to the folder that happens before the call.
        full: Whether the structured content is printed too.
    """

    title: str
    tool: str
    arguments: Mapping[str, Any]
    reason: str | None
    before: Callable[[Path], object] | None = None
    full: bool = field(default=False)


TODAY: Final = "notes/today.md"
NOTES: Final = "# Today\n\nBuy milk.\nBuy bread.\n"

SUCCESS: Final = Scene(title="A success", tool="read_file", arguments={"path": TODAY}, reason=None, full=True)

FAILURES: Final = (
    Scene(
        title="Not found: the hint has the name that was meant",
        tool="read_file",
        arguments={"path": "notes/tody.md"},
        reason="not_found",
        full=True,
    ),
    Scene(
        title="Outside, by way of '..'",
        tool="read_file",
        arguments={"path": "../../etc/passwd"},
        reason="outside_workspace",
    ),
    Scene(
        title="Outside, by way of a symbolic link",
        tool="read_file",
        arguments={"path": "elsewhere/passwd"},
        reason="outside_workspace",
        before=lambda folder: (folder / "elsewhere").symlink_to("/etc"),
    ),
    Scene(
        title="A path that no file can have",
        tool="read_file",
        arguments={"path": "notes/\0.md"},
        reason="invalid_path",
    ),
    Scene(title="A folder where a file is needed", tool="read_file", arguments={"path": "notes"}, reason="is_a_folder"),
    Scene(title="A file where a folder is needed", tool="list_files", arguments={"path": TODAY}, reason="not_a_folder"),
    Scene(
        title="A pipe, which would block whoever reads it",
        tool="read_file",
        arguments={"path": "pipe"},
        reason="special_file",
        before=lambda folder: os.mkfifo(folder / "pipe"),
    ),
    Scene(
        title="Not text",
        tool="read_file",
        arguments={"path": "photo.jpg"},
        reason="not_text",
        before=lambda folder: (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0"),
    ),
    Scene(
        title="Too large",
        tool="read_file",
        arguments={"path": "log.txt"},
        reason="too_large",
        before=lambda folder: (folder / "log.txt").write_bytes(b"x" * (MAX_BYTES + 1)),
    ),
    Scene(
        title="A new file where one is already",
        tool="write_file",
        arguments={"path": TODAY, "text": "# Tomorrow\n"},
        reason="already_exists",
    ),
    Scene(
        title="Someone else changed the file since it was read",
        tool="write_file",
        arguments={"path": TODAY, "text": "# Tomorrow\n", "expected_hash": "{hash}"},
        reason="content_changed",
        before=lambda folder: (folder / TODAY).write_text(NOTES + "Call Ann.\n"),
    ),
    Scene(
        title="A patch that does not apply",
        tool="patch_file",
        arguments={"path": TODAY, "diff": "@@ -3,2 +3,2 @@\n Buy milk.\n-Buy butter.\n+Buy jam.\n"},
        reason="patch_does_not_apply",
    ),
    Scene(title="A patch without a change", tool="patch_file", arguments={"path": TODAY}, reason="malformed_patch"),
)

BAD_ARGUMENTS: Final = Scene(
    title="Arguments that do not fit",
    tool="read_file",
    arguments={"pth": TODAY, "start_line": "first"},
    reason="invalid_arguments",
    full=True,
)

CRASH: Final = Scene(
    title="A crash: a bug in a tool, met by an empty file",
    tool="line_statistics",
    arguments={"path": "empty.txt"},
    reason=None,
    before=lambda folder: (folder / "empty.txt").touch(),
    full=True,
)


class Printer:
    """Prints to a terminal with colours, and plainly to anything else or where NO_COLOR is set."""

    def __init__(self, out: IO[str]) -> None:
        """Print to `out`."""
        self._out = out
        self._colour = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def title(self, text: str) -> None:
        """The heading of a part."""
        self.line()
        self.line(self._styled("1;36", text))
        self.line(self._styled("36", "=" * len(text)))

    def scene(self, text: str) -> None:
        """The heading of a call."""
        self.line()
        self.line(self._styled("1", f"> {text}"))

    def label(self, text: str) -> None:
        """Print a label for the next block."""
        self.line(self._styled("2", f"  {text}"))

    def block(self, text: str, *, failed: bool = False) -> None:
        """A block as it came, set in by a bar."""
        bar = self._styled("31" if failed else "32", "  |")
        for line in text.split("\n"):
            self.line(f"{bar} {line}".rstrip())

    def line(self, text: str = "") -> None:
        """A line as it is."""
        print(text, file=self._out)

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


class Demonstration:
    """The calls, one after the other, on a server that runs."""

    def __init__(self, client: Client, folder: Path, log: IO[str], printer: Printer) -> None:
        """Call through `client`; the server works on `folder` and logs to `log`."""
        self._client = client
        self._folder = folder
        self._log = log
        self._print = printer
        self._hash = ""
        self.shown: set[str] = set()

    async def run(self) -> None:
        """Show all of it.

        Raises:
            SystemExit: If a call does not show what it is there for, or a declared failure is not shown.
        """
        declared = await self._declared()
        self._print.title("1. A success")
        read = await self._show(SUCCESS)
        self._hash = (read.structured_content or {})["hash"]
        self._print.title("2. Each failure that the tools declare")
        for scene in FAILURES:
            await self._show(scene)
        self._print.title("3. Arguments that do not fit the tool")
        await self._show(BAD_ARGUMENTS)
        self._print.title("4. A crash")
        self._print.line(
            textwrap.fill(
                "The tool line_statistics exists only for this demonstration and has a bug: it divides by the number "
                "of lines. The failure is not declared, so the client learns only that there was one, and its id. The "
                "details are in the server's log, under the same id.",
                width=100,
            )
        )
        crashed = await self._show(CRASH)
        self._show_log(crashed)
        missing = declared - self.shown
        if missing:
            sys.exit(f"the demonstration shows no failure with the reason {', '.join(sorted(missing))}")
        self._print.line()
        listing = ".venv/bin/mcpcore call examples/workspace/server.py --list -- ."
        self._print.line(f"{len(declared)} declared failures, each shown. The contracts: {listing}")

    async def _declared(self) -> set[str]:
        tools = (await self._client.list_tools()).tools
        return {entry["reason"] for tool in tools for entry in (tool.meta or {}).get(CONTRACT_META_KEY, ())}

    async def _show(self, scene: Scene) -> CallToolResult:
        if scene.before is not None:
            scene.before(self._folder)
        arguments = {key: self._hash if value == "{hash}" else value for key, value in scene.arguments.items()}
        result = await self._client.call_tool(scene.tool, arguments)
        failure = Envelope.from_result(result)
        self._check(scene, failure)
        self._print.scene(f"{scene.title}: {scene.tool} {json.dumps(arguments, ensure_ascii=False)}")
        failed = bool(result.is_error)
        for block in result.content:
            if isinstance(block, TextContent):
                self._print.label("content: what most agents read")
                self._print.block(block.text, failed=failed)
        if scene.full:
            self._print.label("structuredContent: what programs read")
            self._print.block(json.dumps(result.structured_content, indent=2, ensure_ascii=False), failed=failed)
        elif failed:
            self._print.label("structuredContent: the same, as above")
        return result

    def _check(self, scene: Scene, failure: Envelope | None) -> None:
        if (failure is not None) != (scene is not SUCCESS):
            sys.exit(f"{scene.title}: expected {'a success' if failure else 'a failure'}, got {failure or 'none'}")
        if failure is not None and failure.reason != scene.reason:
            sys.exit(f"{scene.title}: expected the reason {scene.reason}, got {failure.reason}: {failure.message}")
        if failure is not None and failure.reason is not None:
            self.shown.add(failure.reason)

    def _show_log(self, crashed: CallToolResult) -> None:
        failure = Envelope.from_result(crashed)
        assert failure is not None
        self._log.seek(0)
        lines = self._log.read().splitlines()
        start = next((at for at, line in enumerate(lines) if failure.correlation_id in line), None)
        if start is None:
            sys.exit(f"the server's log has nothing under the id {failure.correlation_id}")
        self._print.label(f"the server's log, under the id {failure.correlation_id}: for the operator alone")
        end = next((at for at in range(start + 1, len(lines)) if lines[at][:4].isdigit()), len(lines))
        told = lines[start:end]
        self._print.block("\n".join(told if len(told) <= 8 else [*told[:2], "  …", *told[-4:]]))


async def main() -> None:
    """Set up the folder and the server, and show the calls."""
    printer = Printer(sys.stdout)
    with (
        tempfile.TemporaryDirectory(prefix="workspace-") as name,
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log,
    ):
        folder = Path(name).resolve()  # noqa: ASYNC240 - before there is anything to wait for
        (folder / "notes").mkdir()
        (folder / TODAY).write_text(NOTES)
        printer.line("mcpcore: a server on a folder, started as a process, called through the SDK's client over stdio.")
        command = [sys.executable, "-m", "mcpcore", "run", str(SERVER), "--", str(folder)]
        parameters = StdioServerParameters(command=command[0], args=command[1:], cwd=ROOT, env=dict(os.environ))
        async with Client(stdio_client(parameters, errlog=log)) as client:
            await Demonstration(client, folder, log, printer).run()


if __name__ == "__main__":
    anyio.run(main)
