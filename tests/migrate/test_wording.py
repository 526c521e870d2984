"""The sentences of a contract are whole: with their verb and their subject, and without values at the end."""

from __future__ import annotations

import pytest
from mcpcore_lint.migrate.messages import code_of
from mcpcore_lint.migrate.sentences import is_true_alone, whole

SAID = {
    "Invalid JSON for metrics.": "The JSON for metrics is invalid.",
    "Invalid type: {t}.": "The type is invalid.",
    "Invalid table name: must be 'table' or 'schema.table'.": "The table name must be 'table' or 'schema.table'.",
    "Invalid depth: '{depth}' is not an integer.": "Invalid depth: '{depth}' is not an integer.",
    "Invalid credentials and no token available.": "Invalid credentials and no token available.",
    "No alert found with ID: {alert_id}.": "No alert was found with that ID.",
    "Missing arguments.": "The arguments are missing.",
    "Unknown table {name}.": "The table is unknown.",
    "Order {order_id} not found.": "The order was not found.",
    "URL {url} is not reachable.": "The URL is not reachable.",
    "Results not available for {day}.": "Results are not available for {day}.",
    "No squad found for team {team_id}.": "No squad was found for team {team_id}.",
    "No accessible workspaces found.": "No accessible workspaces were found.",
    "Permission denied.": "Permission was denied.",
    "Authentication required.": "Authentication is required.",
    "Page too large: {size} bytes (max {most}).": "Page is too large.",
    "Could not determine the week.": "The server could not determine the week.",
    "Could not find artist with identifier: {artist}.": "The server could not find artist with that identifier.",
    "Unable to open {path}.": "The server could not open {path}.",
    "Failed to fetch data.": "The server failed to fetch data.",
    "Error creating pipeline (HTTP {status}): {detail}.": "Creating pipeline failed.",
    "page must be >= 1, got {page}.": "page must be >= 1.",
    "Branch is required, got: {branch}.": "Branch is required.",
    "page must be <= {most}, got {page}.": "page must be <= {most}.",
}
KEPT = [
    "Must be one of: {kinds}.",
    "Unexpected error occurred.",
    "No backend returned results.",
    "No active session.",
    "The server rejected the request.",
    "Request exceeded the limit.",
    "Docker is not running.",
    "{name} is required.",
    "Either 'a' or 'b' must be given.",
    "Project is constrained to '{project}'.",
]


@pytest.mark.parametrize("when", SAID)
def test_what_a_message_leaves_out_is_added(when: str) -> None:
    """A verb, an article or a subject is added where it is certain, and values at the end go."""
    assert SAID[when] == whole(when)
    assert SAID[when] == whole(SAID[when])


@pytest.mark.parametrize("when", KEPT)
def test_other_messages_stay(when: str) -> None:
    """A sentence stays, and so does a text whose missing words are not certain."""
    assert when == whole(when)


def test_a_participle_is_no_verb() -> None:
    """A clause behind it has its own verb, and the sentence has none."""
    for when in (
        "callback_url required when tokens were not provided.",
        "Token missing if x is set.",
        "No x set if y is z.",
    ):
        assert not is_true_alone(when, ())
    for when in (
        "callback_url is required when tokens were not provided.",
        "The stored token expired when it was used.",
        "The size exceeds what is allowed if x is set.",
        "The limit configured must be set when x is.",
    ):
        assert is_true_alone(when, ())


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("", "No player found matching 'x'", "NOT_FOUND"),
        ("builtins.ValueError", "No player found matching 'x'", "NOT_FOUND"),
        ("builtins.RuntimeError", "The table was not found", "NOT_FOUND"),
        ("builtins.TimeoutError", "No answer found", "TIMEOUT"),
        ("", "The run could not be started", "INTERNAL_ERROR"),
    ],
)
def test_a_text_that_says_that_something_is_missing_has_a_code(name: str, text: str, code: str) -> None:
    """It is NOT_FOUND, unless the class says more; the code of a vague text does not change."""
    assert code == code_of(name, text)
