"""What earlier runs found out, in one file: read at once, checked by its sum, replaced whole or not at all.

A result is kept for the content of its file, the contents of the files that were consulted for it, the settings, the
linter's own files and the Python version. Whatever does not fit, cannot be read or is damaged is as if it were not
there.
"""

from __future__ import annotations

import marshal
import os
import sys
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.runner import memo

if TYPE_CHECKING:
    from mcpcore_lint.runner.discover import Found
    from mcpcore_lint.settings import Settings

MAGIC: Final = b"mcpcore-lint cache, format 5\n"
MAX_BYTES: Final = 1 << 30


def content_hash(raw: bytes) -> bytes:
    """What stands for the content of a file."""
    return blake2b(raw, digest_size=16).digest()


def folder(settings: Settings) -> str:
    """Where caches lie: as the settings say, else where they lie for everything."""
    return memo.folder() if settings.cache_dir is None else os.path.abspath(settings.cache_dir)


def tool_signature() -> tuple[tuple[tuple[str, int, int], ...], tuple[tuple[str, int], ...], str]:
    """The linter's own files and whatever may bring rules: changed when one of them is."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found: list[tuple[str, int, int]] = []
    stack = [here]
    while stack:
        with os.scandir(stack.pop()) as scan:
            for entry in scan:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        stack.append(entry.path)
                elif entry.name.endswith((".py", ".json")):
                    stat = entry.stat()
                    found.append((entry.path, stat.st_mtime_ns, stat.st_size))
    found.sort()
    places: list[tuple[str, int]] = []
    for each in sys.path:
        # Installing a package changes the time of its folder, and may bring rules by an entry point.
        if each.endswith(("site-packages", "dist-packages")):
            try:
                places.append((each, os.stat(each).st_mtime_ns))
            except OSError:
                continue
    return tuple(found), tuple(places), sys.version


class Cache:
    """The cache of one project under one set of settings."""

    def __init__(self, root: str, settings: Settings) -> None:
        from mcpcore_lint.settings import fingerprint

        name = blake2b(os.fsencode(root), digest_size=12).hexdigest()
        self.file = os.path.join(folder(settings), f"{name}.bin")
        self._tool = tool_signature()
        key = (self._tool, fingerprint(settings), root)
        self.key = blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self.data: dict[str, Any] = {}

    def load(self) -> bool:
        """Read it; False where there is nothing that can be used."""
        try:
            with open(self.file, "rb") as file:
                raw = file.read(MAX_BYTES)
        except OSError:
            return False
        head = len(MAGIC) + 32
        if not raw.startswith(MAGIC) or raw[len(MAGIC) : len(MAGIC) + 16] != self.key:
            return False
        # The sum is taken before anything is read from it: a damaged file must not reach the reader.
        if blake2b(memoryview(raw)[head:], digest_size=16).digest() != raw[head - 16 : head]:
            return False
        try:
            data = marshal.loads(memoryview(raw)[head:])  # noqa: S302 - its sum is right, and it runs nothing
        except (ValueError, EOFError, TypeError):
            return False
        if not isinstance(data, dict) or any(_state(each[0]) != each for each in data.get("plugins", ())):
            return False
        self.data = data
        return True

    def inputs(self) -> tuple[str, ...] | None:
        """What the report that is kept rests on beyond the files of its run; None where none is kept."""
        data = self.data
        if data.get("report") is None:
            return None
        plugins = (each[0] for each in data["plugins"])
        files, places, _ = self._tool
        return (*data["outside"], *data["absent"], *plugins, *(each[0] for each in (*files, *places)))

    def save(self, data: dict[str, Any]) -> bool:
        """Replace it; False where that cannot be done, which harms nothing but the next run's speed."""
        self.data, known = {}, self.data
        data["plugins"] = _plugins() if "mcpcore_lint.rules" in sys.modules else known.get("plugins", ())
        payload = marshal.dumps(data)
        digest = blake2b(payload, digest_size=16).digest()
        if not memo.put(self.file, MAGIC, self.key, digest, payload):
            return False
        self.data = data
        return True


def _plugins() -> tuple[tuple[str, int, int], ...]:
    """The files that hold rules of other packages, which their authors change without installing anything."""
    from mcpcore_lint.rules import all_rules

    names = {type(rule).__module__ for rule in all_rules().values()}
    files = {
        file
        for name in names
        if not name.startswith("mcpcore_lint.") and (file := getattr(sys.modules.get(name), "__file__", None))
    }
    return tuple(_state(each) for each in sorted(files))


def _state(path: str) -> tuple[str, int, int]:
    try:
        stat = os.stat(path)
    except OSError:
        return (path, 0, 0)
    return (path, stat.st_mtime_ns, stat.st_size)


def trusted(found: Found, now_ns: int | None = None) -> int:
    """The time to remember of a file; 0 where it is too fresh to be told from the next change."""
    now = time.time_ns() if now_ns is None else now_ns
    return 0 if found.mtime_ns > now - memo.RACY_NS else found.mtime_ns
