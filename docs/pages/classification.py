"""How exceptions find their codes."""

from __future__ import annotations

from collections import defaultdict

from mcpcore.classification import code_tables, phrases, status
from pages.markdown import table


def _code_of(row: phrases.PhraseRow) -> str:
    if row.code is not None:
        return f"`{row.code.name}`"
    if row.silences is not None:
        return f"not `{row.silences.name}`"
    has_status = any(slot in phrase for phrase in row.phrases for slot in ("<status>", "<lone>", "<ended>", "<quoted>"))
    return "by the status in it" if has_status else "none"


def page() -> str:
    """How exceptions find their codes."""
    parts = [
        "# Classification",
        "",
        "An exception finds its code by its type first, then by what it carries, by its message last.",
        "",
        "## By type",
        "",
        "A class also decides for its subclasses, unless they have their own row.",
        "",
    ]
    by_code: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in code_tables.TYPES.values():
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
        "`<quoted>` one that a key of JSON has, `<ended>` one that ends the text behind a colon; `<end>` is the end of a line, "
        "`<word>` any one word, `<quality>` one that is no participle, and `<value>` a value. A text that matches a row without a code "
        "names no cause, whatever words it has; later rows do not give it a code that its row excludes. Where two parts "
        'of a text have different codes by the form of a sentence, as in "Authentication failed: timeout of 30 s exceeded", '
        "it has none; a fact, such as the name of an errno, decides all the same. "
        "`{service}` is any of the words listed under that name below the table. "
        "Letters are read without their accents, and words of names in mixed case, such as OrderNotFound, are read too.",
        "",
        table(
            ["code", "phrases", "only for"],
            [
                [
                    _code_of(row),
                    ", ".join(f"`{p}`" for p in row.phrases),
                    row.only or "",
                ]
                for row in phrases.MESSAGES
            ],
        ),
        "",
        table(
            ["name", "words"],
            [[f"`{{{name}}}`", words.replace("|", ", ")] for name, words in phrases.VOCABULARY.items()],
        ),
        "",
        "## By the name of a class",
        "",
        "For classes outside the standard library that have no row by type: the words of the name, as `user not found "
        "error` of `UserNotFoundError`. The rows of the first table decide before the message is read; those of the "
        "second where the message says nothing; those of the third come first for the name of an error that a service "
        "gives, such as AWS's, in place of the row of INTERNAL_ERROR.",
    ]
    for rows in (phrases.NAMES, phrases.VAGUE_NAMES, phrases.SERVICE_NAMES):
        parts += [
            "",
            table(
                ["code", "phrases"],
                [[f"`{row.code.name}`", ", ".join(f"`{p}`" for p in row.phrases)] for row in rows if row.code],
            ),
        ]
    parts.append("")
    return "\n".join(parts)
