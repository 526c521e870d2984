"""The server: five tools on a folder, and the ways in which each of them fails.

Run it with `mcpcore run examples/workspace/server.py -- FOLDER`, or as a program with the folder as its argument.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from typing import Annotated, Final, Literal

from mcp.types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from examples.workspace.folder import (
    MAX_BYTES,
    Folder,
    Place,
    already_exists,
    content_hash,
    too_large,
)
from examples.workspace.patching import PatchError, apply_diff, apply_edits
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, tool

MAX_ENTRIES: Final = 500
MAX_LINES: Final = 2000
MAX_CHARACTERS: Final = 60_000
MAX_MATCHES: Final = 100
MAX_FILES_SEARCHED: Final = 5000
MAX_MATCH_LENGTH: Final = 300


class PathData(TypedDict):
    """Which path failed."""

    path: str


class SizeData(TypedDict):
    """Which file is too large, in bytes."""

    path: str
    size: int
    limit: int


class ChangedData(TypedDict):
    """Which file is not what it was when it was read."""

    path: str
    expected_hash: str
    actual_hash: str


class PatchData(TypedDict):
    """Where a patch stops fitting: the edit or hunk, the line, what it expects there and what there is."""

    path: str
    index: int
    problem: str
    line: int | None
    expected: str | None
    found: str | None


INVALID_PATH: Final = FailureMode(
    "invalid_path",
    ErrorCode.VALIDATION_ERROR,
    when="The path is empty, too long, not Unicode, has a NUL, or goes round in symbolic links.",
    recovery="Call list_files and take a path from what it returns.",
    fallback_tool="list_files",
    data=PathData,
)
OUTSIDE: Final = FailureMode(
    "outside_workspace",
    ErrorCode.FORBIDDEN,
    when="The path leads out of the workspace: it is absolute, or goes up too far, or a symbolic link does.",
    recovery="Give a path that begins at the workspace, such as one that list_files returns.",
    fallback_tool="list_files",
    corrective_params={"path": "."},
    data=PathData,
)
NOT_FOUND: Final = FailureMode(
    "not_found",
    ErrorCode.NOT_FOUND,
    when="There is nothing at the path.",
    recovery="Call list_files on the folder to see what is there.",
    fallback_tool="list_files",
)
NOT_A_FOLDER: Final = FailureMode(
    "not_a_folder",
    ErrorCode.VALIDATION_ERROR,
    when="The path needs a folder where there is a file.",
    recovery="Call read_file to read the file, or give the path of a folder.",
    fallback_tool="read_file",
    data=PathData,
)
IS_A_FOLDER: Final = FailureMode(
    "is_a_folder",
    ErrorCode.VALIDATION_ERROR,
    when="The path is a folder, and a file is needed.",
    recovery="Call list_files on it, then name one of its files.",
    fallback_tool="list_files",
    data=PathData,
)
SPECIAL_FILE: Final = FailureMode(
    "special_file",
    ErrorCode.FORBIDDEN,
    when="The path is a pipe, a socket or a device.",
    recovery="Leave it alone, and name a regular file from list_files.",
    fallback_tool="list_files",
    data=PathData,
)
NOT_TEXT: Final = FailureMode(
    "not_text",
    ErrorCode.VALIDATION_ERROR,
    when="The file is not UTF-8 text.",
    recovery="Ask the user what the file holds; its tools here are for text.",
    strategy="report_to_user",
    data=PathData,
)
TOO_LARGE: Final = FailureMode(
    "too_large",
    ErrorCode.VALIDATION_ERROR,
    when=f"The file, or the content to write, has more than {MAX_BYTES:,} bytes.",
    recovery="Split the content over several files, or work with a smaller file.",
    strategy="report_to_user",
    data=SizeData,
)
ALREADY_EXISTS: Final = FailureMode(
    "already_exists",
    ErrorCode.CONFLICT,
    when="A file is to be created, and there is one already.",
    recovery="Call read_file, then write_file with the hash it returns as expected_hash.",
    fallback_tool="read_file",
    data=PathData,
)
CHANGED: Final = FailureMode(
    "content_changed",
    ErrorCode.CONFLICT,
    when="The file is not what it was when its hash was taken.",
    recovery="Call read_file again, merge the change into what it returns, and send the new hash.",
    fallback_tool="read_file",
    data=ChangedData,
)
MALFORMED: Final = FailureMode(
    "malformed_patch",
    ErrorCode.VALIDATION_ERROR,
    when="The patch is malformed: no edits and no diff, both, an empty old text, or a diff that cannot be read.",
    recovery="Send edits, a list of {old, new}; or a unified diff of this one file.",
    corrective_params={"edits": [{"old": "exact text of the file", "new": "text to put there"}]},
)
DOES_NOT_APPLY: Final = FailureMode(
    "patch_does_not_apply",
    ErrorCode.CONFLICT,
    when="The file lacks the lines that the patch expects, or has them in several places. Nothing was changed.",
    recovery="Call read_file and write the patch again from its current text, with enough lines to be unique.",
    fallback_tool="read_file",
    data=PatchData,
)

_READING: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITING: Final = ToolAnnotations(destructive_hint=True, idempotent_hint=True, open_world_hint=False)

FilePath = Annotated[str, Field(description="Path of a file, from the workspace on: 'notes/today.md'.")]
FolderPath = Annotated[str, Field(description="Path of a folder, from the workspace on; '.' is the workspace.")]
Hash = Annotated[str | None, Field(description="The hash that read_file returned, so that no other change is lost.")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ListedEntry(_Model):
    """A file, a folder, a link (not followed) or something special."""

    path: str
    kind: Literal["file", "folder", "link", "special"]
    size: int | None = Field(default=None, description="In bytes; of files only.")


class Listing(_Model):
    """What is in a folder."""

    entries: list[ListedEntry]
    truncated: bool = Field(description="Whether there is more than is listed.")


class FileText(_Model):
    """Some or all lines of a file."""

    path: str
    text: str
    hash: str = Field(description="Of the whole file; write_file and patch_file take it as expected_hash.")
    total_lines: int
    next_line: int | None = Field(default=None, description="Where to go on reading; null at the end.")


class Written(_Model):
    """A file as it is now."""

    path: str
    hash: str
    size: int = Field(description="In bytes.")
    created: bool


class Match(_Model):
    """A line that has the text."""

    path: str
    line: int
    text: str


class Matches(_Model):
    """Lines that have a text."""

    matches: list[Match]
    files_searched: int
    truncated: bool = Field(description="Whether there may be more matches than are listed.")


class Edit(_Model):
    """An exact replacement."""

    old: str = Field(description="Text of the file, exactly, with enough of it to be unique.")
    new: str = Field(description="What to put there.")
    everywhere: bool = Field(default=False, description="Replace every occurrence instead of the only one.")


class Workspace:
    """The tools, on one folder."""

    def __init__(self, folder: Folder) -> None:
        """Serve `folder`."""
        self._folder = folder

    @tool(errors=[INVALID_PATH, OUTSIDE, NOT_FOUND, NOT_A_FOLDER], title="List files", annotations=_READING)
    def list_files(
        self,
        path: FolderPath = ".",
        pattern: Annotated[str, Field(description="Glob for the paths to list, such as '*.md'.", max_length=200)] = "*",
        recursive: Annotated[bool, Field(description="Whether to list what is in folders too.")] = False,  # noqa: FBT002
    ) -> Listing:
        """List what is in a folder: paths, kinds and sizes."""
        found: list[ListedEntry] = []
        for entry in self._folder.entries(path, recursive=recursive):
            if not _matches(entry.path, pattern):
                continue
            if len(found) == MAX_ENTRIES:
                return Listing(entries=found, truncated=True)
            found.append(ListedEntry.model_validate(entry, from_attributes=True))
        return Listing(entries=found, truncated=False)

    @tool(
        errors=[INVALID_PATH, OUTSIDE, NOT_FOUND, NOT_A_FOLDER, IS_A_FOLDER, SPECIAL_FILE, NOT_TEXT, TOO_LARGE],
        title="Read a file",
        annotations=_READING,
    )
    def read_file(
        self,
        ctx: Context[Literal["not_text"]],
        path: FilePath,
        start_line: Annotated[int, Field(description="The first line to return, from 1.", ge=1)] = 1,
        max_lines: Annotated[int, Field(description="How many lines to return.", ge=1, le=MAX_LINES)] = 500,
    ) -> FileText:
        """Read lines of a text file, and the hash that a later change needs."""
        data = self._folder.read(path)
        lines = self._text(ctx, path, data).splitlines(keepends=True)
        shown: list[str] = []
        room = MAX_CHARACTERS
        for line in lines[start_line - 1 : start_line - 1 + max_lines]:
            if shown and len(line) > room:
                break
            shown.append(line[:room])
            room -= len(line)
        end = start_line + len(shown)
        return FileText(
            path=path,
            text="".join(shown),
            hash=content_hash(data),
            total_lines=len(lines),
            next_line=end if end <= len(lines) else None,
        )

    @tool(
        errors=[
            INVALID_PATH,
            OUTSIDE,
            NOT_FOUND,
            NOT_A_FOLDER,
            IS_A_FOLDER,
            SPECIAL_FILE,
            TOO_LARGE,
            ALREADY_EXISTS,
            CHANGED,
        ],
        title="Write a file",
        annotations=_WRITING,
    )
    def write_file(
        self,
        ctx: Context[Literal["content_changed"]],
        path: FilePath,
        text: Annotated[str, Field(description="The whole content of the file.")],
        expected_hash: Hash = None,
    ) -> Written:
        """Create a text file, or with expected_hash replace one. Folders on the way are created too."""
        data = text.encode("utf-8")
        if len(data) > MAX_BYTES:
            raise too_large(path, len(data))
        with self._folder.locked(), self._folder.place(path, create_folders=expected_hash is None) as place:
            if expected_hash is None:
                if place.stat is not None:
                    raise already_exists(place.path)
                self._folder.create(place, data)
            else:
                self._require_hash(ctx, place, self._folder.read_at(place), expected_hash)
                self._folder.replace(place, data)
            return Written(path=place.path, hash=content_hash(data), size=len(data), created=expected_hash is None)

    @tool(errors=[INVALID_PATH, OUTSIDE, NOT_FOUND, NOT_A_FOLDER], title="Search files", annotations=_READING)
    def search_files(
        self,
        text: Annotated[str, Field(description="The text to look for, within one line.", min_length=1, max_length=500)],
        path: FolderPath = ".",
        pattern: Annotated[
            str, Field(description="Glob for the paths to search, such as '*.py'.", max_length=200)
        ] = "*",
        ignore_case: Annotated[bool, Field(description="Whether 'a' finds 'A' too.")] = False,  # noqa: FBT002
    ) -> Matches:
        """Find the lines of text files that have a text; files that are not text, or too large, are passed over."""
        wanted = text.casefold() if ignore_case else text
        found: list[Match] = []
        searched = 0
        for entry in self._folder.entries(path, recursive=True):
            if entry.kind != "file" or (entry.size or 0) > MAX_BYTES or not _matches(entry.path, pattern):
                continue
            if searched == MAX_FILES_SEARCHED:
                return Matches(matches=found, files_searched=searched, truncated=True)
            searched += 1
            for number, line in enumerate(self._lines(entry.path), 1):
                if wanted in (line.casefold() if ignore_case else line):
                    if len(found) == MAX_MATCHES:
                        return Matches(matches=found, files_searched=searched, truncated=True)
                    found.append(Match(path=entry.path, line=number, text=line[:MAX_MATCH_LENGTH]))
        return Matches(matches=found, files_searched=searched, truncated=False)

    @tool(
        errors=[
            INVALID_PATH,
            OUTSIDE,
            NOT_FOUND,
            NOT_A_FOLDER,
            IS_A_FOLDER,
            SPECIAL_FILE,
            NOT_TEXT,
            TOO_LARGE,
            CHANGED,
            MALFORMED,
            DOES_NOT_APPLY,
        ],
        title="Patch a file",
        annotations=_WRITING,
    )
    def patch_file(
        self,
        ctx: Context[Literal["not_text", "content_changed", "malformed_patch", "patch_does_not_apply"]],
        path: FilePath,
        edits: Annotated[
            list[Edit] | None, Field(description="Exact replacements, applied one after the other.")
        ] = None,
        diff: Annotated[str | None, Field(description="A unified diff of the file, instead of edits.")] = None,
        expected_hash: Hash = None,
    ) -> Written:
        """Change parts of a text file, by exact replacements or by a unified diff: all of them, or none."""
        if (not edits) == (not diff):
            given = "both edits and a diff" if edits else "neither edits nor a diff"
            raise ctx.fail(
                "malformed_patch", f"There are {given}; send one of the two.", {"path": path, "given": given}
            )
        with self._folder.locked(), self._folder.place(path) as place:
            before = self._folder.read_at(place)
            if expected_hash is not None:
                self._require_hash(ctx, place, before, expected_hash)
            text = self._text(ctx, place.path, before)
            try:
                changed = (
                    apply_diff(text, diff)
                    if diff
                    else apply_edits(text, [(edit.old, edit.new, edit.everywhere) for edit in edits or ()])
                )
            except PatchError as exc:
                if exc.problem == "malformed":
                    raise ctx.fail("malformed_patch", str(exc), {"path": place.path, "index": exc.index}) from exc
                data: PatchData = {
                    "path": place.path,
                    "index": exc.index,
                    "problem": exc.problem,
                    "line": exc.line,
                    "expected": exc.expected,
                    "found": exc.found,
                }
                raise ctx.fail("patch_does_not_apply", str(exc), data, recovery=_read_again(place, exc.line)) from exc
            after = changed.encode("utf-8")
            self._folder.replace(place, after)
            return Written(path=place.path, hash=content_hash(after), size=len(after), created=False)

    def _text(self, ctx: Context[Literal["not_text"]], path: str, data: bytes) -> str:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as exc:
            message = f"{path!r} is not UTF-8 text: byte {exc.start} does not fit."
            raise ctx.fail("not_text", message, {"path": path}) from exc
        if "\0" in text:
            raise ctx.fail("not_text", f"{path!r} has NUL bytes, as no text has.", {"path": path})
        return text

    def _lines(self, path: str) -> list[str]:
        """The lines of a file that is searched; none where it is no text, or is gone."""
        try:
            text = self._folder.read(path).decode("utf-8")
        except (UnicodeDecodeError, CodedError):
            return []
        return [] if "\0" in text else text.splitlines()

    def _require_hash(
        self, ctx: Context[Literal["content_changed"]], place: Place, data: bytes, expected_hash: str
    ) -> None:
        actual = content_hash(data)
        if actual != expected_hash:
            raise ctx.fail(
                "content_changed",
                f"{place.path!r} has changed: its hash is {actual}, not {expected_hash[:64]}.",
                {"path": place.path, "expected_hash": expected_hash[:64], "actual_hash": actual},
                recovery=_read_again(place),
            )


def make_server(folder: str) -> Server:
    """The server on `folder`.

    Raises:
        SystemExit: If there is no such folder; the message says which.
    """
    if os.open not in os.supports_dir_fd:
        sys.exit("examples.workspace needs a system that opens files relative to folders (POSIX)")
    try:
        workspace = Workspace(Folder(folder))
    except OSError as exc:
        sys.exit(f"{folder}: {exc.strerror}; give a folder that exists")
    return Server(
        "workspace",
        version="0.1.0",
        instructions="Read before you write: write_file and patch_file take the hash that read_file returns.",
        tools=[
            workspace.list_files,
            workspace.read_file,
            workspace.write_file,
            workspace.search_files,
            workspace.patch_file,
        ],
    )


def main() -> None:
    """Serve the folder on the command line over stdio."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m examples.workspace FOLDER")
    make_server(sys.argv[1]).run()


def _matches(path: str, pattern: str) -> bool:
    """Whether a path, or its last name, fits a glob."""
    return pattern == "*" or fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path.rpartition("/")[2], pattern)


def _read_again(place: Place, line: int | None = None) -> dict[str, object]:
    """The recovery of a change that came too late: read the file again, from a little above the line."""
    arguments: dict[str, object] = {"path": place.path}
    if line is not None and line > 10:
        arguments["start_line"] = line - 10
    return {
        "hint": f"Call read_file with path={place.path!r} and make the change anew from what it returns.",
        "strategy": "check_input",
        "fallbackTool": "read_file",
        "correctiveParams": arguments,
    }


if __name__ == "__main__":
    main()
