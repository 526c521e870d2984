"""Hooks of MkDocs: they turn Markdown that reads well on GitHub into the pages of the site.

Links in a page are relative paths in the repository. A link that leaves `docs/` becomes the address of the file in the
repository, or of its page, where the site has one. A link to a file that does not exist fails the build.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
LOG: Final = logging.getLogger("mkdocs.hooks")

_FENCED: Final = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LINK: Final = re.compile(r"(?P<start>\]\()(?P<target>[^)\s#]+)(?P<fragment>#[^)\s]*)?(?P<end>\))")
_NOTE: Final = re.compile(r"^Generated from .*(?=\n\Z)", re.MULTILINE)
_ITEM: Final = re.compile(r"^( *)((?:[-*+]|\d+\.) +)\S")
_FENCE: Final = re.compile(r"^ *(`{3,})")
_CELLS: Final = re.compile(r"<table>.*?</table>", re.DOTALL)
_LONG_CODE: Final = re.compile(r"<code>[^<]{24,}</code>")
_SHORT_CODE: Final = re.compile(r"(?<!</span>)<code>([^<]{1,28})</code>")
_JOINT: Final = re.compile(r"(?<=[\w)\]])\.(?=[A-Za-z_])|\|(?=\S)")
_ARROW: Final = re.compile(r"^\s*(\S+) (-->|-\.->) (\S+)$", re.MULTILINE)
_LOADED: Final = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>|<link\b(?![^>]*\brel=["']?(?:canonical|prev|next))[^>]*\bhref=["']?(?:https?:)?//[^>]*>"""
)

_SEARCH: Final = tomllib.loads((DOCS / "search.toml").read_text(encoding="utf-8"))
_LAYOUT: Final[dict[str, dict[str, Any]]] = {
    "index.md": {"hide": ["navigation", "toc"], "title": "MCP tools that tell agents how to recover"},
    "faq.md": {"hide": ["navigation"]},
    "tutorial/index.md": {"hide": ["navigation"]},
    "reference/dialects.md": {"hide": ["toc"]},
}
"""Columns that would be empty or that a wide table needs, and the title of the first page in a browser."""
_MOVED: Final[dict[str, str]] = tomllib.loads((DOCS / "redirects.toml").read_text(encoding="utf-8"))
_REDIRECT: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{0}">
<meta http-equiv="refresh" content="0; url={0}">
<p>This page has moved: <a href="{0}">{0}</a>.</p>
</html>
"""
"""A page for an address that was given up. It needs no server and no script."""


def on_config(config: MkDocsConfig) -> None:
    """Complete the navigation from the folders, drop the pages that are only planned, and name the addresses."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.repo_url = project["urls"]["Repository"]
    config.repo_name = "Repository"
    config.site_url = project["urls"].get("Documentation")
    named = set(_names(config.nav))
    planned = [page for page in config.extra["planned"] if not (DOCS / page).exists()]
    config.nav = _expanded(config.nav, named, planned)


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the project files that are also pages."""
    for name, page in config.extra["project_files"].items():
        file = File.generated(config, page, abs_src_path=str(ROOT / name))
        file.edit_uri = f"../{name}"
        files.append(file)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links, info strings of code blocks and tables for MkDocs."""
    del files
    page.meta.setdefault("search", _search(page.file.src_uri))
    page.meta |= _LAYOUT.get(page.file.src_uri, {})
    source = Path(page.file.abs_src_path or "")
    markdown = _lists(re.sub(_NOTE, r'<p class="generated" markdown="span">\g<0></p>', markdown))
    parts, at = [], 0
    for match in _FENCED.finditer(markdown):
        parts += [_prose(markdown[at : match.start()], source, page.file.src_uri, config), _fence(match)]
        at = match.end()
    return "".join([*parts, _prose(markdown[at:], source, page.file.src_uri, config)])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let long code in a table wrap behind its dots and bars, and keep short code in a text on one line."""
    del page, config, files
    parts, at = [], 0
    for table in _CELLS.finditer(html):
        parts += [_SHORT_CODE.sub(r'<code class="whole">\1</code>', html[at : table.start()])]
        parts += [_LONG_CODE.sub(lambda code: _JOINT.sub(r"\g<0><wbr>", code[0]), table[0])]
        at = table.end()
    return "".join([*parts, _SHORT_CODE.sub(r'<code class="whole">\1</code>', html[at:])])


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Keep a page from loading anything from elsewhere."""
    del config
    return _alone(output, page.file.src_uri)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Keep 404.html from loading anything from elsewhere."""
    del config
    return _alone(output_content, template_name)


def _alone(html: str, name: str) -> str:
    """Report what a page would load from elsewhere: the site must work offline, without a trace elsewhere."""
    html = html.replace(' data-md-component="source"', "")  # by which a script asks GitHub for the number of stars
    for tag in _LOADED.findall(html):
        LOG.warning("%s loads something from elsewhere: %s", name, tag)
    return html


def on_template_context(context: dict[str, Any], template_name: str, config: MkDocsConfig) -> dict[str, Any]:
    """Give 404.html relative links, and the address that they are relative to wherever the page is shown."""
    if template_name == "404.html":
        context |= {"base_url": ".", "site_root": urlsplit(config.site_url or "/").path}
    return context


@event_priority(50)  # before the search writes its index
def on_post_build(config: MkDocsConfig) -> None:
    """Give pages the words that readers have for them, and write a page for each address that was given up."""
    search: Any = config.plugins["material/search"]
    entries = {entry["location"]: entry for entry in search.search_index.entries}
    for page, words in _SEARCH["words"].items():
        entry = entries.get(_address(_MOVED.get(page, page)).partition("#")[0])
        if entry is None:
            LOG.warning("docs/search.toml names %s, which the search does not have", page)
        else:
            entry["tags"] = [*entry.get("tags", ()), *words]
    for page, target in _MOVED.items():
        file = Path(config.site_dir, _address(page))
        if file.exists() or not Path(config.site_dir, _address(target).partition("#")[0]).exists():
            LOG.warning(
                "docs/redirects.toml leads from %s to %s: the first must not be a page, the second must be one",
                page,
                target,
            )
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_REDIRECT.format(os.path.relpath(_address(target), Path(page).parent)), encoding="utf-8")


def _address(page: str) -> str:
    """The file of the site that is made from a page, with the heading that is named."""
    name, mark, heading = page.partition("#")
    return f"{re.sub('README$', 'index', name.removesuffix('.md'))}.html{mark}{heading}"


def _search(page: str) -> dict[str, Any]:
    """The weight of a page in the search."""
    weight = next((weight for start, weight in _SEARCH["weights"].items() if page.startswith(start)), 1)
    return {"boost": weight} if weight else {"exclude": True}


def _names(nav: Any) -> Iterator[str]:
    """The pages that a navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for value in nav.values() if isinstance(nav, dict) else nav or ():
            yield from _names(value)


def _expanded(nav: list[Any], named: set[str], planned: list[str]) -> list[Any]:
    """The navigation without planned pages, and with the pages of each folder that it names."""
    entries: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, value),) = entry.items()
            children = _expanded(value, named, planned) if isinstance(value, list) else value
            if children and children not in planned:
                entries.append({title: children})
        elif entry.endswith("/*.md"):
            pages = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.glob(entry))
            entries += [path for path in pages if path not in named]
        elif entry not in planned:
            entries.append(entry)
    return entries


def _lists(markdown: str) -> str:
    """The page with four spaces before all that belongs to an item of a list, and an empty line before each list.

    Python-Markdown wants both; on GitHub, the width of the bullet and a line break are enough.
    """
    lines: list[str] = []
    widths: list[int] = []  # for each open item, the column at which its text begins
    fence = ""
    is_loose = False  # whether the last item has several paragraphs
    for line in markdown.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        before = lines[-1] if lines else ""
        item = None if fence or indent > (widths[-1] if widths else 0) + 3 else _ITEM.match(line)
        if not fence and line.strip():
            while widths and indent < widths[-1] and (item or not before.strip() or _FENCE.match(line)):
                widths.pop()
            is_loose = is_loose and bool(widths or item)
            follows_text = not before.startswith((" ", "|", "#", "<")) and not _ITEM.match(before)
            if item and before.strip() and (is_loose or (not widths and follows_text)):
                lines.append("")
        if item:
            is_loose = False
        elif widths and not line.strip():
            is_loose = True
        moved = widths and indent >= widths[-1] and line.strip()
        lines.append(" " * (4 * len(widths)) + line[widths[-1] :] if moved else line)
        if mark := _FENCE.match(line):
            fence = "" if mark[1] == fence else fence or mark[1]
        elif item:
            widths.append(indent + len(item[2]))
    return "\n".join(lines) + "\n"


def _fence(match: re.Match[str]) -> str:
    """A code block; a flow chart becomes a tree, since the script that draws charts is on another site."""
    info = " ".join(word for word in match["info"].split() if word != "no-run").replace('append="', 'title="')
    body = match["body"]
    if info == "mermaid":
        info, body = "text", _tree(_ARROW.findall(body))
    return f"{match['indent']}{match['fence']}{info}\n{body}{match['indent']}{match['fence']}"


def _tree(arrows: list[tuple[str, str, str]]) -> str:
    """The arrows of a flow chart as an indented tree; a node has its children where it is first named."""
    lines: list[str] = []
    seen: set[str] = set()

    def draw(node: str, lead: str, branch: str) -> None:
        lines.append(f"{lead}{branch} {node}" if branch else node)
        if node in seen:
            return
        seen.add(node)
        children = [(line, end) for start, line, end in arrows if start == node]
        below = lead + ("" if not branch else "│  " if branch[0] == "├" else "   ")
        for number, (line, end) in enumerate(children, 1):
            draw(end, below, ("└" if number == len(children) else "├") + ("╌" if "." in line else "─"))

    ends = {end for *_, end in arrows}
    for root in dict.fromkeys(start for start, *_ in arrows if start not in ends):
        draw(root, "", "")
    return "\n".join(lines) + "\n"


def _prose(text: str, source: Path, page: str, config: MkDocsConfig) -> str:
    """Text between code blocks; code in it stays as it is, but for the escaped bars of tables."""
    parts, at = [], 0
    for match in _CODE.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        code = match[0].replace("\\|", "|") if text.startswith("|", line) else match[0]
        parts += [_links(text[at : match.start()], source, page, config), code]
        at = match.end()
    return "".join([*parts, _links(text[at:], source, page, config)])


def _links(text: str, source: Path, page: str, config: MkDocsConfig) -> str:
    return _LINK.sub(lambda match: _link(match, source, page, config), text)


def _link(match: re.Match[str], source: Path, page: str, config: MkDocsConfig) -> str:
    """A link, with the address that it has on the site."""
    target = match["target"]
    if re.match(r"[a-z]+:|/", target):
        return match[0]
    path = Path(os.path.normpath(source.parent / target))
    if not path.is_relative_to(ROOT) or not path.exists():
        LOG.warning("%s links to %s, which does not exist", source.relative_to(ROOT), target)
        return match[0]
    name = path.relative_to(ROOT).as_posix()
    pages: dict[str, str] = config.extra["project_files"]
    if name in pages or (path.is_relative_to(DOCS) and path.is_file()):
        place = pages.get(name) or path.relative_to(DOCS).as_posix()
        address = os.path.relpath(place, Path(page).parent).replace(os.sep, "/")
    else:
        address = f"{config.repo_url}/{'tree' if path.is_dir() else 'blob'}/main/{name}"
    return f"{match['start']}{address}{match['fragment'] or ''}{match['end']}"
