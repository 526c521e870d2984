"""The messages between one client and one server: which are relayed as they are, and which are looked into.

A conversation does no input or output. It takes each message that arrives, and returns what to send. A message that
need not change is returned as the bytes that arrived.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcpcore.boundary.repeats import SessionKey
from mcpcore.proxy.messages import (
    SURFACES,
    VERSION_META_KEY,
    Json,
    Step,
    answer_in,
    key_of,
    loose_key,
    meta_of,
    params_of,
    parse,
    read,
    write,
)
from mcpcore.values.jsonable import shown_name
from mcpcore.values.untrusted import object_in, quietly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.contract.failure_modes import FailureMode
    from mcpcore.proxy.answers import ResponseRewriter
    from mcpcore.proxy.listings import Listing

_MAX_NAME: Final = 2_000
"""Characters of a name, which a failure repeats."""

_WITH_INSTRUCTIONS: Final = frozenset({"initialize", "server/discover"})
"""The requests whose answers have the instructions of the server."""

_MAX_OPEN: Final = 1_000
"""The most ids of requests that wait for an answer."""

_MAX_PAGES: Final = 100
"""The most pages of tools that the proxy asks for, since a list may be endless."""

MAX_LIST_WAIT: Final = 5.0
"""Seconds that calls wait for the list of tools. Servers answer it from memory; one that has not answered by then may
never do so, and its clients, which did not ask for the list, would wait for ever."""


@dataclass(slots=True, kw_only=True)
class Asked:
    """A request that the server has not answered."""

    request: Json
    method: str
    name: str
    """The tool, the prompt or the URI of the request, cut if it is very long; else its method."""

    session: SessionKey | None = None
    """The session of the client; None if requests of several clients, or of the proxy itself, come this way."""

    pages: int = 0
    """The page of tools that the proxy itself asked for, from 1; 0 for a request of the client."""

    fault: FailureMode[Any] | None = None
    """The failure that the call ends with once the server has answered it, for a test of the client."""

    @property
    def identity(self) -> list[Any]:
        """All that makes a call the same as another, the answers of the client to questions included."""
        params = params_of(self.request)
        return [params.get("name"), params.get("arguments") or {}, params.get("inputResponses")]

    @property
    def modern(self) -> bool:
        """Whether the request is one of the protocol since 2026-07-28."""
        version = meta_of(self.request).get(VERSION_META_KEY)
        return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS

    @property
    def arguments(self) -> Json:
        """The arguments of a call."""
        return object_in(params_of(self.request), "arguments")


def _asked(message: Json, session: SessionKey | None) -> Asked:
    """A request of the client."""
    method, params = str(message["method"]), params_of(message)
    name = params.get("uri") if method.startswith("resources/") else params.get("name")
    name = name if isinstance(name, str) else method
    name = name if len(name) <= _MAX_NAME else shown_name(name)
    return Asked(request=message, method=method, name=name, session=session)


_own_ids: Final = itertools.count(1)


@dataclass(slots=True)
class OpenRequests:
    """The requests that wait for an answer.

    A client that gives several of them the same id breaks the protocol, but their failures must not go unrecorded:
    each answer belongs to the oldest.
    """

    _by_id: dict[tuple[type, object], list[Asked]] = field(default_factory=dict)
    _alike: dict[object, dict[tuple[type, object], None]] = field(default_factory=dict)
    """The keys of `_by_id`, oldest first, by what their ids are for an SDK."""

    _cancelled: dict[tuple[type, object], Asked] = field(default_factory=dict)
    """Requests that the client has cancelled; the server may have answered them before it heard of that."""

    _loosely: dict[tuple[type, object], Asked] = field(default_factory=dict)
    """Requests whose answer had the id in another form; a client that does not take it still waits."""

    def add(self, asked: Asked) -> None:
        """Note a request; of too many, the oldest is forgotten."""
        key = _key(asked)
        self._cancelled.pop(key, None)
        self._loosely.pop(key, None)
        self._by_id.setdefault(key, []).append(asked)
        self._alike.setdefault(loose_key(key[1]), {})[key] = None
        if len(self._by_id) > _MAX_OPEN:
            self._remove(next(iter(self._by_id)))

    def _remove(self, key: tuple[type, object]) -> None:
        del self._by_id[key]
        loose = loose_key(key[1])
        del self._alike[loose][key]
        if not self._alike[loose]:
            del self._alike[loose]

    def cancel(self, ident: object) -> Asked | None:
        """Remove the oldest request with that id, and return it; its answer may still come."""
        asked = self.take(ident)
        if asked is not None:
            self._cancelled[_key(asked)] = asked
            if len(self._cancelled) > _MAX_OPEN:
                del self._cancelled[next(iter(self._cancelled))]
        return asked

    def take_cancelled(self, ident: object) -> Asked | None:
        """Remove the cancelled request with that id, and return it; None if no cancelled request has it."""
        key = key_of(ident)
        return None if key is None else self._cancelled.pop(key, None)

    def take(self, ident: object) -> Asked | None:
        """Remove the oldest request with that id, and return it; None if no request has it.

        If none has exactly that id, the oldest one counts whose id is the same for an SDK.
        """
        key = key_of(ident)
        if key not in self._by_id:
            if key in self._loosely:
                return self._loosely.pop(key)
            loose = loose_key(ident)
            key = None if loose is None else next(iter(self._alike.get(loose, ())), None)
        if key is None:
            return None
        requests = self._by_id[key]
        asked = requests.pop(0)
        if not requests:
            self._remove(key)
        if key != key_of(ident):
            self._loosely[key] = asked
            if len(self._loosely) > _MAX_OPEN:
                del self._loosely[next(iter(self._loosely))]
        return asked

    def take_all(self) -> list[Asked]:
        """Remove all."""
        taken = list(self)
        self._by_id.clear()
        self._alike.clear()
        self._cancelled.clear()
        self._loosely.clear()
        return taken

    def __iter__(self) -> Iterator[Asked]:
        return (asked for requests in self._by_id.values() for asked in requests)


def _key(asked: Asked) -> tuple[type, object]:
    ident = asked.request["id"]
    return type(ident), ident


@dataclass(slots=True)
class Conversation:
    """One client and one server.

    The list of tools is needed for contracts and schemas. It is read from the answers to the client, and asked for
    once if the client calls a tool that no list has named.
    """

    answers: ResponseRewriter
    listing: Listing
    ordered: bool = True
    """Whether requests reach the server in the order of the client; False if each is sent by itself, over HTTP."""

    session: SessionKey | None = field(default_factory=SessionKey)
    """The session of the client; None if the requests of several clients come this way."""

    _open: OpenRequests = field(default_factory=OpenRequests)
    _held: list[tuple[bytes, Json]] = field(default_factory=list)
    """Calls that wait for the list of tools, and requests that the client sent after them."""

    version: str | None = None
    """The version of the protocol that the handshake chose; None without one."""

    _initialize: tuple[bytes, Json] | None = None
    _initialized: bytes | None = None
    """The two messages of the client's handshake, which a server that is started again needs, too."""

    _backlog: list[bytes] | None = None
    """Messages that wait until a server that was started again has had its handshake; None if they need not."""

    answered: bool = False
    """Whether the server has answered any request."""

    _lost: bool = False

    # --- from the client ------------------------------------------------------------------------------------------

    def from_client(self, raw: bytes) -> Step:
        """Take a message of the client."""
        if self._backlog is not None:
            self._backlog.append(raw)
            return Step()
        message = parse(raw)
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return Step(to_server=[raw])  # an answer to the server, a batch, or no message at all
        method, key = message["method"], key_of(message.get("id"))
        if key is None:
            return self._notification(raw, message)
        if method == "initialize":
            self._initialize = raw, message
        if self._held and self.ordered:
            self._held.append((raw, message))
            return Step()
        if method == "tools/call" and self._needs_list(message) and (self.ordered or not self._list_is_coming()):
            self._held.append((raw, message))
            return Step() if self._list_is_coming() else self._ask(message)
        return self._request(raw, message)

    def _request(self, raw: bytes, message: Json) -> Step:
        asked = _asked(message, self.session)
        if asked.method == "tools/call":
            refused = quietly(lambda: self.answers.refuse(asked, self.listing), None)
            if refused is not None:
                return Step(to_client=[write(refused)])
        self._open.add(asked)
        return Step(to_server=[raw])

    def _notification(self, raw: bytes, message: Json) -> Step:
        if message["method"] == "notifications/initialized":
            self._initialized = raw
        if message["method"] == "notifications/cancelled":
            key = key_of(params_of(message).get("requestId"))
            kept = [held for held in self._held if key_of(held[1]["id"]) != key]
            if len(kept) < len(self._held):
                self._held = kept
                return Step()  # the server has never heard of the call
            cancelled = self._open.cancel(params_of(message).get("requestId"))
            if cancelled is not None and cancelled.method == "tools/list" and self._held and not self._list_is_coming():
                # Held calls were waiting for that list.
                return Step(to_server=[raw, *self._ask(self._held[0][1]).to_server])
        return Step(to_server=[raw])

    # --- the list of tools ----------------------------------------------------------------------------------------

    def _list_is_coming(self) -> bool:
        return any(asked.method == "tools/list" for asked in self._open)

    def _needs_list(self, message: Json) -> bool:
        name = params_of(message).get("name")
        return isinstance(name, str) and not self.listing.complete and name not in self.listing.tools

    def _ask(self, call: Json, cursor: str | None = None, page: int = 1) -> Step:
        """Ask the server for its tools, in the name of the client that sent `call`."""
        params: Json = {} if cursor is None else {"cursor": cursor}
        meta = {key: value for key, value in meta_of(call).items() if key.startswith("io.modelcontextprotocol/")}
        if meta:
            params["_meta"] = meta
        request: Json = {"jsonrpc": "2.0", "id": f"mcpcore-proxy-{next(_own_ids)}", "method": "tools/list"}
        if params:
            request["params"] = params
        self._open.add(Asked(request=request, method="tools/list", name="", pages=page))
        return Step(to_server=[write(request)])

    def _listed(self, asked: Asked, response: Json) -> Step:
        """Take a page of the list that the proxy asked for; release the held calls after the last one."""
        page = object_in(response, "result")
        self.listing.learn(page, self.answers.overlay)
        cursor = page.get("nextCursor")
        if isinstance(cursor, str) and cursor and asked.pages < _MAX_PAGES:
            return self._ask(asked.request, cursor, asked.pages + 1)
        return self.release()  # even if it failed: a server without a list is not asked again

    @property
    def held(self) -> object:
        """What has waited longest for the list of tools; None if nothing waits."""
        return self._held[0] if self._held else None

    def release(self) -> Step:
        """Send on what waits for the list of tools; of a tool that is still unknown, no arguments are checked."""
        self.listing.complete = True  # the next call must not wait again
        held, self._held = self._held, []
        step = Step()
        for raw, message in held:
            released = self._request(raw, message)
            step.to_server += released.to_server
            step.to_client += released.to_client
        return step

    # --- from the server ------------------------------------------------------------------------------------------

    def from_server(self, raw: bytes) -> Step:
        """Take a message of the server."""
        message = read(raw)
        if isinstance(message, list):
            return self._batch(raw, message)
        return self._received(raw, message) if isinstance(message, dict) else Step(to_client=[raw])

    def _batch(self, raw: bytes, messages: list[Any]) -> Step:
        """A list of messages, which some clients take over HTTP."""
        together = Step()
        sent: list[bytes] = []
        for message in messages:
            own = write(message) if isinstance(message, dict) else b""
            step = self._received(own, message) if own else Step(to_client=[write(message)])
            together.to_server += step.to_server
            sent += step.to_client
        if sent or not messages:
            is_same = sent == [write(message) for message in messages]
            together.to_client.append(raw if is_same else b"[%b]" % b",".join(sent))
        return together

    def _received(self, raw: bytes, received: Json) -> Step:
        message = answer_in(received)
        if message is None:
            if received.get("method") == "notifications/tools/list_changed":
                self.listing.forget()
            return Step(to_client=[raw])
        asked = self._open.take(message.get("id"))
        if asked is None:
            return self._unasked(raw, message)
        # The client may know the id in one form only.
        message = {**message, "id": asked.request["id"]}
        self.answered = True
        self.answers.meet(message)
        if asked.pages:
            return self._listed(asked, message)
        if asked.method == "initialize":
            version = object_in(message, "result").get("protocolVersion")
            self.version = version if isinstance(version, str) else None
            if asked.name == _REPLAYED:
                return self._restarted()
        if asked.method not in SURFACES:
            faults = self.answers.faults
            if faults is not None and asked.method in _WITH_INSTRUCTIONS and "result" in message:
                return Step(to_client=[write(faults.announced(message))])
            return Step(to_client=[raw])
        changed = self.answers.answer(asked, message, self.listing)
        step = Step(to_client=[raw if changed is None else write(changed)])
        if asked.method == "tools/list" and self._held and not self._list_is_coming():
            more = self.release() if self.listing.complete else self._ask(self._held[0][1])
            step.to_client += more.to_client
            step.to_server += more.to_server
        return step

    def _unasked(self, raw: bytes, message: Json) -> Step:
        """An answer that the client does not wait for.

        The specification (2025-11-25 and 2026-07-28, "Cancellation") lets a client ignore the answer to a request that
        it has cancelled, so that answer ends here, after a failure in it was recorded.
        """
        cancelled = self._open.take_cancelled(message.get("id"))
        if cancelled is None:
            return Step(to_client=[raw])
        self.answered = True
        if cancelled.method in SURFACES:
            self.answers.answer(cancelled, message, self.listing)
        return Step()

    # --- the end of the server, and a new beginning -----------------------------------------------------------------

    def lost(self, sentence: str, *, final: bool, started: bool = True) -> list[bytes]:
        """Answers for the requests that a server left open when it ended; `sentence` says how it ended.

        Unless it is `final`, an open handshake stays open, for the server that is started next. A server that was not
        even `started` has changed nothing.
        """
        held, self._held = self._held, []
        pending = []
        for request in self._open.take_all():
            if request.method == "initialize" and request.name != _REPLAYED and not final:
                self._open.add(request)
            elif not request.pages and request.name != _REPLAYED:
                pending.append(request)
        backlog, self._backlog = self._backlog or [], None
        waiting = [message for _, message in held]
        waiting += [message for message in map(parse, backlog) if isinstance(message, dict)]
        pending += [
            _asked(message, self.session) for message in waiting if "method" in message and key_of(message.get("id"))
        ]
        answers = [write(self.answers.crashed(request, sentence, self.listing, started=started)) for request in pending]
        self._lost = self._lost or bool(pending)
        self.listing.forget()
        return answers

    def abandon(self, raw: bytes, sentence: str) -> list[bytes]:
        """The answer to one request that did not reach the server; none for any other message."""
        message = parse(raw)
        asked = self._open.take(message.get("id")) if isinstance(message, dict) and "method" in message else None
        return [] if asked is None else [write(self.answers.crashed(asked, sentence, self.listing))]

    def forget(self, raw: bytes) -> None:
        """Forget a request that gets no answer."""
        message = parse(raw)
        if isinstance(message, dict) and "method" in message:
            self._open.take(message.get("id"))

    def restart(self) -> Step:
        """The handshake for a server that was started again."""
        if self._initialize is None:
            return Step()  # there is no handshake since 2026-07-28
        raw, message = self._initialize
        if any(asked.method == "initialize" for asked in self._open):
            return Step(to_server=[raw])
        if self.version is None:
            return Step()  # the client got an error for its handshake
        request = {**message, "id": f"mcpcore-proxy-{next(_own_ids)}"}
        self._open.add(Asked(request=request, method="initialize", name=_REPLAYED))
        self._backlog = []
        return Step(to_server=[write(request)])

    def _restarted(self) -> Step:
        backlog, self._backlog = self._backlog or [], None
        step = Step(to_server=[] if self._initialized is None else [self._initialized])
        for raw in backlog:
            released = self.from_client(raw)
            step.to_server += released.to_server
            step.to_client += released.to_client
        return step

    @property
    def never_answered(self) -> bool:
        """Whether the client has sent requests, and the server has answered none of them."""
        return not self.answered and (self._lost or self.waits)

    @property
    def waits(self) -> bool:
        """Whether the server has to answer something."""
        return any(self._open)

    @property
    def holds_back(self) -> bool:
        """Whether messages of the client wait to be sent on."""
        return bool(self._held or self._backlog)


_REPLAYED: Final = "initialize of the proxy"
"""The name of a handshake that the proxy repeats, and whose answer the client does not see."""
