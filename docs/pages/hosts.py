"""The sections about agent hosts and output schemas, from what `make hosts` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pages.markdown import table
from pages.versions import pinned

RESULTS: Final = Path(__file__).parents[2] / "tests" / "hosts" / "results"
NPM: Final = "tests/hosts/package.json"

PACKAGES: Final = {
    "Codex": "@openai/codex",
    "Gemini CLI": "@google/gemini-cli",
    "opencode": "opencode-linux-x64-baseline",
}
"""The package of each host."""

CASES: Final = {
    "declared": "a declared failure",
    "retryable": "a retryable one",
    "unknown": "unknown effects",
    "arguments": "arguments that the server refuses",
    "wrong-type": "an argument of the wrong type",
    "crash": "a crash",
    "batch": "an item of a batch",
    "foreign": "a failure of a foreign server, behind `mcpcore proxy` with a contract",
}
FACTS: Final = ("message", "reason", "recovery", "advice", "effects")

SHAPES: Final = {
    "sent": "as mcpcore sends it: `type: object`, and an `anyOf`",
    "optional": "`type: object`, all properties optional",
    "untyped": "an `anyOf` alone, without `type: object`",
    "refusing": "the result alone",
}
"""The output schemas that were tried."""


def results(name: str) -> dict[str, Any]:
    """What a host or the SDKs did when they ran last."""
    result: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return result


def hosts() -> list[str]:
    """What the model of each host reads, and the one kind of failure of which a host shows less than the others."""
    runs = {name: results(name)["cases"] for name in PACKAGES}
    facts = {"crash": ("message", "advice", "effects")}
    silent = [name for name, cases in runs.items() if not cases["wrong-type"]["facts"]]
    assert all(
        set(facts.get(case, FACTS)) <= set(cases[case]["facts"])
        for name, cases in runs.items()
        for case in CASES
        if (case, name) not in {("wrong-type", host) for host in silent}
    )
    return [
        table(
            ["host", "package", "for a failure, the model reads", "for a batch with a failed item"],
            [[name, pinned(package, NPM), *forms(runs[name])] for name, package in PACKAGES.items()],
        ),
        "",
        "In all of them, the message, the reason, the recovery, the advice and the effects arrive, even behind `mcpcore proxy` with a contract. "
        "A crash has no reason and no recovery.",
        "",
        *(
            f"{name} checks types itself: if an argument is a word instead of a number, it makes no call, and its model reads "
            f"`{runs[name]['wrong-type']['shown']}`.\n"
            for name in silent
        ),
    ]


def details() -> list[str]:
    """Which facts arrive in each host, and the texts of a declared failure."""
    runs = {name: results(name)["cases"] for name in PACKAGES}
    facts: list[list[object]] = [
        [title, *(readers(runs, case, fact) for fact in FACTS)] for case, title in CASES.items()
    ]
    parts = [
        "`tests/hosts/` starts each host with a scripted model on loopback. The model calls a tool in each turn, and the tests read "
        "the request with which the host gives it the answer. The table says in which hosts each fact arrives.",
        "",
        table(["failure", *FACTS], facts),
        "",
    ]
    for name, cases in runs.items():
        parts += [f"For a declared failure, {name}:", "", "```text", cases["declared"]["shown"], "```", ""]
    return parts


def forms(cases: dict[str, dict[str, Any]]) -> list[str]:
    """The forms in which a host shows a failure and a batch."""
    of_failures = {" and ".join(case["forms"]) for name, case in cases.items() if name != "batch" and case["forms"]}
    assert len(of_failures) == 1, of_failures
    return [of_failures.pop(), " and ".join(cases["batch"]["forms"])]


def readers(runs: dict[str, dict[str, Any]], case: str, fact: str) -> str:
    """The hosts for which a fact arrives."""
    names = [name for name, cases in runs.items() if fact in cases[case]["facts"]]
    return "all" if len(names) == len(runs) else ", ".join(names) or "none"


def output_schemas() -> list[str]:
    """The section about output schemas: what each client makes of each shape."""
    clients = {**results("TypeScript SDKs"), **{name: results(name)["shapes"] for name in PACKAGES}}
    rows: list[list[object]] = [
        [title, *(shapes[shape] for shapes in clients.values())] for shape, title in SHAPES.items()
    ]
    return [
        "Some clients validate failures as well as successes, and some refuse a list of tools because of one schema. `make hosts` gives each "
        "client a tool with one of four output schemas. *Accepted* means that the client lists the tool and shows a success and a "
        "failure. *No failure* means that it replaces the failure with another error, and *no tools* that it refuses the whole list.",
        "",
        table(["output schema", *clients], rows),
        "",
        "An `anyOf` at the root does no harm as long as the root also has `type: object`, and mcpcore always sends both. Optional "
        "properties would be accepted too, but then the schema would not say which fields a success has. Versions 1.11, 1.12, 1.17, 1.20, "
        "1.23, 1.26 and 2.0 of the TypeScript SDK accept and refuse the same; they were tried once, outside of `make hosts`. In the "
        "protocol of 2026-07-28 the root needs no type.",
        "",
    ]
