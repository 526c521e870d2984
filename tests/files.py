"""Writes the files of a project in tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, and make the folders that they are in, by their paths below `folder`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
