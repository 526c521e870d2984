"""What coding agents read: `llms.txt`, a list of the pages, and a skill, both made from the pages themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from mcpcore.contract.codes import ErrorCode
from pages.markdown import table
from pages.schemastore import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT: Final = Path(__file__).parents[2]
_DOCS: Final = _ROOT / "docs"
_BLOCK: Final = re.compile(r"^(`{3,})([^\n]*)\n.*?^\1$", re.MULTILINE | re.DOTALL)

SKILL: Final = """\
---
name: mcpcore
description: >-
  Declare, raise and test the failures of MCP tools in Python with mcpcore. Use it when you write or change a tool, a resource or
  a prompt of a server that imports mcpcore, or when a call of one fails.
---

# Failures of MCP tools with mcpcore

Generated from the pages of the documentation by `docs/generate.py`; change them there.

A tool declares each way in which it fails, raises these failures by name, and has a test for each. An agent that calls the tool then
reads what to do next. This server is `orders.py`:

{orders}

## Declare

- `reason` is a stable name, `when` says what happened, `recovery` says what the caller does next, as an instruction. Name the tool to
  call, and never ask to "try again" without a reason.
- `Context[Literal[...]]` lists the reasons that the handler raises itself, so that a type checker finds a misspelt one.
- Choose the code by its meaning, since the retry advice follows from it. `retry=Retry.after(seconds=30)`, `Retry.now()` and
  `Retry.never()` replace it.
- `data=Model` types the facts of a failure, and `when="Only {{left}} are left."` then shows a required field.
- `effects="none"`, `"partial"` or `"unknown"` says whether the call changed anything before it failed.
- Do not declare what any tool can fail with, such as invalid arguments or a bug: mcpcore handles both.

{codes}

Say what the tool does, so that clients know whether a second call is safe:

{hints}

## Fail

- `raise ctx.fail("no_order", data={{"order_id": order_id}})` fails with a declared reason. Always `raise` it.
- `NO_ORDER.on(KeyError)` in `errors=` turns an exception that leaves the handler into the reason; `ctx.guard({{KeyError: "no_order"}})` does
  it for a block. Code without a context uses `guard`.
- Let other exceptions pass. They are masked, recorded and logged, so never catch `Exception` to return a text, an empty list or
  a dict with an error: an agent takes that for success.
- `from_http_response(response)` makes the failure of an HTTP answer, and `retrying` repeats an operation of a service.
- `mcpcore call` shows a failure as the agent reads it:

```console
$ mcpcore call orders.py get_order order_id=A-9 | head -10
get_order failed (isError: true)

--- content[0] text
Error: There is no order of that id.

Recovery: Call list_orders to see the ids.

Details: {{"order_id":"A-9"}}

(reason no_order · NOT_FOUND · not retryable · try list_orders · id 4f502d56999f66fa)
```

## Test

Each reason has a test that makes it happen. These are in `test_orders.py`:

{tests}

- `assert_fails` checks a result, and `raises_reason` checks a handler that is called like a function, without its context.
- `contract_suite` makes tests of the whole contract, and `tool_client(server, state=probe)` checks that failures changed what they say.
- `tool_client(server, fail={{"get_order": "no_order,first=1"}})` raises a declared failure on demand, to test an agent.
- `pytest --reason-coverage` lists the reasons that no test raised.

## Before you finish

```sh
mcpcore lint                                               # code and contract agree
mcpcore diff --check contracts.lock.json server.py         # nothing changed for clients
mcpcore catalog server.py --output contracts.lock.json     # if the change is intended
```

`mcpcore lint --explain RULE` shows how to mend a finding. Pages to read next: {pages}.
"""

_NEXT: Final = (
    "services",
    "state",
    "real-server",
    "testing",
    "agents",
    "lint",
    "contract-ci",
    "fastmcp",
)


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _unlinked(text: str) -> str:
    """The text with the words of its links alone."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def summary(page: Path) -> tuple[str, str]:
    """The title of a page and its first sentence, without links."""
    title, _, rest = _BLOCK.sub("", _text(page)).partition("\n")
    paragraphs = [part.strip() for part in rest.split("\n\n") if re.match(r"\s*[\w`[]", part)]
    first = next((part for part in paragraphs if not part.startswith("Generated ")), paragraphs[0])
    sentence = re.split(r"(?<=\.)\s", _unlinked(first))[0]
    return title.removeprefix("# ").strip(), re.sub(r":$", ".", " ".join(sentence.split()))


def _address(page: Path) -> str:
    return f"{REPOSITORY}/raw/main/{page.relative_to(_ROOT).as_posix()}"


def _item(page: Path) -> str:
    title, sentence = summary(page)
    return f"- [{title}]({_address(page)}): {sentence}"


def _named(nav: Any) -> Iterator[Path]:
    """The pages of a part of the navigation; of the rules, the page that lists them."""
    for entry in nav if isinstance(nav, list) else [nav]:
        if isinstance(entry, dict):
            for part in entry.values():
                yield from _named(part)
        elif not entry.startswith("rules/*"):
            own = _ROOT / f"{Path(entry).stem.upper()}.md"
            yield from sorted(_DOCS.glob(entry)) or [own]


def _navigation() -> list[dict[str, Any]]:
    """The parts of the site."""
    # The rest of the file has tags that only MkDocs loads.
    settings = _text(_ROOT / "mkdocs.yml").partition("\nnav:\n")[2].partition("\nextra_css:")[0]
    navigation: list[dict[str, Any]] = yaml.safe_load(settings)
    return navigation


def guides() -> str:
    """The overview of the how-tos: what each page gives, in its own first sentence, by the groups of the navigation."""
    own, *nav = next(entry["How-to"] for entry in _navigation() if "How-to" in entry)
    parts = ["# How-to guides", "", "Each guide solves one task, and its code runs as it stands.", ""]
    for entry in nav:
        if isinstance(entry, dict):
            parts += ["", f"## {next(iter(entry))}", ""]
        for page in _named(entry):
            title, sentence = summary(page)
            link = f"[{title}]({page.relative_to((_DOCS / own).parent).as_posix()})"
            parts.append(f"- {link}{'' if title.endswith('?') else ':'} {sentence}")
    return "\n".join([*parts, ""])


def llms() -> str:
    """The pages by the parts of the navigation, with their first sentences."""
    about = _text(_ROOT / "mkdocs.yml").partition("site_description: ")[2].partition("\n")[0]
    parts = ["# mcpcore", "", f"> {about}", "", _item(_DOCS / "index.md"), ""]
    parts += [
        f"[A skill for coding agents]({_address(_DOCS / 'skill' / 'SKILL.md')}) shows how to declare, fail and test.",
        "",
    ]
    for entry in _navigation()[1:]:
        ((title, nav),) = entry.items()
        pages = dict.fromkeys(_named(nav))
        parts += [f"## {'Optional' if title == 'Project' else title}", "", *map(_item, pages), ""]
    return "\n".join(parts)


def _block(name: str, title: str) -> str:
    """The code block of a page that has this title."""
    blocks = (match[0] for match in _BLOCK.finditer(_text(_DOCS / "how-to" / name)))
    return next(block for block in blocks if f'title="{title}"' in block.partition("\n")[0])


def _table(name: str) -> str:
    """The first table of a page."""
    return next(part for part in _text(_DOCS / "how-to" / name).split("\n\n") if part.startswith("|"))


def skill() -> str:
    """The skill: how to declare, fail and test, with the code of the pages."""
    by_advice: dict[str, list[str]] = {}
    for code in ErrorCode:
        by_advice.setdefault(code.retry.phrase, []).append(f"`{code.name}`")
    codes: list[list[object]] = [[advice, ", ".join(names)] for advice, names in by_advice.items()]
    pages = [_DOCS / "how-to" / f"{name}.md" for name in _NEXT]
    return SKILL.format(
        orders=_block("testing.md", "orders.py"),
        tests=_block("testing.md", "test_orders.py"),
        codes=table(["advice", "codes"], codes),
        hints=_table("state.md"),
        pages=", ".join(f"[{summary(page)[0]}]({_address(page)})" for page in pages),
    )
