"""A folder that nothing leads out of: paths are walked step by step, and files are replaced atomically.

A path is resolved by opening one component after the other relative to the descriptor of its parent, never following a
symbolic link by the kernel's own means. So what was checked is what is opened, whoever renames or links meanwhile.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import threading
import unicodedata
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcpcore import CodedError, conflict, forbidden, not_found, validation_error

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 1 << 20
"""The largest file that is read or written, in bytes."""

MAX_LINKS: Final = 40
"""Symbolic links followed in one path, as many as Linux follows."""

MAX_NAME: Final = 255
MAX_PATH: Final = 4096
"""Bytes of one name and of a path, as most file systems have them."""

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TEMPORARY_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a name in an open folder.

    Attributes:
        parent: The descriptor of the folder; closed when the walk ends.
        name: The name in it, "." for the workspace itself; never a symbolic link when it was looked at.
        path: The path from the workspace, links resolved.
        stat: What is there, or None where there is nothing.
    """

    parent: int
    name: str
    path: str
    stat: os.stat_result | None


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder: its path from the workspace, its kind, and its size in bytes where it is a file."""

    path: str
    kind: str
    size: int | None


class Folder:
    """The folder of a workspace."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Open `root`.

        Raises:
            OSError: If it is not a folder that can be opened.
        """
        self.root = Path(root).expanduser().resolve(strict=True)
        self._descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._writing = threading.Lock()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the right to write: alone among the threads of this server and the servers on this folder."""
        with self._writing:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def place(self, path: str, *, create_folders: bool = False) -> Iterator[Place]:
        """Walk to `path`; the last name need not exist, the folders before it must unless they are created.

        Raises:
            CodedError: With the reason invalid_path, outside_workspace, not_found or not_a_folder.
        """
        walk = _Walk(self, path, create_folders=create_folders)
        try:
            yield walk.to_the_end()
        finally:
            walk.close()

    def read(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            CodedError: With the reasons of `place`, and is_a_folder, special_file or too_large.
        """
        with self.place(path) as place:
            return self.read_at(place)

    def read_at(self, place: Place) -> bytes:
        """The bytes of the file at `place`.

        Raises:
            CodedError: With the reason not_found, is_a_folder, special_file or too_large.
        """
        if place.stat is None:
            raise self.missing(place.parent, place.name, place.path)
        _require_file(place.stat, place.path)
        try:
            descriptor = os.open(place.name, _FILE_FLAGS, dir_fd=place.parent)
        except OSError as exc:
            if exc.errno == errno.ENXIO:  # a socket took its place
                raise special_file(place.path) from exc
            raise self._vanished(exc, place) from exc
        with os.fdopen(descriptor, "rb") as file:
            now = os.fstat(descriptor)
            _require_file(now, place.path)
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise too_large(place.path, max(now.st_size, len(data)))
        return data

    def create(self, place: Place, data: bytes) -> None:
        """Write a file that must not exist yet; it appears whole or not at all.

        Raises:
            CodedError: With the reason already_exists.
        """
        temporary = self._temporary(place.parent, data, 0o666 & ~_umask())
        try:
            # Unlike a rename, a link never replaces what appeared meanwhile.
            os.link(temporary, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent, follow_symlinks=False)
        except FileExistsError as exc:
            raise already_exists(place.path) from exc
        finally:
            os.unlink(temporary, dir_fd=place.parent)
        os.fsync(place.parent)

    def replace(self, place: Place, data: bytes) -> None:
        """Write over the file at `place`, keeping its mode; at any moment it is the old one or the new one, whole."""
        assert place.stat is not None
        temporary = self._temporary(place.parent, data, stat.S_IMODE(place.stat.st_mode))
        try:
            os.replace(temporary, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=place.parent)
            raise
        os.fsync(place.parent)

    def entries(self, path: str, *, recursive: bool) -> Iterator[Entry]:
        """What is in a folder, sorted by path; symbolic links are named and not followed.

        Raises:
            CodedError: With the reasons of `place`, and not_a_folder.
        """
        with self.place(path) as place:
            if place.stat is None:
                raise self.missing(place.parent, place.name, place.path)
            if not stat.S_ISDIR(place.stat.st_mode):
                raise not_a_folder(place.path)
            try:
                descriptor = os.open(place.name, _FOLDER_FLAGS, dir_fd=place.parent)
            except OSError as exc:
                raise self._vanished(exc, place) from exc
            prefix = "" if place.path == "." else f"{place.path}/"
            yield from _entries(descriptor, prefix, depth=32 if recursive else 0)

    def missing(self, parent: int, name: str, path: str) -> CodedError:
        """The failure of a name that is not there, with the names that are near it."""
        folder = path.rpartition("/")[0]
        near = [f"{folder}/{found}" if folder else found for found in _near(parent, name)]
        recovery: dict[str, Any] = {
            "hint": f"Call list_files on {folder or '.'} to see what is there.",
            "strategy": "check_input",
            "fallbackTool": "list_files",
            "correctiveParams": {"path": folder or "."},
        }
        if near:
            recovery["hint"] = f"Call the same tool with path={near[0]!r}, or list_files to see what is there."
            recovery["correctiveParams"] = {"path": near[0]}
        return not_found(
            f"There is no {path!r} in the workspace.",
            {"path": path, "near": near},
            reason="not_found",
            recovery=recovery,
        )

    def _vanished(self, exc: OSError, place: Place) -> BaseException:
        """What it means that `place` could not be opened after it had been looked at."""
        if exc.errno == errno.ENOENT:
            return self.missing(place.parent, place.name, place.path)
        if exc.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            return outside(place.path, "it was replaced by a symbolic link while it was opened")
        return exc

    def _temporary(self, parent: int, data: bytes, mode: int) -> str:
        if len(data) > MAX_BYTES:
            raise too_large("the changed file", len(data))
        name = f".workspace-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(name, _TEMPORARY_FLAGS, 0o600, dir_fd=parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
        except BaseException:
            os.unlink(name, dir_fd=parent)
            raise
        return name

    def open_root(self) -> int:
        """Open another descriptor of the workspace, for a separate walk."""
        return os.dup(self._descriptor)


class _Walk:
    """One walk from the workspace to a path; the descriptors of all folders on the way are open until it ends."""

    def __init__(self, folder: Folder, path: str, *, create_folders: bool) -> None:
        self._folder = folder
        self._given = path
        self._create = create_folders
        self._left = deque(_parts(path, folder.root))
        self._way: list[tuple[str, int]] = [("", folder.open_root())]
        self._links = 0

    def close(self) -> None:
        while self._way:
            os.close(self._way.pop()[1])

    def to_the_end(self) -> Place:
        while self._left:
            part = self._left.popleft()
            if part == "..":
                self._up()
                continue
            found = self._look(part)
            if found is not None and stat.S_ISLNK(found.st_mode):
                self._follow(part)
            elif self._left:
                self._enter(part, found)
            else:
                return Place(self._way[-1][1], part, self._path(part), found)
        top = self._way[-1][1]
        return Place(top, ".", self._path() or ".", os.fstat(top))

    def _path(self, *more: str) -> str:
        return "/".join([*(name for name, _ in self._way[1:]), *more])

    def _up(self) -> None:
        if len(self._way) == 1:
            raise outside(self._given, "it leads above the workspace")
        os.close(self._way.pop()[1])

    def _look(self, part: str) -> os.stat_result | None:
        try:
            return os.stat(part, dir_fd=self._way[-1][1], follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as exc:
            if exc.errno == errno.ENAMETOOLONG:
                raise invalid_path(self._given, "a name in it is too long") from exc
            raise

    def _enter(self, part: str, found: os.stat_result | None) -> None:
        parent = self._way[-1][1]
        if found is None and self._create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=parent)
        elif found is None:
            raise self._folder.missing(parent, part, self._path(part))
        elif not stat.S_ISDIR(found.st_mode):
            raise not_a_folder(self._path(part))
        try:
            self._way.append((part, os.open(part, _FOLDER_FLAGS, dir_fd=parent)))
        except OSError as exc:
            place = Place(parent, part, self._path(part), found)
            raise self._folder._vanished(exc, place) from exc  # noqa: SLF001 - the other half of this module

    def _follow(self, part: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise invalid_path(self._given, "its symbolic links lead round in a circle")
        try:
            target = os.readlink(part, dir_fd=self._way[-1][1])
        except OSError as exc:
            raise outside(self._given, "a symbolic link in it was replaced while it was read") from exc
        if target.startswith("/"):
            inside = _below(target, self._folder.root)
            if inside is None:
                raise outside(self._given, "a symbolic link in it leads out of the workspace")
            while len(self._way) > 1:
                self._up()
            target = inside
        self._left.extendleft(reversed([step for step in target.split("/") if step not in ("", ".")]))


def content_hash(data: bytes) -> str:
    """What tells one content from another: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def outside(path: str, why: str) -> CodedError:
    """The failure of a path that leads out of the workspace."""
    return forbidden(
        f"{_shown(path)} is not in the workspace: {why}.", {"path": _shown(path)}, reason="outside_workspace"
    )


def invalid_path(path: str, why: str) -> CodedError:
    """The failure of a path that no file can have."""
    return validation_error(f"{_shown(path)} is no path: {why}.", {"path": _shown(path)}, reason="invalid_path")


def not_a_folder(path: str) -> CodedError:
    """The failure of a file where a folder is needed."""
    return validation_error(
        f"{path!r} is a file, not a folder.",
        {"path": path},
        reason="not_a_folder",
        recovery={
            "hint": f"Call read_file with path={path!r} to read it, or give a folder.",
            "fallbackTool": "read_file",
            "correctiveParams": {"path": path},
        },
    )


def is_a_folder(path: str) -> CodedError:
    """The failure of a folder where a file is needed."""
    return validation_error(
        f"{path!r} is a folder.",
        {"path": path},
        reason="is_a_folder",
        recovery={
            "hint": f"Call list_files with path={path!r}, then name one of its files.",
            "fallbackTool": "list_files",
            "correctiveParams": {"path": path},
        },
    )


def special_file(path: str) -> CodedError:
    """The failure of a pipe, a socket or a device."""
    return forbidden(f"{path!r} is a pipe, a socket or a device.", {"path": path}, reason="special_file")


def too_large(path: str, size: int) -> CodedError:
    """The failure of a file beyond the limit."""
    return validation_error(
        f"{path!r} has {size:,} bytes; the limit is {MAX_BYTES:,}.",
        {"path": path, "size": size, "limit": MAX_BYTES},
        reason="too_large",
    )


def already_exists(path: str) -> CodedError:
    """The failure of a file that is to be created and is there."""
    return conflict(
        f"{path!r} exists already.",
        {"path": path},
        reason="already_exists",
        recovery={
            "hint": f"Call read_file with path={path!r}, then write_file with the hash it returns as expected_hash.",
            "fallbackTool": "read_file",
            "correctiveParams": {"path": path},
        },
    )


def _require_file(found: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise is_a_folder(path)
    if not stat.S_ISREG(found.st_mode):
        raise special_file(path)


def _parts(path: str, root: Path) -> list[str]:
    """The components of a path from the workspace."""
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise invalid_path(path, "it has half a surrogate pair, which no text has") from exc
    if not path:
        raise invalid_path(path, "it is empty; the workspace itself is '.'")
    if "\0" in path:
        raise invalid_path(path, "it has a NUL character")
    if path.startswith("/"):
        inside = _below(path, root)
        error = outside(path, "paths begin at the workspace, without a slash")
        if inside is not None and ".." not in inside.split("/"):
            error = forbidden(
                f"{_shown(path)} is absolute; paths begin at the workspace, without a slash.",
                {"path": _shown(path)},
                reason="outside_workspace",
                recovery={
                    "hint": f"Call the same tool with path={inside or '.'!r}.",
                    "strategy": "check_input",
                    "correctiveParams": {"path": inside or "."},
                },
            )
        raise error
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if len(encoded) > MAX_PATH or any(len(part.encode("utf-8")) > MAX_NAME for part in parts):
        raise invalid_path(path, f"it is too long (a name has at most {MAX_NAME} bytes, a path {MAX_PATH})")
    return parts


def _below(path: str, root: Path) -> str | None:
    """`path`, which is absolute, from `root` on; None where it does not begin there."""
    prefix = str(root).rstrip("/")
    if path == prefix:
        return ""
    return path[len(prefix) + 1 :].lstrip("/") if path.startswith(f"{prefix}/") else None


def _entries(descriptor: int, prefix: str, depth: int) -> Iterator[Entry]:
    """The entries of an open folder, which this closes."""
    try:
        with os.scandir(descriptor) as scanned:
            found = sorted(scanned, key=lambda entry: entry.name)
        for entry in found:
            if not _is_text(entry.name):
                continue  # a name that JSON cannot carry cannot be asked for either
            entry_path = f"{prefix}{entry.name}"
            if entry.is_symlink():
                yield Entry(entry_path, "link", None)
            elif entry.is_dir(follow_symlinks=False):
                yield Entry(entry_path, "folder", None)
                if depth:
                    try:
                        inner = os.open(entry.name, _FOLDER_FLAGS, dir_fd=descriptor)
                    except OSError:
                        continue  # gone, or not to be opened: it was named, and has no entries to show
                    yield from _entries(inner, f"{entry_path}/", depth - 1)
            elif entry.is_file(follow_symlinks=False):
                try:
                    size = entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue
                yield Entry(entry_path, "file", size)
            else:
                yield Entry(entry_path, "special", None)
    finally:
        os.close(descriptor)


def _near(parent: int, name: str) -> list[str]:
    """The names in a folder that `name` was probably meant to be; first what differs in Unicode form or case only."""
    try:
        names = [found for found in os.listdir(parent)[:10_000] if _is_text(found)]
    except OSError:
        return []
    folded = _folded(name)
    same = [found for found in names if _folded(found) == folded]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return list(dict.fromkeys([*sorted(same), *close]))[:3]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    """A path that may be anything, as a message can show it."""
    clean = path.encode("utf-8", "replace").decode("utf-8").replace("\0", "\\0")
    return repr(clean) if len(clean) <= 120 else f"{clean[:119]!r}…"


def _umask() -> int:
    return _UMASK


def _read_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_UMASK: Final = _read_umask()  # once, before there are threads: it can only be read by setting it
