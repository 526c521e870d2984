"""What changed since a revision of git: the files, and with them the tools that they reach."""

from __future__ import annotations

import os
import subprocess


class ChangedError(Exception):
    """Git cannot tell; the text says why and what next."""


def changed_since(revision: str, root: str) -> frozenset[str]:
    """The absolute paths of the Python files that differ from `revision`, new and untracked ones included.

    Raises:
        ChangedError: If git is missing, the folder is in no repository, or there is no such revision.
    """
    top = _git(["rev-parse", "--show-toplevel"], root).rstrip("\n")
    if revision.startswith("-"):
        raise ChangedError(f"--changed-since {revision}: not a revision")
    # What a branch changed, not what its base has changed since: compare with where the two parted.
    try:
        base = _git(["merge-base", revision, "HEAD"], root).strip()
    except ChangedError:
        base = _git(["rev-parse", "--verify", f"{revision}^{{commit}}"], root).strip()
    names = _git(["diff", "--name-only", "-z", "--diff-filter=d", base, "--"], top)
    names += _git(["ls-files", "--others", "--exclude-standard", "-z"], top)
    found = (os.path.join(top, name) for name in names.split("\0") if name.endswith((".py", ".pyi")))
    return frozenset(os.path.realpath(path) for path in found)


def _git(arguments: list[str], folder: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, its arguments a list
            ["git", "-C", folder, *arguments],  # noqa: S607 - found on the user's own path
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="surrogateescape",
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise ChangedError(f"--changed-since needs git, which cannot be run: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ChangedError(f"--changed-since: git {arguments[0]} failed: {said[-1] if said else 'no reason given'}")
    return done.stdout
