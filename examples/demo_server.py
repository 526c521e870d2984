"""The workspace server with one tool more, which has a bug: the demonstration needs a crash, and a real one."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from examples.workspace.folder import Folder
from examples.workspace.server import (
    INVALID_PATH,
    IS_A_FOLDER,
    NOT_A_FOLDER,
    NOT_FOUND,
    OUTSIDE,
    SPECIAL_FILE,
    TOO_LARGE,
    make_server as make_workspace_server,
)
from mcpcore import Server, tool


class LineStatistics(BaseModel):
    """How long the lines of a file are."""

    lines: int
    mean_length: float


class Buggy:
    """A tool whose author forgot the empty file."""

    def __init__(self, folder: Folder) -> None:
        """Measure the files of `folder`."""
        self._folder = folder

    @tool(errors=[INVALID_PATH, OUTSIDE, NOT_FOUND, NOT_A_FOLDER, IS_A_FOLDER, SPECIAL_FILE, TOO_LARGE])
    def line_statistics(self, path: Annotated[str, Field(description="Path of a text file.")]) -> LineStatistics:
        """Tell how long the lines of a file are."""
        lines = self._folder.read(path).decode("utf-8").splitlines()
        return LineStatistics(lines=len(lines), mean_length=sum(map(len, lines)) / len(lines))


def make_server(folder: str) -> Server:
    """The workspace server on `folder`, and the tool with the bug."""
    server = make_workspace_server(folder)
    server.add_tool(Buggy(Folder(folder)).line_statistics)
    return server
