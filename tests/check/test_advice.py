"""Whether a text says what to do: judged by its form, and left to a reader where the form does not decide."""

from __future__ import annotations

import pytest

from mcpcore.check.advice import says_what_to_do
from tests.tables import in_one_test

TOOLS = frozenset({"list_items", "search"})
SAYS = (
    "Use another name",
    "Double-check the spelling.",
    "There is no such item. Call list_items to see the items.",
    "The id is wrong. Call search first.",
    "You may need to download it first using list_items.",
    "Make sure the relevant pages are shared with your integration.",
    "The range is too large; use a smaller limit with the second page.",
    "Conflict while saving. Please try again.",
    "Try again later.",
    "The rate limit was hit, retry after 20 seconds",
    "Too many requests, slow down",
    "Do not retry: the order was placed.",
    "Invalid time format. Expected HH:MM [24-hour format]",
    "Only SELECT queries are allowed for read_query",
    "start must be before end",
    "Input should be a valid string",
    'No such table: trade. Did you mean "trades"?',
    "Unknown region 'moon'. Available regions: eu, us",
    "Hint: sudo",
)
SAYS_NOTHING = (
    "",
    "'x'",
    "HTTP 404: ''",
    "KeyError: 'x'",
    "connect: connection refused",
    "connect ECONNREFUSED 127.0.0.1:5432",
    "ENOENT: no such file or directory, open '/x'",
    "open x.csv: no such file or directory",
    "Failed to fetch http://x.invalid/: ConnectError('[Errno -2] Name or service not known')",
    "Invalid timezone: 'No time zone found with key Mars'",
    "[Errno 2] No such file or directory: '/x/y'",
    "Ref 'nope' did not resolve to an object",
    "Entity with name nobody not found",
    "Database error: no such table: nowhere",
    "name 'x' is not defined",
    "A service that the tool depends on is unavailable.",
    "The tool failed unexpectedly.",
    "It broke",
    "Request timed out after 30 s",
    "Hit the rate limit",
    "Access to the path is denied",
)
FOR_A_READER = (
    "Bitte rufen Sie die Liste auf",
    "Der Dienst ist nicht erreichbar (ECONNREFUSED). Versuchen Sie es noch einmal.",
    "La ruta no existe, use otra",
    "No use espacios",
    "Acceso a la ruta denegado",
    "Serveur a planté",
    "文件不存在",
    "Restart server",
    "Ensure destination does not exist",
    "Ensure 'x' was created",
    "Retry once the server was started",
    "Run with sudo",
    "The file is locked and close other programs",
    "division by zero",
    "{'message': 'The value is -1; it must be positive'}",
    "The query 'drop every row now' failed",
    "The tool list_items failed",
)


@in_one_test(
    ("text", "says"),
    [(text, says) for texts, says in ((SAYS, True), (SAYS_NOTHING, False), (FOR_A_READER, None)) for text in texts],
)
def test_the_form_of_a_text_says_what_to_do_or_leaves_it_to_a_reader(text, says):
    """A command, a request or an obligation says it, a statement does not; other forms and languages decide nothing."""
    assert says_what_to_do(text, TOOLS) is says


@pytest.mark.parametrize(
    "text",
    [
        "Lost the connection to the database",
        "Without a token the request is refused",
        "When the server is down, nothing works",
        "With the wrong key nothing opens",
        "Because the file is gone",
        "Found the same key twice",
        "Read failed: because your plan has no quota",
        "Could not open the store: while the index was built",
        "Built the index, then lost the lock",
        "Error: beyond the limit",
        "Through the proxy the call was blocked",
        "Between the two a gap was left",
        "Wrote the file only partly",
        "Took the lock too late",
    ],
)
def test_a_statement_with_any_first_word_says_nothing_to_do(text):
    """Words of the closed classes, and the past of irregular verbs, are no commands, whichever texts the list was tried on."""
    assert says_what_to_do(text) is not True
