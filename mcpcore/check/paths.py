"""Which paths in a failure are no secret: those of the caller, and those that the server is for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcpcore.values.json_schema import properties
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from mcpcore.check.model import CheckedTool

_PATH: Final = re.compile(
    r"(?<![\w:/.~*-])/(?:home|Users|root|usr|var|tmp|opt|etc|srv|mnt|private|app|code|work|workspace|nix|Library|proc)"
    r"/[\w.@+-][\w.@+/-]*"
    r"|(?<![\w/])[A-Za-z]:\\{1,2}(?:Users|Windows|Program Files|ProgramData|Temp)\\{1,2}[^\s\"'<>|]{1,200}"
    r"|\bfile:///[\w.@+/-]{3,200}"
    r"|(?:site-packages|dist-packages|node_modules)[/\\][\w.@+/\\-]{1,200}"
)

_ANY_PATH: Final = re.compile(r"(?<![\w:/.~*-])/[\w.@+-]{2,}[\w.@+/-]*")

# Where the code of the server is installed, which no tool is about.
_OF_PACKAGES: Final = re.compile(r"(?:site-packages|dist-packages|node_modules)[/\\]")

# Names of arguments that take a path.
_LOCATION: Final = re.compile(
    r"(?:^|_)(?:path|file|filename|filepath|dir|directory|folder|root|cwd|repo|repository|workspace|uri)s?(?:$|_)"
)

# Texts of successes that are kept.
_MOST: Final = 1_000


class Paths:
    """The texts of the caller, and those that the server shows by itself.

    A directory that one of them names is no secret, nor is a path in it.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Keep the texts of the caller, such as the command line, and of the listing."""
        self._known = set(known)

    def show(self, text: str) -> None:
        """Keep the text of a success."""
        if len(self._known) < _MOST and _PATH.search(text) is not None:
            self._known.add(text)

    def leaked(self, text: str, tool: CheckedTool | None, arguments: Mapping[str, Any]) -> str | None:
        """The first path of the server's machine in a failure that the client had no part in; None without one.

        Args:
            text: The text of the failure.
            tool: The tool that failed. If it takes a path, it may speak of the paths of its files.
            arguments: The arguments of the call. A path that ends in one of them is the caller's, made absolute.
        """
        if _PATH.search(text) is None:
            return None
        schema = {} if tool is None else dict(tool.input_schema)
        said = "\0".join([*self._known, str(dict(arguments)), str(schema)])
        directories = {match[0].rstrip("/.") + "/" for match in _ANY_PATH.finditer(said)}
        own = {f"/{value}" for value in arguments.values() if isinstance(value, str) and value}
        names = quietly(lambda: list(properties(schema, schema)), list[str]())
        is_about_paths = any(_LOCATION.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) for name in names)
        for match in _PATH.finditer(text):
            path = match[0].rstrip(".,;:'\")")
            is_of_client = path in said or any(directory in path for directory in directories)
            is_of_files = is_about_paths or any(value in path for value in own)
            if not is_of_client and (_OF_PACKAGES.search(path) is not None or not is_of_files):
                return path
        return None
