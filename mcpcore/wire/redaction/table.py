"""The table of the shapes of secrets in texts.

Source of the prefixes of tokens: the documentation of their makers. Where it gives no length, the length is that of its
examples. Among them:

- Twilio: https://www.twilio.com/docs/glossary/what-is-a-sid (two letters and 32 hexadecimal digits; SK is an API key)
- Notion: https://developers.notion.com/reference/authentication (`ntn_`, and `secret_` before)
- Mailgun: https://documentation.mailgun.com/docs/mailgun/api-reference/authentication (`key-` and 32 digits)
- Terraform: https://developer.hashicorp.com/terraform/cloud-docs/api-docs/team-tokens (`ID.atlasv1.SECRET`)
- Sentry: https://docs.sentry.io/security-legal-pii/security/token-formats (`sntryu_` and its like, 64 digits)
- Airtable: https://airtable.com/developers/web/guides/personal-access-tokens (`patID.SECRET`)
- Fly: https://fly.io/docs/security/tokens, https://hexdocs.pm/macfly (`FlyV1 fm2_...,fm2_...`)
- Netlify: https://answers.netlify.com/t/106146 (`nfp_`, `nfc_`, `nfo_`, `nfu_`, `nfb_`; 40 characters in all)
- Square: https://developer.squareup.com/docs/build-basics/access-tokens (`EAAA`, `sq0atp-`, `sq0csp-`)
"""

from __future__ import annotations

from typing import Final, NamedTuple

REDACTED: Final = "[redacted]"
"""The replacement for a secret. Redacting twice changes nothing."""

# One alternation for secrets that a text names itself: `password=...`, `"api_key": "..."`, `AccountKey=...`.
_NAMED = (
    r"(?:passwor[dt]s?|passwd|passphrase|passcode|kennwort|mot de passe|contrase(?:\xf1|n)a|"
    r"(?<=[a-z0-9][_-])pass|pwd|secrets?|credentials?|token|jwt|"
    r"(?:api|access|account|auth|client|encryption|private|secret|session|shared[_-]?access|signing|subscription)"
    r"[_ -]?key|signature)"
)
_NAMED_HINTS = ("pass", "pwd", "secret", "credential", "token", "jwt", "key", "signature", "kennwort", "contrase")
# A quote, however often a text within a text has escaped it.
_QUOTE = r"(?:[\"']|\\{1,7}[\"'])"
# In a URL, in HTML, or escaped by number.
_ENCODED = r"(?:\\(?:u0022|x22)|&(?:quot|apos|\#3[49]);|%22)"
# The end of the name, and the text between the name and its value.
_END = rf"(?>{_QUOTE}?)\]?+"
_IS = r"(?>(?:\s(?:is|was))?)\s{0,8}+(?>:=|=>|={1,3}|!=|->|:|%3a)\s{0,8}+"
_GIVEN = r"(?>(?:\s(?:is|was))?)\s{0,8}+(?>:=|=>|=(?!=)|:(?!:))\s{0,8}+"
# `password: str = "..."`, `api_key=Secret("...")`, `token = token or "..."`
_THROUGH = r"(?:[a-z_][\w.\[\]| ]{0,40}=\s{0,2}|[a-z_][\w.]{0,40}\((?:\w{1,20}=)?|[\w.]{1,40} or )?"
# A file that holds it.
_PLACE = r"(?!~?/(?:\.ssh|app|data|etc|home|mnt|opt|root|run|srv|tmp|usr|var)/)(?!/home/\w+\b)(?!/srv/\w+\b)"
# Words about a secret instead of its value: `password: must have 8 characters`, `token: str`.
_SAID = (
    r"(?!(?:none|null|true|false|yes|no|undefined|str|string|int|bool|bytes|any|optional|secretstr|"
    r"(?:must|should|cannot|can't|may|field|value|required|missing|invalid|is|was|were|are|has|have|not|no|the|this|that|"
    r"expected|unexpected|too|at|a|an|please|expired|incorrect|wrong|input|does|did|could|failed|found|length)"
    r"(?=[\s.,;:]|\Z))(?![\w-]))"
)
# Whitespace, for a long run of anything else: a class that names its characters is ten times as fast as one with `\s`.
_BLANK = r"\x00-\x20\x85\xa0"
# A part of the credentials of a store, which may hold anything but the beginning of the next URL.
_STORE_WORD = rf"(?:[^{_BLANK}\"'<>@:]{{1,1024}}+|:(?!//))"
# A random token where dashes may be in it, and no name of words with dashes: a capital, or a long run without one.
_RANDOM = r"(?=[a-z0-9_-]{0,60}+[A-Z]|[a-z0-9]{16})"
# The text after `sk-` in a key: labels and a long run, a capital and a digit, or the labels of a vendor.
_SK = (
    r"(?=(?:[a-z0-9]{1,12}-){0,3}(?=[a-z]{0,60}+[0-9])[a-z0-9]{20}|[a-z]{24}|ant-[a-z]{2,8}[0-9]{2}-|"
    r"(?:proj|svcacct)-[a-z0-9-]{0,60}+[A-Z_]|(?=[a-z0-9_-]{0,60}+[A-Z])[A-Za-z_-]{0,60}+[0-9])"
)
# A port instead of a password, before a path, the next host or the end.
_NO_PORT = r"(?!\d{1,5}(?:[/?\#,;]|\Z))"
# A sentence to the end of the line or of the quotes, which is no value of a header: words without the digits and signs
# of a secret. `Authorization` takes a scheme and what it needs, or one word; a cookie has an equals sign.
_WORD = r"\(?(?:[a-z][a-z:./_'-]{0,30}[0-9]{0,3}|[0-9]{1,6})[),.;:!?]{0,2}"
_SENTENCE_END = r"[ \t]*(?:[\r\n\"'\\}\]]|\Z)"
_NO_SENTENCE = (
    r"(?!(?!(?:apikey|basic|bearer|digest|dpop|gnap|hoba|mutual|negotiate|ntlm|oauth|scram-[\w-]{1,20}|token|vapid)\b)"
    rf"{_WORD}(?>(?:[ \t]{_WORD}){{2,40}}){_SENTENCE_END})"
)
_NO_COOKIE_IN = rf"(?!{_WORD}(?>(?:[ \t]{_WORD}){{1,40}}){_SENTENCE_END})"
# `The Secret: Garden` is a title.
_NO_TITLE = r"(?!(?-i:(?:(?<=\bThe )|(?<=\bAn )|(?<=\bA ))[A-Z][a-z]{2,16}: [A-Z][a-z]{1,24}(?![\w@#$%^&*+=/-])))"
# The beginning of a token: behind no letter or digit, but for those of an escape (`\n`, `\u001b`, `%20`).
_BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-F]{2}))"
_STOP = r"(?!\[redacted\])"
# The dash of an option of a command. The text between command and dash is read in whole runs, which no second try
# divides again.
_DASH = r"(?=\s)[^\n-]{0,200}+-(?:[^\n-]{0,60}+-){0,8}?(?<=\s-)"
STORE_NAMES: Final = (
    "postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle", "mongodb", "rediss", "redis", "valkeys", "valkey",
    "amqps", "amqp", "clickhouse", "kafka", "nats", "ldaps", "ldap", "sftp", "ftp", "ssh", "smtps", "smtp",
)  # fmt: skip
STORES: Final = rf"(?:{'|'.join(STORE_NAMES)})(?:\+[\w.]{{1,32}})?"

# Two beginnings that are no literals: the name of a key, and the scheme of a store's URL.
KEY: Final = "*key"
SCHEME: Final = "*scheme"
_NAMED_STARTS = (
    "pass", "pwd", "secret", "credential", "token", "jwt", "signature", KEY, "kennwort", "mot de passe", "contrase",
)  # fmt: skip
KEY_PREFIXES: Final = (
    "api", "access", "account", "auth", "client", "encryption", "private", "secret", "session", "signing",
    "subscription",
)  # fmt: skip
_VENDOR_STARTS = (
    "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "sk-", "sk_live_", "sk_test_", "rk_live_",
    "rk_test_", "aiza", "npm_", "pypi-", "hf_", "xapp-", "whsec_", "ya29.", "sg.", "dop_v1_", "shpat_", "shpss_",
    "hvs.", "lin_api_", "gsk_", "xai-", "tvly-", "age-secret-key-",
)  # fmt: skip
_EXACT_STARTS = (
    "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "gocspx-", "doo_v1_", "shpca_", "shppa_", "hvb.", "dapi", "figd_",
    "ntn_", "glsa_", "sntry", "pmak-", "dp.pt.", "pscale_pw_", "sq0atp-", "atatt3xffgf0", "rubygems_", "dckr_pat_",
    "pplx-", "r8_", "lsv2_pt_", "sbp_", "pul-", "nrak-", "xkeysib-", "secret_", "fm1r_", "fm1a_", "fm2_", "fo1_",
    "eaaa", "sq0csp-", "sq0csb-", "sq0atb-",
)  # fmt: skip


class Pattern(NamedTuple):
    """One row of the table: a kind of secret, the strings that it always contains, and how to find it."""

    name: str
    hints: tuple[str, ...]
    """Each match contains one of these, in lower case; one pass over a text finds all hints of the table."""

    expression: str
    """Finds the secret; the first group, if there is one, begins the match and is kept."""

    starts: tuple[str, ...] = ()
    """The possible beginnings of a match, in lower case; empty if these are the hints. The expression is tried only
    there, which is much faster than a search."""

    needs: tuple[str, str] = ("", "")
    """A match also contains one of these, in lower case: a cheap check before the places are found."""

    alone: bool = False
    """Whether the shape alone shows a secret, without a name in front; these are hidden from clients too."""

    tail: str = REDACTED
    """The replacement for the match after its first group."""

    ahead: str = ""
    """An expression for what follows a hint, in lower case, where the hints alone are in many texts."""


def _named(name: str, expression: str, *, needs: tuple[str, str]) -> Pattern:
    """A row for the value after the name of a secret; the name stays."""
    return Pattern(name, _NAMED_HINTS, f"(?i){expression}", _NAMED_STARTS, needs)


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        "private key",
        ("-----begin ",),
        (
            r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|.*\Z)"
        ),
        alone=True,
    ),
    Pattern(
        "SSH2 private key",
        ("---- begin ssh2 ",),
        (
            r"(?s)---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
            r"(?:.*?---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----|.*\Z)"
        ),
        alone=True,
    ),
    Pattern(
        "PuTTY private key",
        ("private-lines",),
        r"(?i)(Private-Lines:[ \t]{0,4}\d{1,4})(?:\r?\n(?!Private-MAC)[^\r\n]*){1,400}",
        tail=f" {REDACTED}",
        alone=True,
    ),
    Pattern(
        # On separate lines, quotes and commas belong to the value, and so do continuation lines.
        "line of an authorization header",
        ("authorization", "cookie"),
        (
            r"(?i)(?:(?<=\n)|(?<=\n> )|(?<=\n< )|(?<![\s\S]))"
            rf"((?:proxy-)?authorization:[ \t]{{0,8}}+{_NO_SENTENCE}|(?:set-)?cookie:[ \t]{{0,8}}+{_NO_COOKIE_IN})"
            rf"{_STOP}(?=[^\r\n])[^\r\n]+(?:\r?\n[ \t]+[^\r\n]+){{0,40}}"
        ),
        starts=("authorization", "proxy-authorization", "cookie", "set-cookie"),
    ),
    Pattern(
        "authorization header",
        ("authorization", "key"),
        (
            r"(?i)\b((?:(?:proxy-)?authorization|x-api-key)"
            rf"(?>{_QUOTE}?)\s{{0,8}}+[:=,]\s{{0,8}}+(?>(?:b?{_QUOTE})?)){_STOP}{_NO_SENTENCE}[^\r\n\"'\\,;}}\])]+"
        ),
        starts=("authorization", "proxy-authorization", "x-api-key"),
    ),
    Pattern(
        "cookie header",
        ("cookie",),
        (
            rf"(?i)(?<![a-z0-9])((?:set[-_])?cookie(?>{_QUOTE}?)\s{{0,8}}+[:=]\s{{0,8}}+(?>(?:b?{_QUOTE})?)){_STOP}{_NO_COOKIE_IN}"
            r"[^\r\n\"'\\}\])]+"
        ),
        starts=("cookie", "set-cookie", "set_cookie"),
    ),
    Pattern(
        "bearer credential",
        ("bearer",),
        (
            r"(?i)\b(bearer\s{1,8}+)(?!(?:auth|authentication|authorization|challenge|credentials?|error|header|"
            r"invalid|is|missing|realm|required|scheme|tokens?|was|with)\b)"
            r"[A-Za-z0-9._~+/=-]{6,}"
        ),
    ),
    Pattern(
        # Without the last letter, which could be the first of `credential`.
        "basic credential",
        ("basi",),
        (
            # Base64 and not the next word of a sentence: with a digit, padding, or a capital in its middle.
            r"\b((?i:basic)\s{1,8}+)(?=[A-Za-z+/]{0,400}(?:[0-9=]|[a-z][A-Z]))"
            r"[A-Za-z0-9+/]{8,}={0,2}(?![A-Za-z0-9+/=])"
        ),
        starts=("basic",),
    ),
    Pattern(
        "JSON web token",
        ("eyj",),
        (rf"{_BEGINS}(?<![_-])eyJ[A-Za-z0-9_-]{{5,}}\.[A-Za-z0-9_-]{{5,}}(?:\.[A-Za-z0-9_-]*){{0,3}}"),
        alone=True,
    ),
    Pattern(
        "AWS access key",
        ("akia", "asia"),
        (rf"{_BEGINS}(?:AKIA|ASIA)[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
        alone=True,
    ),
    Pattern(
        "vendor token",
        _VENDOR_STARTS,
        (
            rf"{_BEGINS}"
            rf"(?:gh[pousr]_[A-Za-z0-9]{{16,}}|github_pat_[A-Za-z0-9_]{{20,}}|glpat-{_RANDOM}[A-Za-z0-9_-]{{16,}}|"
            rf"xox[abceoprs]-(?=[0-9])[A-Za-z0-9-]{{10,}}|sk-{_SK}[A-Za-z0-9_-]{{16,}}|"
            r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|"
            r"AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}|"
            r"xapp-[0-9]-[A-Za-z0-9-]{20,}|whsec_[A-Za-z0-9+/=]{20,}|ya29\.[A-Za-z0-9_-]{20,}|"
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}|dop_v1_[a-f0-9]{40,}|shp(?:at|ss)_[a-f0-9]{32}|"
            rf"hvs\.{_RANDOM}[A-Za-z0-9_-]{{20,}}|"
            r"lin_api_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|"
            rf"xai-[A-Za-z0-9]{{40,}}|tvly-(?:[a-z]{{1,8}}-)?{_RANDOM}[A-Za-z0-9-]{{20,}}|"
            r"AGE-SECRET-KEY-1[0-9A-Z]{40,})"
        ),
        alone=True,
    ),
    Pattern(
        # Of the length and the letters that their vendors give them.
        "vendor token of one length",
        _EXACT_STARTS,
        (
            rf"{_BEGINS}"
            rf"(?:gl(?:dt|rt|soat)-{_RANDOM}[A-Za-z0-9_.-]{{20,}}|glptt-[a-f0-9]{{40}}|"
            rf"glcbt-[A-Za-z0-9]{{1,5}}_{_RANDOM}[A-Za-z0-9_-]{{20}}|GOCSPX-[A-Za-z0-9_-]{{28}}|doo_v1_[a-f0-9]{{64}}|"
            rf"shp[cp]a_[A-Fa-f0-9]{{32}}|hvb\.{_RANDOM}[A-Za-z0-9_-]{{80,}}|dapi[a-f0-9]{{32}}(?:-[0-9])?|"
            rf"figd_{_RANDOM}[A-Za-z0-9_-]{{40,}}|ntn_{_RANDOM}[A-Za-z0-9]{{40,50}}|glsa_[A-Za-z0-9]{{32}}_[A-Fa-f0-9]{{8}}|"
            r"sntrys_eyJ[A-Za-z0-9+/=_-]{40,}|sntry[a-z]_[a-f0-9]{64}|secret_[A-Za-z0-9]{43}|"
            r"fm(?:1[ar]|2)_[A-Za-z0-9+/]{40,}={0,3}|fo1_[A-Za-z0-9_-]{43}|"
            r"EAAA[A-Za-z0-9_-]{60}(?![+/=_-])|sq0cs[pb]-[A-Za-z0-9_-]{43}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|dp\.pt\.[A-Za-z0-9]{40,44}|"
            rf"pscale_pw_{_RANDOM}[A-Za-z0-9_.=-]{{32,64}}|sq0at[pb]-{_RANDOM}[A-Za-z0-9_-]{{22}}|"
            r"ATATT3xFfGF0[A-Za-z0-9_=-]{60,}|rubygems_[a-f0-9]{48}|"
            rf"dckr_pat_{_RANDOM}[A-Za-z0-9_-]{{27}}|"
            r"pplx-[A-Za-z0-9]{48,56}|r8_[A-Za-z0-9]{37}|lsv2_pt_[a-f0-9]{32}_[a-f0-9]{10}|sbp_[a-f0-9]{40}|"
            r"pul-[a-f0-9]{40}|NRAK-[A-Z0-9]{27}|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16})(?![A-Za-z0-9])"
        ),
        alone=True,
    ),
    Pattern(
        "vendor token with a short prefix",
        ("sk", "pat", "key-", "nfb_", "nfc_", "nfo_", "nfp_", "nfu_"),
        (
            rf"{_BEGINS}(?:SK[A-Fa-f0-9]{{32}}|pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}|(?<![_-])key-[a-f0-9]{{32}}|"
            r"nf[bcopu]_[A-Za-z0-9]{36})(?![A-Za-z0-9_-])"
        ),
        alone=True,
        # One run for all of them: words such as "task" and "path" end it after a letter or two.
        ahead=r"[a-z0-9]{14}(?:\.|[a-z0-9]{18})",
    ),
    Pattern(
        # The part before it names the token, and stays.
        "Terraform token",
        (".atlasv1.",),
        r"(?<=[A-Za-z0-9]{14})(\.atlasv1\.)[A-Za-z0-9_=-]{40,}",
        alone=True,
    ),
    Pattern(
        # The number of the bot stays.
        "bot token",
        (":aa",),
        r"(?<=[0-9]{8})(:)AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
        alone=True,
    ),
    Pattern(
        # The keys of storage, queues and databases in a connection string, which are 32 or 64 bytes.
        "Azure key",
        ("key",),
        r"(?i)((?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}={0,2}",
        starts=("accountkey=", "sharedaccesskey="),
        needs=("tkey=", "skey="),
        alone=True,
    ),
    Pattern(
        "webhook",
        ("hooks",),
        (
            r"(?i)(hooks\.slack\.com/[a-z]{1,16}/(?=[a-z0-9]{1,24}/[a-z0-9]{1,24}/[a-z0-9])|"
            r"/api/(?:v[0-9]{1,2}/)?webhooks/(?=[0-9]{5,24}/[a-z_-]{0,60}+[0-9]))[A-Za-z0-9_/-]{8,}"
        ),
        starts=("hooks.slack.com/", "/api/webhooks/", "/api/v"),
        needs=("/", "/"),
        alone=True,
    ),
    Pattern(
        "webhook of Teams",
        ("office.com/webhook",),
        r"(?i)(office\.com/webhook(?:b2)?/)[a-f0-9-]{36}@[a-f0-9-]{36}/[A-Za-z]{1,24}/[a-f0-9]{32}/[A-Za-z0-9_/-]{36,}",
        alone=True,
    ),
    Pattern(
        # In these a password may hold a slash or an at sign that nobody encoded; the last at sign ends it.
        "connection string of a store",
        ("://",),
        (
            rf"(?i)\b({STORES}://[^\s:@/\"'<>]{{0,256}}+:){_STOP}{_NO_PORT}@?+(?>{_STORE_WORD}{{1,16}})@"
            rf"(?:(?>{_STORE_WORD}{{0,16}})@){{0,16}}"
        ),
        tail=f"{REDACTED}@",
        starts=(SCHEME,),
        needs=("@", "@"),
        alone=True,
    ),
    Pattern(
        "password in a URL",
        ("://",),
        (rf"(://[^\s:@/?#\"'<>]{{0,256}}:){_STOP}{_NO_PORT}[^\s/?#\"'<>]{{1,1024}}@"),
        tail=f"{REDACTED}@",
        needs=("@", "@"),
        alone=True,
    ),
    Pattern(
        "token in a URL",
        ("://",),
        (rf"(://){_STOP}[^\s:@/?#\"'<>]{{20,1024}}@"),
        tail=f"{REDACTED}@",
        needs=("@", "@"),
    ),
    Pattern(
        # 32 bytes in Base64, as they are in the URLs of Azure.
        "shared access signature",
        ("sig=",),
        r"([?&]sig=)(?:[A-Za-z0-9+/]|%2[BbFf]){43}(?:%3[Dd]|=)",
        starts=("?sig=", "&sig="),
        alone=True,
    ),
    Pattern(
        "signed URL",
        ("sig=", "signature"),
        (rf"(?i)([?&](?:sig|x-amz-signature|x-goog-signature)=){_STOP}[^\s&#\"'<>]+"),
        starts=("?sig=", "&sig=", "?x-amz-s", "&x-amz-s", "?x-goog-s", "&x-goog-s"),
    ),
    Pattern(
        "key in a URL",
        ("key", "auth="),
        (
            rf"(?i)([?&](?:key=(?=[^{_BLANK}&#\"'<>0-9]{{0,60}}+[0-9])(?=[^{_BLANK}&#\"'<>a-z]{{0,60}}+[a-z])|auth=))"
            rf"{_STOP}[^\s&#\"'<>]{{8,}}"
        ),
        starts=("?key=", "&key=", "?auth=", "&auth="),
        needs=("?", "&"),
    ),
    Pattern(
        "bot token in a URL",
        ("://api.telegram",),
        r"(://api\.telegram\.org/(?:file/)?bot)[0-9]{6,}:[A-Za-z0-9_-]{20,}",
        alone=True,
    ),
    Pattern(
        "password of an Oracle URL",
        ("jdbc:oracle",),
        rf"(?i)(jdbc:oracle:[a-z]{{1,8}}:[^\s/@]{{1,128}}/){_STOP}[^\s@\"'<>]{{1,256}}@",
        tail=f"{REDACTED}@",
        alone=True,
    ),
    Pattern(
        "password of an encoded URL",
        ("%3a%2f%2f",),
        (
            rf"(?i)(%3a%2f%2f[^\s:@/?#\"'<>%]{{0,256}}+%3a){_STOP}"
            rf"(?>(?:[^{_BLANK}/?#\"'<>@&%]{{1,1024}}+|%(?!40)){{1,24}})%40"
        ),
        tail=f"{REDACTED}%40",
        alone=True,
    ),
    Pattern(
        "credentials in brackets",
        ("auth=", "basi"),
        rf"(?i)(?<![a-z0-9])((?:(?:http_?)?auth=\(|(?:HTTP)?BasicAuth\()(?>(?:(?:login|username|user)=)?)){_STOP}[^)\n]{{1,400}}",
        starts=("auth=(", "http_auth=(", "httpauth=(", "basicauth(", "httpbasicauth("),
    ),
    Pattern(
        "authentication by assignment",
        ("auth=",),
        rf"(?i)((?<=_)auth=){_STOP}(?![\"'(])[^\s,;&\"'\\}}\])]+",
    ),
    Pattern(
        "short name of a secret",
        ('pin"', "pin'", 'otp"', "otp'", 'cvv"', "cvv'", 'cvc"', "cvc'", 'auth"', "auth'", "pass"),
        (
            rf"(?i)((?<=[\"'])(?:pin|t?otp|cv[cv]2?|auth|pass)(?P<end>\\{{0,7}}[\"'])\s{{0,8}}+[:=]\s{{0,8}}+b?)"
            rf"{_STOP}(?:(?P<quote>\\{{0,7}}[\"'])(?!\[redacted\])(?:(?!(?P=quote))(?:\\.|[^\n])){{1,4096}}(?P=quote)|-?\d[\d.]*)"
        ),
        starts=("pin", "otp", "totp", "cvv", "cvc", "auth", "pass'", 'pass"', "pass\\"),
        needs=("'", '"'),
    ),
    Pattern(
        "password in braces",
        ("pwd", "pass"),
        rf"(?i)((?:pwd|password)=\{{){_STOP}[^}}\n]{{1,400}}",
        starts=("pwd={", "password={"),
        needs=("={", "={"),
    ),
    Pattern(
        "value before its name",
        ('value"', "value'"),
        (
            rf"(?i)((?<![a-z])value{_QUOTE}\s{{0,8}}+[:=]\s{{0,8}}+b?(?P<quote>{_QUOTE})){_STOP}"
            rf"(?:(?!(?P=quote))[^\\\n]){{1,400}}"
            rf"(?=(?P=quote)[\s,]{{1,8}}{_QUOTE}(?:name|key|header){_QUOTE}\s{{0,8}}[:=]\s{{0,8}}{_QUOTE}[\w.-]{{0,60}}{_NAMED})"
        ),
        starts=("value",),
        needs=("name", "key"),
    ),
    _named(
        # {"name": "DB_PASSWORD", "value": "..."}, <add key="password" value="..."/>
        "value beside its name",
        (
            rf"({_NAMED}{_QUOTE}[\s,]{{1,8}}+(?>{_QUOTE}?)value(?>{_QUOTE}?)\s{{0,8}}+[:=]\s{{0,8}}+b?(?P<quote>{_QUOTE}))"
            rf"{_STOP}(?s:(?!(?P=quote))(?:\\.|.)){{1,4096}}"
        ),
        needs=("value", "value"),
    ),
    _named(
        "secret in XML",
        (
            rf"((?<=[<:.a-z0-9_-]){_NAMED}(?>(?:\s[^<>\n]{{0,200}}+)?)(?<!/)>){_STOP}"
            r"[^<\s][^<>]{0,2000}+(?:>[^<>]{0,200}+){0,4}(?=</)"
        ),
        needs=("</", "</"),
    ),
    _named(
        # With a closing quote the name is a key, with `=` an argument, with `:` prose or YAML. Or it is a
        # value itself: ('password', '...'), getenv("API_TOKEN", "..."), but not in ('user', 'password', 'email').
        "quoted secret",
        (
            rf"(?<!unexpected )((?:(?P<listed>(?<=[\"'],\s[\"']))|(?<![\"'],\s[\"'])){_NAMED}"
            rf"(?:(?:{_END}{_IS}{_THROUGH}|(?P<named>{_QUOTE}),(?(listed)(?!))\s{{0,8}}+)[bruf]{{0,2}}"
            rf"(?P<quote>(?>\"\"\"|'''|[\"'])|\\{{1,7}}[\"'])|"
            rf"{_QUOTE}\]?+\s{{0,8}}+[:=]\s{{0,8}}+(?!\[redacted\])[\[{{(](?!\s{{0,8}}[\]}})]))){_STOP}{_PLACE}"
            r"(?(quote)(?s:(?!(?P=quote))(?:\\.|.)){1,4096}(?(named)(?=(?P=quote)\s{0,8}\)))|[^\]})]{1,2000})"
        ),
        needs=("'", '"'),
    ),
    _named(
        "secret in encoded quotes",
        rf"({_NAMED}{_ENCODED}{_IS}(?P<quote>{_ENCODED})){_STOP}(?s:(?!(?P=quote)).){{1,4096}}",
        needs=("22", "&"),
    ),
    _named(
        "named secret",
        (
            rf"(?<!unexpected ){_NO_TITLE}({_NAMED}{_END}{_GIVEN})"
            rf"{_STOP}(?![bruf]{{0,2}}[\"'`\\\[{{(]|%22|&[a-z\#]|[\w.]{{1,41}}\((?:\w{{1,20}}=)?[bruf]{{0,2}}[\"']\[redacted\])"
            rf"{_SAID}{_PLACE}(?:[|>][+-]?[ \t]{{0,4}}\n[ \t]{{1,40}}[^\n]+|(?<=passphrase: )[^\n,;\"']+|"
            r"[^\s,;&\"'\\}\])]+)"
        ),
        needs=("=", ":"),
    ),
    _named(
        "named secret, encoded",
        rf"({_NAMED}%3d){_STOP}(?!%2[27])(?:(?!%26)[^\s,;&\"'\\}}\])])+",
        needs=("%3d", "%3d"),
    ),
    _named(
        # What pydantic says of a field of such a name.
        "rejected value of a secret",
        (
            rf"({_NAMED}[\w.]{{0,40}}\n\s{{1,8}}+[^\n]{{0,600}}?\[(?:type=\w{{1,60}}, )?input_value=){_STOP}"
            r"[^\n]{1,4096}?(?=, input_type=|\n|\Z)"
        ),
        needs=("input_value=", "input_value="),
    ),
    Pattern(
        # Neither a word nor a number, but both: "the token 3f9ac21bd0 was refused"
        "secret in a sentence",
        ("pass", "token", "key"),
        (
            r"(?i)(?<!unexpected )((?:password|passphrase|passwd|(?<=require)pass|api[_ -]?key|"
            r"(?:(?<=auth[_ ])|(?<=access[_ ])|(?<=bearer[_ ])|(?<=refresh[_ ])|(?<=id[_ ]))token)"
            rf"\s{{1,8}}+(?:(?:is|was)\s{{1,8}}+)?[`\"']?){_STOP}"
            r"(?=[A-Za-z0-9!@$%^&*+_-]{0,60}\d)(?=[A-Za-z0-9!@$%^&*+_-]{0,60}[A-Za-z])"
            r"(?![A-Za-z]{1,24}[0-9.]{1,4}(?![\w-]))[A-Za-z0-9!@$%^&*+_-]{8,}(?![\w(.=:/])"
        ),
        starts=("pass", "token", "api key", "api_key", "api-key", "apikey"),
    ),
    Pattern(
        "password of a user",
        ("pass",),
        rf"(?i)((?<![a-z0-9_-])pass=){_STOP}(?!(?:none|null|true|false|ok|yes|no|\d+)\b)(?![\"'])[^\s,;&\"'\\}}\])]+",
        starts=("pass=",),
        needs=("pass=", "pass="),
    ),
    Pattern(
        # "the password was 'x'", PASSWORD 'x', IDENTIFIED BY 'x'
        "quoted password in a sentence",
        ("pass", "identified by"),
        (
            r"(?i)((?:password|passphrase|passcode|identified by)\s{1,8}+(?:(?:is|was|given|of)\s{1,8}+)?"
            rf"(?P<quote>[\"'])){_STOP}"
            r"(?:(?!(?P=quote))[^\s]){3,200}(?=(?P=quote))"
        ),
        starts=("password", "passphrase", "passcode", "identified by"),
        needs=("'", '"'),
    ),
    Pattern(
        "secret on a command line",
        (*_NAMED_HINTS, "cookie", "bearer"),
        (
            rf"(?i)(--(?:[a-z0-9]{{1,16}}-){{0,3}}(?:{_NAMED}|cookie|bearer)"
            rf"(?:[\"'],\s{{0,2}}[\"']|[\s=]{{1,8}}+[\"']?)){_STOP}(?!-)[^\s\"']+"
        ),
        starts=("--",),
        needs=("--", "--"),
    ),
    # Once for each of two in one command.
    *(
        Pattern(
            name,
            ("curl", "wget", "mysql", "sshpass", "redis-cli", "docker", "podman", "az login", "openssl"),
            (
                r"((?<![\w./-])(?:(?:curl|wget)(?=\s)[^\n-]{0,400}+-(?:[^\n-]{0,120}+-){0,10}?(?<=\s-)"
                r"(?:(?:u|-(?:proxy-)?user)[\s=]{0,2}[\"']?[^\s:\"']{1,128}+:|b\s{0,2}[\"']?)|"
                rf"mysql\w{{0,10}}{_DASH}p|sshpass\s{{1,4}}-p\s{{0,4}}[\"']?|redis-cli{_DASH}a\s{{1,4}}[\"']?|"
                rf"(?:(?:docker|podman)\slogin|az\slogin){_DASH}p\s{{1,4}}[\"']?|"
                r"openssl(?=\s)(?:[^\n:]{0,200}+:){1,4}?(?<=\spass:)))"
                rf"{_STOP}(?![\d ]+\s)[^\s\"']+"
            ),
        )
        for name in ("secret in a short option", "second secret in a short option")
    ),
)
"""Every shape of secret that is looked for in a text, in this order."""
