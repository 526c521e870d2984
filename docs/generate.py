"""Writes the reference pages from the tables that the code itself reads: `python docs/generate.py`."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import api
import commands
import figures
import schemas
from mcpcore_lint.config import KEYS, SECTION
from mcpcore_lint.show import pages
from options import options, problems
from reach import page as reach

from mcpcore.catalog import LEVELS
from mcpcore.catalog import RULES as DIFF_RULES
from mcpcore.catalog import json_schema as catalog_schema
from mcpcore.check.reports.json import json_schema as check_schema
from mcpcore.check.rules import CAPS, CRITERIA
from mcpcore.check.rules import RULES as CHECK_RULES
from mcpcore.classification import code_tables, phrase_table, status, types
from mcpcore.codes import BASELINE, PROTOCOL_INVALID_PARAMS, SEVERITY, ErrorCode
from mcpcore.dialects import DIALECTS, ok_envelope, system_error, taxonomy
from mcpcore.errors import FACTORIES
from mcpcore.proxy.overlay import json_schema

HERE = Path(__file__).parent
NOTE = "Generated from `{}` by `docs/generate.py`; change the table there."
REACH_NOTE = (
    "Generated from `tests/reach/recorded.json` by `docs/generate.py`; `python -m tests.reach.drivers` records again."
)
API_NOTE = "Generated from the docstrings by mkdocstrings; `docs/api.py` lists the names."
COMMANDS_NOTE = "Generated from the commands by `docs/generate.py`; `mcpcore COMMAND --help` prints the same."
OPTIONS_NOTE = "Generated from the signatures and the docstrings by `docs/generate.py`; change the docstrings."


def table(head: list[str], rows: list[list[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def as_json(schema: dict[str, Any]) -> str:
    """A JSON Schema as a file."""
    return json.dumps(schema, indent=2) + "\n"


def codes() -> str:
    """The codes."""
    factories = {code: f"`{name}`" for name, code in FACTORIES.items()}
    rows: list[list[object]] = [
        [
            f"`{code.name}`",
            int(code),
            code.http_status,
            code.category,
            code.retry.phrase,
            code.strategy,
            ", ".join(f"`{action}`" for action in code.actions),
            factories.get(code, ""),
            code.sentence,
        ]
        for code in ErrorCode
    ]
    head = ["name", "number", "HTTP", "category", "retry", "strategy", "actions", "factory", "sentence"]
    return "\n".join(
        [
            "# Error codes",
            "",
            NOTE.format("mcpcore/codes.py"),
            "",
            table(head, rows),
            "",
            f"Codes that a contract need not declare: {', '.join(f'`{code.name}`' for code in ErrorCode if code in BASELINE)}.",
            "",
            "The most severe first, which is the code of a batch whose items failed for different reasons: "
            + ", ".join(f"`{code.name}`" for code in SEVERITY)
            + ". An application's own code comes after those of its category.",
            "",
            "Where the protocol itself carries the error (unknown tools, resources, prompts), the number is -32602 for "
            + ", ".join(f"`{code.name}`" for code in ErrorCode if code in PROTOCOL_INVALID_PARAMS)
            + " and -32603 for all others; the code itself is in the error's data.",
            "",
            "An application adds its own codes with `CustomCode`, numbered outside -32768..-32000.",
            "",
            'A code is an int whose text is its name: `str(code)`, `f"{code}"` and `%s` give `NOT_FOUND`; `int(code)`, `%d`, '
            '`f"{code:d}"` and JSON give -32001.',
            "",
        ]
    )


def classification() -> str:
    """How exceptions find their codes."""
    parts = [
        "# Classification",
        "",
        NOTE.format("mcpcore/classification/"),
        "",
        "An exception finds its code by its type first, then by what it carries, by its message last.",
        "",
        "## By type",
        "",
        "A class also decides for its subclasses, unless they have their own row.",
        "",
    ]
    by_code: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in types.TYPES.values():
        by_code[row.name.split(".", 1)[0], row.code.name].append(f"`{row.name}`")
    parts += [
        table(
            ["library", "code", "classes"],
            [[lib, f"`{code}`", ", ".join(names)] for (lib, code), names in by_code.items()],
        ),
        "",
    ]
    parts += ["## By HTTP status", ""]
    parts.append(
        table(
            ["status", "code", "retry"],
            [
                [number, f"`{code.name}`", status.retry_for_status(number).phrase]
                for number, code in status.STATUS_CODES.items()
            ]
            + [
                [f"{first}xx, others", f"`{code.name}`", code.retry.phrase]
                for first, code in status.STATUS_CLASSES.items()
            ]
            + [
                [number, f"`{status.code_for_status(number).name}`", retry.phrase]
                for number, retry in status.STATUS_RETRY.items()
            ],
        )
    )
    for title, facts in (
        ("By SQLSTATE", code_tables.SQLSTATE),
        ("By class of SQLSTATE", code_tables.SQLSTATE_CLASSES),
        ("By gRPC status", code_tables.GRPC),
        ("By a service's error code", code_tables.SERVICE_CODES),
    ):
        grouped: dict[str, list[str]] = defaultdict(list)
        for key, fact in facts.items():
            grouped[fact.code.name].append(f"`{key}`")
        parts += [
            "",
            f"## {title}",
            "",
            table(["code", "values"], [[f"`{code}`", ", ".join(keys)] for code, keys in grouped.items()]),
        ]
    parts += [
        "",
        "## By message",
        "",
        "In this order; the first row that matches decides. Words match whole words, `..` what lies between two words of "
        "one sentence, `[word]` may be left out, `!word` must not follow, `#` is a number, and `<env>` a name in capitals "
        "such as API_BASE; `<status>` is an HTTP status, `<lone>` one alone on its line, in brackets or before a colon, "
        "`<quoted>` one that a key of JSON has, `<ended>` one that ends the text behind a colon. `{service}` is any of the words listed under that name below the table. "
        "Letters are read without their accents, and words of names in mixed case, such as OrderNotFound, are read too.",
        "",
        table(
            ["code", "phrases", "only for"],
            [
                [
                    f"`{row.code.name}`" if row.code is not None else "by the status in it",
                    ", ".join(f"`{p}`" for p in row.phrases),
                    row.only or "",
                ]
                for row in phrase_table.MESSAGES
            ],
        ),
        "",
        table(
            ["name", "words"],
            [[f"`{{{name}}}`", words.replace("|", ", ")] for name, words in phrase_table.VOCABULARY.items()],
        ),
        "",
        "## By the name of a class",
        "",
        "For classes outside the standard library that have no row by type: the words of the name, as `user not found "
        "error` of `UserNotFoundError`. The rows of the first table decide before the message is read; those of the "
        "second where the message says nothing; those of the third come first for the name of an error that a service "
        "gives, such as AWS's, in place of the row of INTERNAL_ERROR.",
    ]
    for rows in (phrase_table.NAMES, phrase_table.VAGUE_NAMES, phrase_table.SERVICE_NAMES):
        parts += [
            "",
            table(
                ["code", "phrases"],
                [[f"`{row.code.name}`", ", ".join(f"`{p}`" for p in row.phrases)] for row in rows if row.code],
            ),
        ]
    parts.append("")
    return "\n".join(parts)


def dialects() -> str:
    """The codes of the other dialects."""
    parts = [
        "# Dialects",
        "",
        NOTE.format("mcpcore/dialects/"),
        "",
        f"`Server(dialect=...)` takes one of {', '.join(f'`{name}`' for name in DIALECTS)}.",
        "",
        "## How each code is written",
        "",
        table(
            ["code", "system_error", "ok_envelope", "ok_envelope_b", "taxonomy", "tool_error"],
            [
                [
                    f"`{code.name}`",
                    f"`{system_error.WRITTEN[code]}`",
                    "`INVALID_PARAMS`" if code is ErrorCode.INVALID_PARAMS else f"`{ok_envelope.HANDLER_ERROR}`",
                    f"`{ok_envelope.DOMAIN_CODES[code]}`",
                    f"`{taxonomy.WRITTEN[code]}`",
                    f"`{code.name}`",
                ]
                for code in ErrorCode
            ],
        ),
        "",
    ]
    for name, read in (
        ("system_error", system_error.READ),
        ("ok_envelope", ok_envelope.READ),
        ("taxonomy", taxonomy.READ),
    ):
        rows: list[list[object]] = [[f"`{native}`", f"`{code.name}`"] for native, code in read.items()]
        parts += [f"## How {name} is read", "", table(["its code", "code"], rows), ""]
    return "\n".join(parts)


def settings() -> str:
    """The configuration of the linter."""
    rows: list[list[object]] = [[f"`{name}`", key.kind, key.meaning] for name, key in KEYS.items()]
    head = ["key", "kind", "meaning; default"]
    return "\n".join(
        [
            "# Configuration of the linter",
            "",
            NOTE.format("lint/mcpcore_lint/config.py"),
            "",
            f"The keys of `[{SECTION}]` in `pyproject.toml`. The nearest file that has the section wins, and an unknown key "
            "is an error that names the near one.",
            "",
            table(head, rows),
            "",
        ]
    )


def overlay() -> str:
    """The keys of an overlay of the proxy."""
    schema = json_schema()
    parts = [
        "# The overlay of the proxy",
        "",
        NOTE.format("mcpcore/proxy/overlay.py"),
        "",
        "The file that `mcpcore proxy --contract FILE` reads, as TOML or, with the suffix `.json`, as JSON. "
        "[overlay.schema.json](overlay.schema.json) is its JSON Schema; [Use servers that you do not own]"
        "(../how-to/proxy.md) has an example.",
        "",
    ]
    for title, model in (
        ("The file", schema),
        *((name, schema["$defs"][name]) for name in ("Entry", "Match", "After")),
    ):
        rows: list[list[object]] = [
            [f"`{key}`", "yes" if key in model.get("required", []) else "", value.get("description", "")]
            for key, value in model["properties"].items()
        ]
        parts += [f"## {title}", "", model["description"], "", table(["key", "required", "meaning"], rows), ""]
    return "\n".join(parts)


def diff_rules() -> str:
    """The rules of `mcpcore diff`."""
    rows: list[list[object]] = [
        [f'<a id="{rule.id}"></a>`{rule.id}`', rule.level, rule.change, rule.why] for rule in DIFF_RULES.values()
    ]
    levels = {level: sum(rule.level == level for rule in DIFF_RULES.values()) for level in LEVELS}
    return "\n".join(
        [
            "# Rules of the comparison",
            "",
            NOTE.format("mcpcore/catalog/rules.py"),
            "",
            "`mcpcore diff` grades each change of a contract by one of these rules: "
            f"{levels['breaking']} are breaking by default, {levels['risky']} risky and {levels['safe']} safe. "
            "[Catch breaking changes of a contract](../how-to/contract-ci.md) shows how to change the levels.",
            "",
            "A reason is taken for a renamed one if the code is the same and the words of `when` and `recovery` are nearly "
            "the same; a tool, if its description and its reasons are. A type that cannot be read, in a schema or in source "
            "code, is no change. Of input schemas, the arguments are compared by name, by whether they are required, and by "
            "their types and enumerated values; lengths, patterns and bounds of numbers are not.",
            "",
            table(["rule", "level", "change", "effect on clients"], rows),
            "",
        ]
    )


def check() -> str:
    """The criteria and the findings of `mcpcore check`."""
    parts = [
        "# The findings of mcpcore check",
        "",
        NOTE.format("mcpcore/check/rules.py"),
        "",
        "[Check a running server](../how-to/check.md) says how to run it. [check.schema.json](check.schema.json) is the JSON "
        "Schema of `--format json`.",
        "",
        "## The score",
        "",
        table(
            ["criterion", "weight", "question"],
            [[f"`{criterion.id}`", criterion.weight, criterion.question] for criterion in CRITERIA.values()],
        ),
        "",
        "A criterion counts once for each call in which it can be judged, and is met if no finding of the call breaks it. The "
        "score is 100 times the sum of weight x met / judged, divided by the sum of the weights, over the criteria that were "
        "judged at all. It is rounded down, so that 100 means that nothing was found.",
        "",
        f"{CAPS} So `--fail-under 50` accepts no server that hangs, dies or leaks, and `--fail-under 80` none with an error.",
    ]
    for rule in CHECK_RULES.values():
        broken = "not scored" if rule.criterion is None else f"criterion `{rule.criterion}`"
        parts += ["", f"## {rule.id}", "", f"{rule.level.capitalize()}, {broken}. {rule.summary}", "", rule.fix]
    return "\n".join([*parts, ""])


def with_figures() -> dict[Path, str]:
    """The hand-written pages with tables of figures."""
    results = HERE.parent / "bench" / "results"
    proxy, servers, checked = (
        (results / f"{name}.md").read_text(encoding="utf-8").strip()
        for name in ("proxy", "proxy-servers", "check-servers")
    )
    pages = {
        HERE / "how-to" / "proxy.md": {"servers": servers, "cost": proxy},
        HERE / "how-to" / "check.md": {"checked": checked},
        HERE / "explanation" / "cost.md": {"cost": figures.cost(table)},
        HERE / "reference" / "support.md": {"versions": figures.versions(table)},
        HERE / "explanation" / "types.md": {"checkers": figures.checkers(table)},
    }
    return {page: figures.filled(page.read_text(encoding="utf-8"), tables) for page, tables in pages.items()}


def made() -> dict[Path, str]:
    """Every generated page by its place."""
    return {
        HERE / "reference" / "codes.md": codes(),
        HERE / "reference" / "classification.md": classification(),
        HERE / "reference" / "dialects.md": dialects(),
        HERE / "reference" / "lint-settings.md": settings(),
        HERE / "explanation" / "what-reaches-the-model.md": reach(table, REACH_NOTE),
        HERE / "reference" / "options.md": options(table, OPTIONS_NOTE),
        HERE / "reference" / "commands.md": commands.page(table, COMMANDS_NOTE),
        HERE / "reference" / "envelope.schema.json": as_json(schemas.envelope()),
        HERE / "reference" / "contract.schema.json": as_json(schemas.contract()),
        HERE / "reference" / "overlay.md": overlay(),
        HERE / "reference" / "overlay.schema.json": as_json(json_schema()),
        HERE / "reference" / "diff-rules.md": diff_rules(),
        HERE / "reference" / "catalog.schema.json": as_json(catalog_schema()),
        HERE / "reference" / "check.md": check(),
        HERE / "reference" / "check.schema.json": as_json(check_schema()),
        **with_figures(),
        **api.pages(table, API_NOTE),
        **{HERE / "rules" / name: text for name, text in pages().items()},
    }


def main() -> int:
    """Write every page; with `--check`, say which are stale."""
    if undescribed := problems():
        print("\n".join(undescribed))
        return 1
    pages_now = made()
    stale = [path for path, text in pages_now.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    kept = {path.name for path in pages_now}
    gone = [path for path in (HERE / "rules").glob("*.md") if path.name not in kept]
    if "--check" in sys.argv:
        for path in (*stale, *gone):
            print(f"stale: {path.relative_to(HERE)}")
        return 1 if stale or gone else 0
    for path in gone:
        path.unlink()
    for path, text in pages_now.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
