"""The long description of the package: the README, with links and pictures that work outside of the repository.

A package index shows the README alone, so its relative links become addresses of the release's tag in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

_FENCED: Final = re.compile(r"^(`{3,})[^\n]*\n.*?^\1 *$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?P<target>(?![a-z]+:|#)[^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Set `readme` from README.md and the address of the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the text to the metadata."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = f"{metadata['urls']['Repository']}/{{}}/v{metadata['version']}"
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, address)}


def absolute(text: str, address: str) -> str:
    """The text with absolute links; `address` has a place for the kind, `blob` for pages and `raw` for pictures."""

    def replaced(match: re.Match[str]) -> str:
        kind = "raw" if match["picture"] else "blob"
        return f"{match['picture']}{match['text']}({address.format(kind)}/{match['target']})"

    parts, at = [], 0
    for block in _FENCED.finditer(text):
        parts += [_LINK.sub(replaced, text[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*parts, _LINK.sub(replaced, text[at:])])
