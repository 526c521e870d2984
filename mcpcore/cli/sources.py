"""The sources of a contract on a command line: servers, source code, catalog files, revisions of git."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from mcpcore.catalog import Catalog, CatalogError, ServerCatalog, model
from mcpcore.cli.importing import imported_server, listed_server, root_of, static_servers
from mcpcore.cli.loading import Target, is_python
from mcpcore.cli.problems import Problem

SourceKind = Literal["url", "command", "catalog", "git", "static", "import"]

_GIT_SECONDS: Final = 60
_KEPT: Final = (".py", ".pyi", "pyproject.toml", ".gitignore")
"""The files of a revision that the linter reads."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source.

    Attributes:
        kind: How it is read: a running server ("url", "command"), a file ("catalog"), a revision ("git"), source code
            that is not run ("static"), or a server that is imported ("import").
        text: The word on the command line.
        command: The command and its arguments; for "import", the arguments of the server.
        revision: The revision, for "git".
        path: The path within the revision.
    """

    kind: SourceKind
    text: str
    command: tuple[str, ...] = ()
    revision: str = ""
    path: str = ""


def parse_source(word: str, *, static: bool = False) -> Source:
    """The source that a word names.

    Args:
        word: A URL, a file, a folder, a module, each with an object (server.py:app), or REV:PATH.
        static: Whether Python code is read and not imported.

    Raises:
        Problem: If it names nothing.
    """
    if word.startswith(("http://", "https://")):
        return Source("url", word)
    path = Path(word)
    if path.is_file():
        if path.suffix == ".json":
            return Source("catalog", word)
        return Source("static" if static else "import", word)
    if path.is_dir():
        return Source("static", word)
    before, colon, after = word.partition(":")
    if colon and before and not Path(before).is_file() and not is_python(before):
        # After --end-of-options, a word with a hyphen in front is no option of git.
        revision = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{before}^{{commit}}")
        if revision is not None:
            return Source("git", word, revision=revision.decode().strip(), path=after)
        if _is_revision(before, after):
            raise _no_revision(before)
        if not _is_module(before):
            raise _no_revision(before, or_module=True)
    if word.endswith(".json"):
        raise Problem(
            f"the file {word} does not exist.", hint="check its path, or make it: mcpcore catalog --output FILE"
        )
    target = Target.parse(word)
    if static:
        return Source("static", target.source) if target.is_file else Source("static", _file_of_module(target.source))
    return Source("import", word)


def _file_of_module(name: str) -> str:
    """The file of a module below the current folder, which is not imported."""
    stem = Path(*name.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py", Path("src") / stem.with_suffix(".py")):
        if path.is_file():
            return str(path)
    raise Problem(
        f"the file of the module {name} was not found in the current folder.",
        hint="give the file or its folder: --static src/package",
    )


# -- reading -----------------------------------------------------------------------------------------------------------


def read_sources(
    sources: Sequence[Source], *, timeout: float, verbose: bool = False, headers: Mapping[str, str] | None = None
) -> Catalog:
    """One catalog of all sources; `headers` are sent to the URLs among them.

    Raises:
        Problem: If one of them cannot be read.
    """
    servers: list[ServerCatalog] = []
    for source in sources:
        if source.kind in {"url", "command"}:
            servers.append(
                listed_server(source.text, source.command, timeout=timeout, verbose=verbose, headers=headers or {})
            )
        else:
            servers += _read(source)
    return Catalog.of(_told_apart(servers))


def _told_apart(servers: list[ServerCatalog]) -> Iterator[ServerCatalog]:
    """The servers, with a number behind the name of one whose name is taken."""
    taken: set[str] = set()
    for server in servers:
        name, number = server.name, 1
        while name in taken:
            number += 1
            name = f"{server.name} ({number})"
        taken.add(name)
        yield server if name == server.name else server.model_copy(update={"name": name})


def _read(source: Source) -> Sequence[ServerCatalog]:
    if source.kind == "catalog":
        return _catalog(Path(source.text).read_bytes(), source.text).servers
    if source.kind == "git":
        return _revision(source)
    if source.kind == "static":
        return static_servers(source.text, root_of(Path(source.text)), name=Path(source.text).absolute().name)
    return [imported_server(Target.parse(source.text), source.command)]


def _catalog(text: bytes, name: str) -> Catalog:
    if len(text) > model.MAX_FILE:
        raise Problem(f"{name} is larger than {model.MAX_FILE} bytes.", hint="give a file that `mcpcore catalog` wrote")
    try:
        return Catalog.loads(text, name)
    except CatalogError as exc:
        again = f"make it anew: mcpcore catalog SERVER --output {name}" if name.endswith(".json") else None
        raise Problem(f"{exc}.", hint=again or "give a file that `mcpcore catalog` wrote as JSON") from exc


# -- git ---------------------------------------------------------------------------------------------------------------


def _is_revision(before: str, after: str) -> bool:
    """Whether a word is REV:PATH and not MODULE:OBJECT, if git does not know the revision."""
    names = [*before.split("."), *after.split(".")]
    return not all(name.isidentifier() for name in names) or after.endswith((".py", ".json")) or Path(after).exists()


def _is_module(name: str) -> bool:
    """Whether there may be a module of this name; only its first part is looked for, and nothing is imported."""
    first = name.partition(".")[0]
    if Path(first).exists() or Path("src", first).exists():
        return True
    return PathFinder.find_spec(first, ["", "src", *sys.path]) is not None or first in sys.builtin_module_names


def _no_revision(revision: str, *, or_module: bool = False) -> Problem:
    """Why git has no such revision, if the word may also have been meant as a module."""
    if or_module:
        return Problem(
            f"there is neither a module nor a git revision {revision}.",
            hint="give a file (server.py), or a revision that `git log` knows; in CI, check out the whole history "
            "(actions/checkout with fetch-depth: 0)",
        )
    if _git("--version") is None:
        return Problem(f"git cannot be run, so there is no revision {revision}.", hint="install git")
    if _git("rev-parse", "--git-dir") is None:
        return Problem(
            f"the current folder is not in a git repository that can be read, so there is no revision {revision}.",
            hint="run this within the repository; `git status` says why git cannot read it",
        )
    return Problem(
        f"the git repository has no revision {revision}.",
        hint="check its name, or fetch it; in CI, check out the whole history (actions/checkout with fetch-depth: 0)",
    )


def _revision(source: Source) -> Sequence[ServerCatalog]:
    """The servers in a revision. Its code is unpacked into a temporary folder and read there; none of it is run."""
    path = _path_in_repository(source.path)
    kind = (_git("cat-file", "-t", f"{source.revision}:{path}") or b"").decode().strip()
    if kind not in {"blob", "tree"}:
        raise Problem(
            f"{source.text}: the revision has no {path!r}.",
            hint="the path is relative to the top of the repository, or to the current folder if it begins with ./",
        )
    if kind == "blob" and path.endswith(".json"):
        return _catalog(_git("cat-file", "blob", f"{source.revision}:{path}") or b"", source.text).servers
    with tempfile.TemporaryDirectory(prefix="mcpcore-") as folder:
        root = Path(folder).resolve()
        _unpack(source, root)
        if not (root / path).exists():
            raise Problem(f"{source.text}: git does not export {path!r}, or it holds no Python.")
        (root / ".git").mkdir()  # the root of the project, whatever is above the temporary folder
        top = Path((_git("rev-parse", "--show-toplevel") or b"").decode().strip())
        return static_servers(str(root / path), root, name=top.name)


def _path_in_repository(path: str) -> str:
    """A path relative to the top; as in git, one that begins with `./` or `../` is relative to the current folder."""
    if path.startswith(("./", "../")) or path in {".", ".."}:
        prefix = (_git("rev-parse", "--show-prefix") or b"").decode().strip()
        parts: list[str] = []
        for part in PurePosixPath(prefix, path).parts:
            if part == "..":
                parts = parts[:-1]
            else:
                parts.append(part)
        return "/".join(parts)
    return path.strip("/")


def _unpack(source: Source, root: Path) -> None:
    """Write the Python files of a revision; links, names that lead out of `root`, modes and all else are left out."""
    top = (_git("rev-parse", "--show-toplevel") or b".").decode().strip()
    command = ["git", "-C", top, "archive", "--format=tar", source.revision]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        assert process.stdout is not None
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                archive.extraction_filter = lambda file, _: file  # before Python 3.11.4, extract() takes no filter
                for file in archive:
                    if (
                        file.isfile()
                        and file.name.endswith(_KEPT)
                        and (root / file.name).resolve().is_relative_to(root)
                    ):
                        archive.extract(file, root, set_attrs=False)
        except (tarfile.TarError, OSError) as exc:
            process.kill()
            raise Problem(f"{source.text}: git archive failed: {exc}.") from exc


def _git(*arguments: str) -> bytes | None:
    """The output of a git command; None if it fails, or if there is no git."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def with_words_after(sources: Sequence[Source], words: Sequence[str] | None, *, arguments: bool) -> list[Source]:
    """The sources with the words after `--`: the arguments of the last source, or the command of another one.

    Args:
        sources: The sources before `--`.
        words: The words, or None without a `--`.
        arguments: Whether the last source may take them, if it is a server that is imported.
    """
    if not words:
        return list(sources)
    if arguments and sources and sources[-1].kind == "import":
        return [*sources[:-1], replace(sources[-1], command=tuple(words))]
    return [*sources, Source("command", words[0], command=tuple(words))]


def require_sources(words: Sequence[str], command: Sequence[str] | None, urls: Sequence[str]) -> None:
    """Check that the command line names a server.

    Raises:
        Problem: If it names none.
    """
    if command == ():
        raise Problem("the command after `--` is missing.", hint="give the command: -- python server.py")
    if not words and not command and not urls:
        raise Problem(
            "which server?",
            hint=f"name a file, a folder, a module or a URL: {Path(sys.argv[0]).name} catalog server.py; "
            "or its command: mcpcore catalog -- COMMAND",
        )
