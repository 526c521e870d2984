"""The labelled set of real exceptions, as far as the libraries of the test environment raise it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.classify.__main__ import microseconds
from bench.classify.unseen import (
    EARLIER,
    LATER,
    LATEST,
    PACKAGE,
    Message,
    across_packages,
    figures,
    main,
    messages,
    met,
    of_later_packages,
)

SERVICES = (
    "openai,anthropic,botocore,google.api_core,google.auth,grpc,azure.core,elasticsearch,psycopg,asyncpg,pymysql,"
    "pymongo,bson"
)
"""Libraries that may be missing outside the environment of the bench."""


@pytest.mark.slow
def test_real_exceptions_get_the_code_that_an_engineer_gives_them(tmp_path: Path) -> None:
    """At least 97 % are right, no bug is blamed on the caller, and the reference alone is far behind."""
    results = tmp_path / "classify.json"
    # In a separate process: the libraries leave sockets open, and some change others when they are imported.
    run = subprocess.run(
        [sys.executable, "-m", "bench.classify", "-v", "--accuracy", "--without", SERVICES, "--results", str(results)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads(results.read_text())
    assert report["cases"] >= 300
    assert report["mistakes_of_the_program"] >= 50
    assert report["classify"]["percent"] >= 97, run.stdout
    assert report["classify"]["blamed"] == 0, run.stdout
    assert report["reference"]["percent"] < 60


def test_messages_that_nobody_wrote_for_mcpcore_get_no_worse() -> None:
    """Neither more wrong codes nor more silence than the page tells; also where a phrase decides in other packages."""
    report = figures(messages(EARLIER))
    assert report["wrong_percent"] <= 0.25
    assert report["agreed_coded_percent"] >= 56.5
    elsewhere = across_packages(messages(EARLIER))
    assert elsewhere["wrong_percent"] <= 0.25
    assert elsewhere["agreed_coded_percent"] >= 45
    together = figures(messages(EARLIER) + messages(LATER) + messages(LATEST))
    assert together["wrong_percent"] <= 0.25
    assert together["agreed_coded_percent"] >= 58.5


def test_a_phrase_counts_across_packages_only_where_another_package_bears_it_out() -> None:
    """A phrase that is right in its own package alone is silent there, and so is one that is wrong elsewhere."""

    def message(package: str, phrase: str, label: str) -> Message:
        return Message("x", package, (label, label), "CONFLICT", phrase)

    labelled = [
        message("one", "shared", "CONFLICT"),
        message("two", "shared", "CONFLICT"),
        message("one", "alone", "CONFLICT"),
        message("one", "alone", "CONFLICT"),
        message("two", "refuted", "CONFLICT"),
        message("three", "refuted", "CONFLICT"),
        message("one", "refuted", "NOT_FOUND"),
    ]
    report = across_packages(labelled)
    assert (3, 1) == (report["coded"], report["wrong"])


def test_a_later_package_is_judged_by_the_phrases_of_earlier_ones() -> None:
    """A phrase that is right in no earlier package says nothing; a package has one name in every version."""
    earlier = [Message("x", "one", ("CONFLICT", "CONFLICT"), "CONFLICT", "known")]
    later = [Message("x", "two", ("NOT_FOUND", "NOT_FOUND"), "CONFLICT", phrase) for phrase in ("known", "new")]
    report = of_later_packages(earlier, later)
    assert (1, 1) == (report["coded"], report["wrong"])
    assert ["npm:pg", "npm:@hono/node"] == [
        PACKAGE.findall(source)[0] for source in ("npm:pg@8.23.1:lib/client.js:12", "npm:@hono/node@1.2:a.js:1")
    ]


def test_the_closed_set_is_held_to_the_open_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A closed set is read from its files, whatever their order; wrong codes or silence fail the bench."""
    texts, first, second = (tmp_path / name for name in ("texts.jsonl", "first.tsv", "second.tsv"))
    said = ["User 7 not found", "the flux is low", "connection refused", "disk quota exceeded"]
    texts.write_text(
        "".join(json.dumps({"id": i, "text": text, "source": "pypi:a@1:b:2"}) + "\n" for i, text in enumerate(said))
    )
    first.write_text("3\tSERVICE_UNAVAILABLE\n0\tNOT_FOUND\n1\tnone\n2\tSERVICE_UNAVAILABLE\n")
    second.write_text("0\tNOT_FOUND\n1\tnone\n2\tSERVICE_UNAVAILABLE\n3\tSERVICE_UNAVAILABLE\n")
    closed = messages((texts, first, second))
    assert [("NOT_FOUND", "NOT_FOUND"), ("none", "none")] == [message.labels for message in closed[:2]]
    results = ["--results", str(tmp_path / "unseen.json")]
    assert main(["--closed", str(texts), str(first), str(second), *results]) == 0
    assert "closed: 0.0 % wrong, 100.0 % of the agreed have a code" in capsys.readouterr().out
    first.write_text("0\tCONFLICT\n1\tnone\n2\tSERVICE_UNAVAILABLE\n3\tSERVICE_UNAVAILABLE\n")
    second.write_text("0\tCONFLICT\n1\tnone\n2\tSERVICE_UNAVAILABLE\n3\tSERVICE_UNAVAILABLE\n")
    assert main(["--closed", str(texts), str(first), str(second), *results]) == 1
    assert "closed: 25.0 % wrong" in capsys.readouterr().out
    silent = figures([message._replace(code="none") for message in closed])
    assert not met({"open": figures(closed), "closed": silent})


@pytest.mark.skipif(sys.gettrace() is not None, reason="to count branches takes longer than to classify")
def test_a_known_type_costs_next_to_nothing() -> None:
    """The class alone decides, so its answer is looked up: the limits are wide, for machines that are busy."""
    assert microseconds(TimeoutError("slow")) < 5
    assert microseconds(RuntimeError("The user 'ada' was not found in the directory of project apollo")) < 100
