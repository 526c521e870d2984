"""The format of a trail: the lines of its chain, and its head; and the errors of the trail.

A line is one JSON object, always written the same way (ASCII, no blanks, the keys of the record in their order)::

    {"seq":7,"prev":"<hash of record 6>","alg":"sha256", ...the record... ,"hash":"<64 hex digits>"}

`hash` covers every byte of the line before `,"hash"`, so no byte can change unnoticed; `prev` and `seq` tie the line to
the line before. With a key, `hash` is an HMAC and `alg` names the key by a fingerprint. The first line of a file
has `"begins":true` after `alg` where it begins a trail, and `"begins":false` where it continues one.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from binascii import crc32
from dataclasses import dataclass
from typing import Final, NamedTuple

from mcpcore.values.untrusted import json_object


class AuditError(Exception):
    """A record could not be written, or a trail cannot be used; the message says why and what to do.

    ```python
    from mcpcore.audit import AuditError, AuditTrail

    try:
        trail = AuditTrail.open("notes.txt", policy="refuse")
    except AuditError as error:
        print(error)
    ```
    """


class RefusedError(AuditError):
    """The path of a trail must not be written: it is a link, or a file of another kind."""


GENESIS: Final = "0" * 64
"""The `prev` of the first record of a trail."""

KEY_VARIABLE: Final = "MCPCORE_AUDIT_KEY"
"""The environment variable with the key that signs trails."""

MAX_LINE: Final = 1 << 20
"""The longest line that a writer makes, in bytes; readers report a longer one as damage."""

HEAD_SIZE: Final = 512
"""The head fills one sector, so that overwriting it in place is all or nothing."""

RESERVED: Final = frozenset({"seq", "prev", "alg", "begins", "hash", "event"})
"""Keys of a line that belong to the chain; a record's own key of that name gets a trailing underscore."""

PLAIN: Final = "sha256"
_BLOCK: Final = 64
_LINE = re.compile(
    rb'\{"seq":([1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})","alg":"(sha256|hmac-sha256:[0-9a-f]{16})",'
    rb'[^\n]*,"hash":"([0-9a-f]{64})"\}\n'
)
_BEGINS: Final = re.compile(rb'\{"seq":1,"prev":"0{64}","alg":"[^"]*","begins":true,')
_TAIL: Final = len(b',"hash":""}\n') + 64
_HEAD = re.compile(
    rb'\{"head":\{"seq":(0|[1-9][0-9]{0,17}),"hash":"([0-9a-f]{64})","bytes":(0|[1-9][0-9]{0,17})\},'
    rb'"alg":"(sha256|hmac-sha256:[0-9a-f]{16})","mac":"([0-9a-f]{64})"\}\s*'
)

FLAG_AT: Final = HEAD_SIZE - 2
"""The offset of the flag in the head file that says that a record is being written."""

WRITING: Final = b"w"
"""The flag while a record is being written; a blank otherwise. Signing it would double the cost of the head. It excuses
one unfinished or unaccounted record after the head, and only the owner of the key can make that record."""


class Signer:
    """Makes and checks the hashes of a trail: SHA-256, or HMAC-SHA256 with a key (RFC 2104)."""

    __slots__ = ("_inner", "_key", "_outer", "alg")

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        if key is not None:
            # An HMAC hashes the key twice, in the same way for each record.
            block = (key if len(key) <= _BLOCK else hashlib.sha256(key).digest()).ljust(_BLOCK, b"\0")
            self._inner, self._outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
        self.alg: str = (
            PLAIN if key is None else f"hmac-sha256:{hmac.digest(key, b'mcpcore key id', 'sha256').hex()[:16]}"
        )

    @property
    def keyed(self) -> bool:
        """Whether hashes depend on a key."""
        return self._key is not None

    def digest(self, body: bytes) -> str:
        """The hash of `body`, 64 hexadecimal digits."""
        if self._key is None:
            return hashlib.sha256(body).hexdigest()
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(body)
        outer.update(inner.digest())
        return outer.hexdigest()

    def vouches(self, alg: str, body: bytes, digest: str) -> bool:
        """Whether `digest` belongs to `body`; a plain hash is checked as plain even if there is a key."""
        if alg == PLAIN:
            return hmac.compare_digest(hashlib.sha256(body).hexdigest(), digest)
        return alg == self.alg and hmac.compare_digest(self.digest(body), digest)

    def seal(self, seq: int, prev: str, payload: str, *, begins: bool | None = None) -> tuple[bytes, str]:
        """The line, with its newline, and the hash of the record whose JSON object is `payload`.

        `begins` is for the first record of a file: whether it begins a trail or continues one.
        """
        if begins is not None:
            payload = f'{{"begins":{"true" if begins else "false"},{payload[1:]}'
        body = f'{{"seq":{seq},"prev":"{prev}","alg":"{self.alg}",{payload[1:-1]}'.encode("ascii")
        digest = self.digest(body)
        return body + f',"hash":"{digest}"}}\n'.encode("ascii"), digest

    def head(self, seq: int, digest: str, size: int) -> bytes:
        """The head of a trail, padded to fill its file, so that overwriting it removes the previous head entirely."""
        body = f'{{"head":{{"seq":{seq},"hash":"{digest}","bytes":{size}}},"alg":"{self.alg}"'.encode("ascii")
        return body + f',"mac":"{self._mac(body)}"}}'.ljust(HEAD_SIZE - 1 - len(body)).encode("ascii") + b"\n"

    def heads(self, body: bytes, mac: str) -> bool:
        """Whether `mac` is that of the head `body`."""
        return hmac.compare_digest(self._mac(body), mac)

    def _mac(self, body: bytes) -> str:
        # Without a key anybody can compute it. It then only detects damage, and a checksum is enough for that.
        return f"{crc32(body):064x}" if self._key is None else self.digest(body)


class Link(NamedTuple):
    """The place of a line in the chain, and whether its hash is right (None: it needs a key)."""

    seq: int
    prev: str
    alg: str
    hash: str
    sound: bool | None

    @property
    def keyed(self) -> bool:
        """Whether the line was signed with a key."""
        return self.alg != PLAIN


def read_link(line: bytes, signer: Signer) -> Link | None:
    """The place of `line` (with its newline) in the chain, or None if it is not a line of a trail."""
    # Not parsed as JSON: a writer spells a line in one way only, so that any other spelling is a change.
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    seq, prev, alg, digest = match.groups()
    name, stated = alg.decode(), digest.decode()
    sound = None if name not in (PLAIN, signer.alg) else signer.vouches(name, line[:-_TAIL], stated)
    return Link(int(seq), prev.decode(), name, stated, sound)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a trail, kept in a second file: the last record, and the size of the newest file in bytes.

    `writing` means that a record was about to be added after this one. A process that dies at that moment leaves at
    most that record, or a part of it, after the head.

    ```python
    from mcpcore.audit import verify

    report = verify(path)
    if report.head is not None:
        print(f"the trail ends with record {report.head.seq}, {report.head.hash}")
    ```

    Attributes:
        seq: The number of the last record.
        hash: The hash of the last record.
        size: The size of the newest file in bytes.
        writing: Whether a record was about to be added.
    """

    seq: int
    hash: str
    size: int
    writing: bool = False

    @classmethod
    def read(cls, raw: bytes, signer: Signer) -> Head | None:
        """The head in `raw`, a head file or its line; None if it is damaged, forged, or signed with another key.

        Args:
            raw: The bytes.
            signer: The key, or the plain hash, that signs the trail.
        """
        line, writing = raw[:FLAG_AT].rstrip(), raw[FLAG_AT : FLAG_AT + 1] == WRITING
        match = _HEAD.fullmatch(line)
        if match is None or raw[FLAG_AT:].strip() not in (b"", WRITING):
            return None
        seq, digest, size, alg, mac = match.groups()
        body = line[: line.rindex(b',"mac":"')]
        if alg.decode() != signer.alg or not signer.heads(body, mac.decode()):
            return None
        return cls(int(seq), digest.decode(), int(size), writing)

    @staticmethod
    def alg_of(raw: bytes) -> str | None:
        """How the head in `raw` is signed, or None if it is not a head.

        Args:
            raw: The bytes.
        """
        match = _HEAD.fullmatch(raw[:FLAG_AT].rstrip())
        return match.group(4).decode() if match else None


def begins_trail(line: bytes) -> bool:
    """Whether the record in `line` says that it begins a trail."""
    return _BEGINS.match(line) is not None


def event_of(line: bytes) -> dict[str, object] | None:
    """The event that the trail recorded in `line` (a seal, a pruned file, lost records); None for a failure."""
    if b'"event":' not in line:
        return None
    value = json_object(line)
    return value if value is not None and isinstance(value.get("event"), str) else None
