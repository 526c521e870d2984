"""Which values are redacted as secrets, and which are kept."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mcpcore.audit.record import encode
from mcpcore.wire.redaction import PATTERNS, REDACTED, is_secret_key, redact, redact_text
from mcpcore.wire.redaction.structures import ODD_LETTERS, hints_in, lowered
from tests.audit.redaction_cases import SECRETS as CASES
from tests.tables import in_one_test

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

# Pairs of a text and the secret in it.
SECRETS = [
    ("postgresql://app:hunter2@db.internal:5432/main refused", "hunter2"),
    ("postgres+asyncpg://u:p@ss/w0rd@db/x timed out", "p@ss/w0rd"),
    ("https://alice:s3cr3t@example.com/a?b=c", "s3cr3t"),
    ("https://0123456789abcdef0123@git.example.com/x.git", "0123456789abcdef0123"),
    ("redis://:sup3r@localhost:6379/0", "sup3r"),
    ("Authorization: Bearer abcDEF123.456", "abcDEF123.456"),
    ("{'Authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpwYXNz"),
    ("sent basic dXNlcjpwYXNz and failed", "dXNlcjpwYXNz"),
    ("bearer mF_9.B5f-4.1JqM was rejected", "mF_9.B5f-4.1JqM"),
    ("X-Api-Key: 7f3c9a", "7f3c9a"),
    ("Cookie: session=abc123; theme=dark", "abc123"),
    ("Set-Cookie: sid=31d4d96e407aad42; Path=/", "31d4d96e407aad42"),
    ("password=hunter2;Server=x", "hunter2"),
    ("connect(user='x', password='hun ter2', port=1)", "hun ter2"),
    ('{"api_key": "abc", "x": 1}', '"abc"'),
    ('{\\"password\\": \\"a b c\\"}', "a b c"),
    ("password: 'it\\'s mine'", "s mine"),
    ("DefaultEndpointsProtocol=https;AccountKey=abcd0123==;EndpointSuffix=x", "abcd0123"),
    ("db_password = 'hunter2'", "hunter2"),
    ("clientSecret: q8w7e6", "q8w7e6"),
    ("mysql --user root --password hunter2 main", "hunter2"),
    ("tool --api-key k-123456 run", "k-123456"),
    ("GET /x?access_token=zzz999&page=2", "zzz999"),
    ("https://b.s3.amazonaws.com/k?X-Amz-Signature=9f8e7d&y=1", "9f8e7d"),
    ("https://x.blob.core.windows.net/a?sv=1&sig=aGVsbG8%3D", "aGVsbG8"),
    (f"token {JWT} has expired", JWT),
    ("key AKIAIOSFODNN7EXAMPLE is not valid", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("pushed with ghp_0123456789abcdefABCDEF0123456789abcd", "ghp_0123456789abcdef"),
    ("github_pat_11ABCDEFG0123456789_abcdefgh", "11ABCDEFG0123456789"),
    ("xoxb-123456789012-abcdefABCDEF", "123456789012-abcdef"),
    ("Incorrect API key provided: sk-proj-abcdefghij0123456789", "abcdefghij0123456789"),
    ("sk_live_51H8abcdefgh", "51H8abcdefgh"),
    ("AIzaSyA-0123456789abcdefghijklmnopqrstuv", "SyA-0123456789"),
    ("hf_abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
    ("https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX", "XXXXXXXXXXXX"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- and more", "MIIEow"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"),
]

PLAIN = [
    "None of 3 PMIDs returned data.",
    "bearer token is missing",
    "Basic authentication required",
    "basic validation failed",
    "Unexpected token: } in JSON at position 3",
    "http://localhost:8080/a?mail=a@b.example",
    "KeyError: 'token'",
    'password authentication failed for user "app"',
    "token: None",
    "max_tokens must be at least 1",
    "the key 'user_id' is missing",
    "C:\\keys\\passport.txt does not exist",
    "Task-skeleton-generation-pipeline",
    "https://github.com/org/repo/pull/1",
    "cookie",
]


@in_one_test(("text", "secret"), [*SECRETS, *CASES])
def test_a_secret_is_found_by_its_shape_or_its_name(text, secret):
    """The secret is removed from the text alone and from the JSON of a record; the marker is not redacted again."""
    assert secret in text
    clean = redact_text(text)
    assert secret not in clean
    assert REDACTED in clean
    assert redact_text(clean) == clean
    assert secret not in redact_text(f"while calling:\n{text}\nand then more words")
    value = {"exception": {"message": text}, "causes": [text, (text,)]}
    assert secret not in json.dumps(redact(value))
    assert secret not in encode(value)[1]


@in_one_test("text", PLAIN)
def test_text_about_secrets_is_unchanged(text):
    """A message that names a kind of secret but contains none is kept."""
    assert redact_text(text) == text


@in_one_test(
    "key",
    ["password", "Password", "dbPassword", "DB_PASSWORD", "x-api-key", "apiKey", "apikey", "token", "accessToken",
     "GITHUB_TOKEN", "client secret", "Authorization", "Set-Cookie", "private_key", "aws_secret_access_key", "otp",
     "sessionToken", "credentials", "signature", "passphrase", "k" * 300,
     "password2", "password_1", "passwordHash", "password_hash", "newPassword", "password_confirm",
     "passwordConfirmation", "userpassword", "PGPASSWORD", "dbpassword", "db_pass", "dbPass", "DB_PASS", "SMTP_PASS",
     "clientsecret", "secretValue", "client_secret_value", "accesstoken", "csrftoken", "X-CSRF-Token", "token_value",
     "api_key_1", "API_KEY_PROD", "privateKeyPem", "hmac_key", "cookie_header"],
)  # fmt: skip
def test_a_value_with_a_secret_name_is_hidden(key):
    """Text, numbers and structures are hidden; None, empty text and booleans are kept. The name may be several words, camel
    case or one word."""
    assert is_secret_key(key)
    for value in ("x", 1234, {"user": "a"}, ["b"]):
        assert redact({"outer": [{key: value}]})["outer"][0] == {key: REDACTED}
    for value in (None, "", True):
        assert redact({key: value}) == {key: value}


@in_one_test(
    "key",
    ["session_id", "correlationId", "plan_hash", "max_tokens", "tokens", "tokenizer", "next_page_token",
     "progressToken", "keys", "key", "passed", "author", "spin", "cookiecutter", "compass", "public_key_id",
     "pass", "first_pass", "pinned", "pin_number", "opinion", "authority", "auth_method", "auth_type", "token_count",
     "total_tokens", "token_type", "token_limit", "nextPageToken", "nextpagetoken", "keyword", "key_id",
     "api_key_id", "primary_key", "foreign_key", "sort_key", "cache_key", "public_key", "keyboard", "secret_name",
     "secretary", "password_length", "password_policy", "signature_algorithm", "signatures", "cookies_enabled",
     "hash", "value", "value_2", "header", "role"],
)  # fmt: skip
def test_a_value_with_another_name_is_kept(key):
    """Readers of a record need identifiers, counts, kinds and cursors."""
    assert not is_secret_key(key)
    for value in ("x-1", "words"):
        assert redact({key: value, "data": {key: value}}) == {key: value, "data": {key: value}}


def test_pairs_and_lists_of_names_and_values_are_recognised():
    """Headers and environments are often lists instead of mappings."""
    assert redact([["Authorization", "abc"], ["Accept", "x"]]) == [["Authorization", REDACTED], ["Accept", "x"]]
    assert redact([{"name": "DB_PASSWORD", "value": "x"}, {"name": "HOME", "value": "y"}]) == [
        {"name": "DB_PASSWORD", "value": REDACTED},
        {"name": "HOME", "value": "y"},
    ]


def test_the_callers_values_are_unchanged_and_cycles_end():
    """The result is a copy, and endless nesting is cut off."""
    loop: dict[str, object] = {"password": "x"}
    loop["self"] = loop
    clean = redact(loop)
    assert loop["password"] == "x"
    assert clean["password"] == REDACTED
    assert redact((1, "password=x", b"raw", {"a"})) == (1, f"password={REDACTED}", b"raw", ["a"])


texts = st.text() | st.sampled_from(
    [
        *(text for text, _ in SECRETS),
        "\0",
        "a\0pwd=x",
        "\u00fc pwd=x",
        "\u4e2d",
        "pa\u017f\u017fword=x",
        "Authorization",
        "cookie",
        "password",
        "ASIAABCDEFGHIJKLMNOP",
    ]
)
names = st.text() | st.sampled_from(
    [
        "password",
        "token",
        "name",
        "value",
        "key",
        "header",
        "x",
        "\u00e9",
        "\u212aey",
        "pa\u017f\u017fword",
        "k" * 300,
        "password=abc " * 30,
        "api_key=abc",
        "pin",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(texts, min_size=9, max_size=12)
        | st.tuples(inner, inner)
        | st.dictionaries(names, inner, max_size=4)
        | st.dictionaries(names, texts, min_size=9, max_size=12)
    ),
    max_leaves=12,
)


@given(st.dictionaries(names, json_values, max_size=4))
def test_a_record_is_redacted_like_its_values(value):
    """Encoding a record hides the same secrets as `redact`, and leaves the caller's values unchanged."""
    before = repr(value)
    expected = json.loads(json.dumps(redact(value)))
    _, line = encode({"timestamp": "now", "record": value})
    assert json.loads(line)["record"] == expected
    assert repr(value) == before


@given(json_values)
def test_redacting_is_idempotent(value):
    """Redacting a record again changes nothing."""
    once = redact(value)
    assert redact(once) == once


@in_one_test("pattern", PATTERNS)
def test_each_row_of_the_table_compiles_and_is_found_by_its_hints(pattern):
    """Each example contains a hint and begins as the row says."""
    regex = re.compile(pattern.expression)
    texts = [text for text, _ in (*SECRETS, *CASES) if ODD_LETTERS.keys().isdisjoint(text)]
    matches = [(match.group().lower(), text.lower()) for text in texts if (match := regex.search(text))]
    assert matches
    for text, whole in matches:
        assert any(hint in whole for hint in pattern.hints)
        assert any(needed in whole for needed in pattern.needs)
        assert text.startswith(tuple(start for start in pattern.starts or pattern.hints if start[0] != "*")) or any(
            start[0] == "*" for start in pattern.starts or pattern.hints
        )


def test_the_list_of_odd_letters_is_complete():
    """All other letters stay one letter in lower case, and none of them becomes an ASCII letter."""
    of_ascii = re.compile("[a-z0-9_=:/@?&-]", re.IGNORECASE).match
    for number in range(0x80, 0x110000):
        letter = chr(number)
        low = letter.lower()
        is_odd = of_ascii(letter) is not None or len(low) != 1 or low.isascii()
        assert is_odd is (letter in ODD_LETTERS), letter
        assert len(lowered(letter)) == 1


def test_no_hint_hides_another_from_the_search():
    """Both of two overlapping hints are found."""
    hints = {hint for pattern in PATTERNS for hint in pattern.hints if not pattern.ahead}
    assert len(hints) > 30
    for first in hints:
        for other in hints:
            for shared in range(min(len(first), len(other))):
                if not shared or first[-shared:] == other[:shared]:
                    assert {first, other} <= hints_in(first + other[shared:], alone=False)


@pytest.mark.parametrize(
    "unit",
    ["password ", "password=", "a:b@", "://", "://a:", "bearer ", "basic A", "eyJaaaaaa.", "-----BEGIN ", "sk-a-",
     "--token ", "x-api-key:'", "authorization", "cookie:", 'token\\"', "AKIA", "secret='", "token => ",
     'value": "', "curl ", "<password ", "Authorization: a\n ", "token = a or ", "password\n  [input_value=",
     "('password', '", "%3a%2f%2fa%3a", '\\\\"password', "api key 1a", "password=a(", 'secret":{'],
)  # fmt: skip
def test_hostile_text_is_searched_in_linear_time(unit):
    """A text ten times as long takes about ten times as long, not a hundred times."""

    def took(times: int) -> float:
        text = unit * times
        began = time.process_time()
        redact_text(text)
        redact({"text": text, "texts": [unit] * times})
        return time.process_time() - began

    took(10)
    assert any(took(8_000) < max(60 * took(800), 0.2) for _ in range(3))


fragments = st.sampled_from(
    [*(text for text, _ in SECRETS), *(text for text, _ in CASES[::3]), *PLAIN, "key", "_key=", "api-", "://", "@", "--", ":", " ", "'", "+", "sk_", "=",
     "ftp", "\u00e9", "\u4e2d", "\U0001f512", "&sig=", "Basic\t", "ASIA", "\u212aey", "pa\u017f\u017fword=x", "credent\u0131al=x", "x-api-key", "eyJ"]
)  # fmt: skip


# On a busy machine, generating examples may be slow, which is unrelated to the search.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(fragments, st.integers(0, 60), st.integers(0, 60), st.booleans()), max_size=8))
def test_searching_at_hints_finds_the_same_as_searching_everywhere(parts):
    """The hints and positions only save time, so trying each expression everywhere gives the same result."""
    text = "".join((part.upper() if loud else part)[start : len(part) - end] for part, start, end, loud in parts)
    expected = text
    for row in PATTERNS:
        kept = r"\1" if re.compile(row.expression).groups else ""
        expected = re.sub(row.expression, kept + row.tail, expected)
    assert redact_text(text) == expected


@pytest.mark.parametrize("key", ["surface", "name", "server", "effects", "tool", "resource", "prompt", "reason"])
def test_texts_that_are_searched_once_lose_their_secrets_too(key):
    """What is known of one text holds for no other, nor for another part of the record."""
    plain = {key: "plain", "message": "plain", "data": {"text": "plain"}}
    for _ in range(2):
        assert plain.items() <= encode(plain)[0].items()
        for changed in (key, "message", "data"):
            text = encode({**plain, changed: "password=hunter2"})[1]
            assert ("hunter2" in text, REDACTED in text) == (False, True)
