"""The catalog as one HTML page without any other file: to search, to filter, and to link to each reason.

All texts are foreign. They are escaped, and the page's policy lets nothing run but its own script, which reads the
texts from the document: there is no JSON that could end the script.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any

from mcpcore.catalog.markdown import (
    CONTRACT_WORDS,
    data_fields,
    effects_words,
    failure_words,
    hint_words,
    place_words,
    recovery_details,
)
from mcpcore.catalog.model import Catalog, Failure, Item, ServerCatalog
from mcpcore.reports import counted
from mcpcore.reports.html import page, text


def to_html(catalog: Catalog) -> str:
    """The page."""
    style, script = (files("mcpcore.catalog").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    errors = [error for _, item in catalog.items for error in item.errors]
    codes = _options(error.code_label for error in errors)
    reasons = _options(error.reason for error in errors)
    items = "\n".join(_server(server) for server in catalog.servers)
    # The form and the button are hidden until the script shows them: without scripts, they would do nothing.
    body = f"""\
<a class="skip" href="#contracts">Skip to the contracts</a>
<header class="top"><div>
<div class="title"><h1>Failure contracts</h1>
<p>{text(_summary(catalog))}</p>
<button type="button" id="theme" hidden>Light or dark</button></div>
<form id="filters" role="search" aria-label="Failure modes" hidden>
<label class="search">Search (press / to begin)
<input id="search" type="search" autocomplete="off" spellcheck="false"></label>
<label>Code<select id="code"><option value="">All codes</option>{codes}</select></label>
<label>Reason<select id="reason"><option value="">All reasons</option>{reasons}</select></label>
<button type="button" id="reset">Reset</button>
<output id="count" for="search code reason" aria-live="polite"></output>
</form>
</div></header>
<div class="layout">
<nav aria-label="Tools, resources and prompts">{"".join(map(_links, catalog.servers))}</nav>
<main id="contracts" tabindex="-1">
{items}
<p id="empty" class="empty" hidden>Nothing matches the filters.</p>
</main>
</div>"""
    title = f"Failure contracts: {', '.join(server.name for server in catalog.servers)[:200]}"
    return page(title, body, style=style, script=script, is_plain=False)


def _summary(catalog: Catalog) -> str:
    items = [item for _, item in catalog.items]
    kinds = [(kind, sum(item.kind == kind for item in items)) for kind in ("tool", "resource", "prompt")]
    parts = [counted(number, kind) for kind, number in kinds if number]
    parts.append(counted(sum(len(item.errors) for item in items), "failure mode"))
    servers = counted(len(catalog.servers), "server")
    return f"{servers}: {', '.join(parts)}" if len(catalog.servers) != 1 else ", ".join(parts)


def _options(values: Iterable[str]) -> str:
    return "".join(f'<option value="{text(value)}">{text(value)}</option>' for value in sorted(set(values)))


def anchor(*parts: str) -> str:
    """The id of an element, for links: stable, and readable where the names are."""
    plain = "/".join(parts)
    safe = "/".join(re.sub(r"[^A-Za-z0-9_.-]+", "-", part)[:60] for part in parts)
    # A name may contain a slash, so NUL separates the parts.
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    # Two names may become one, and only a name that changed needs telling apart.
    return safe if safe == plain else f"{safe}.{digest}"


def _links(server: ServerCatalog) -> str:
    entries = "".join(
        f'<li><a href="#{_id(server, item)}"><code>{text(item.name)}</code></a></li>' for item in server.items
    )
    return f"<h2>{text(server.name)}</h2><ul>{entries}</ul>" if entries else ""


def _id(server: ServerCatalog, item: Item, *reason: str) -> str:
    return anchor(server.name, item.kind, item.name, *reason)


def _server(server: ServerCatalog) -> str:
    items = "\n".join(_item(server, item) for item in server.items)
    always = ' data-always="yes"' if server.problems else ""
    return f"<section{always}>\n<h2>{text(server.name)}</h2>\n{_problems(server.problems)}{items}\n</section>"


def _item(server: ServerCatalog, item: Item) -> str:
    name = _id(server, item)
    hints = "".join(f' <span class="chip">{words}</span>' for words in hint_words(item))
    words = " ".join(filter(None, [CONTRACT_WORDS[item.contract], failure_words(item)]))
    parts = [
        f'<article class="item" id="{name}" aria-labelledby="{name}-name">',
        f'<h3><code id="{name}-name" data-own>{text(item.name)}</code>',
        f'<span class="kind" data-own>{item.kind}</span>{hints}{_anchor(name, item.name)}</h3>',
        f'<p class="text" data-own>{text(item.description)}</p>' if item.description else "",
        f'<p class="soft">{text(words)}</p>' if words else "",
        _problems(item.problems),
        *(_failure(error, _id(server, item, error.reason)) for error in item.errors),
    ]
    rows = [
        ("Raised without a declared reason", [(entry.label, place_words(entry.raised)) for entry in item.undeclared]),
        ("Returned as data", [("", place_words(item.returned))] if item.returned else []),
    ]
    for title, entries in rows:
        if entries:
            listed = "".join(
                f"<li>{f'<code>{text(label)}</code> ' if label else ''}{_places(places)}</li>"
                for label, places in entries
            )
            parts.append(
                f'<div class="aside"><p class="soft" data-own>{title}</p><ul class="plain">{listed}</ul></div>'
            )
    return "\n".join([*filter(None, parts), "</article>"])


def _anchor(name: str, label: str) -> str:
    return f'<a class="anchor" href="#{name}" aria-label="Link to {text(label)}">#</a>'


def _failure(error: Failure, name: str) -> str:
    retry = ""
    if error.retry is not None:
        retry = f' <span class="chip{" good" if error.retry.retryable else ""}">{text(error.retry.phrase)}</span>'
    code = f' <span class="chip {error.category or ""}">{text(error.code_label)}</span>'
    rows = "".join(f"<dt>{title}</dt><dd>{words}</dd>" for title, words in _rows(error))
    return (
        f'<div class="failure" role="group" id="{name}" aria-labelledby="{name}-name" '
        f'data-code="{text(error.code_label)}" data-reason="{text(error.reason)}">\n'
        f'<h4><code id="{name}-name">{text(error.reason)}</code>{code}{retry}{_anchor(name, error.reason)}</h4>\n'
        f"<dl>{rows}</dl>\n</div>"
    )


def _rows(error: Failure) -> Iterator[tuple[str, str]]:
    """The details of a failure, as HTML."""
    if error.when:
        yield "When", f'<span class="text">{text(error.when)}</span>'
    if error.recovery:
        yield "Recovery", f'<span class="text">{text(error.recovery)}</span>'
    if error.effects is not None:
        yield "Effects", f"{error.effects}: {text(effects_words(error))}"
    for title, words in recovery_details(error):
        yield title, f"<code>{text(words)}</code>" if title != "For the user" else text(words)
    if error.corrective_params is not None:
        yield "Corrected call", _json(error.corrective_params)
    fields = data_fields(error)
    if fields:
        listed = "".join(f"<li><code>{text(name)}</code> {text(words)}</li>" for name, words in fields)
        yield "Data", f'<ul class="plain">{listed}</ul>'
    if error.example is not None:
        yield "Example", _json(error.example)
    if error.raised:
        yield "Raised at", _places(place_words(error.raised))


def _places(places: Sequence[tuple[str, str]]) -> str:
    shown = [f"<li><code>{text(label)}</code>{f' {text(way)}' if way else ''}</li>" for label, way in places]
    return f'<ul class="plain">{"".join(shown)}</ul>'


def _json(value: Any) -> str:
    return f"<pre>{text(json.dumps(value, indent=2, ensure_ascii=False, default=str))}</pre>"


def _problems(problems: Sequence[str]) -> str:
    return "".join(f'<p class="problem">Problem: {text(problem)}</p>\n' for problem in problems)
