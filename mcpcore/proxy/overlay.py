"""The overlay: a contract for the tools, resources and prompts of a server that declares none, as a TOML or JSON file.

```toml
version = 1

[[tools.git_commit]]
reason = "nothing_to_commit"
code = "CONFLICT"
when = "The index has no changes."
recovery = "Call git_add first, then commit again."
retry = "never"
effects = "none"
fallback_tool = "git_add"
match.text = "nothing (added )?to commit"

[tools.git_status]
read_only = true

[[resources."repo://{name}"]]
reason = "no_repository"
code = "NOT_FOUND"
when = "There is no repository of that name."
recovery = "Read repo://all for the names."
match = [{ code = -32002 }, { text = "not a git repository" }]
```

Source of the JSON Schema in `docs/reference/overlay.schema.json`.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import SchemaError

from mcpcore.client.schemas import matcher
from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.codes import Effects, ErrorCode, Retry, Strategy
from mcpcore.contract.failure_modes import NO_CONTRACT, TODO, Contract, ContractError, FailureMode
from mcpcore.values.escaping import whole_characters

MAX_TEXT: Final = 20_000
"""Characters of a text that a regular expression is tried on."""

MAX_PATTERN: Final = 2_000

# `re.escape` would escape spaces and hyphens too, and people read and edit these patterns.
_ESCAPED: Final = frozenset(r"\.+*?()|[]{}^$")

_STATUS_KEYS: Final = ("status", "statusCode", "status_code", "httpStatus", "http_status")
# A number alone may be an amount or an id, so a word before it has to say what it is.
_STATUS_TEXT: Final = re.compile(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: code)?|error|code)[ :=(]{1,3}(?P<status>[1-5]\d\d)\b", re.IGNORECASE
)
_CODE_KEYS: Final = ("code", "error_code", "errorCode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a failure, and what entries are compared with."""

    text: str = ""
    json: Mapping[str, Any] = field(default_factory=dict)
    """The structured content, the JSON of the text, or the data of a JSON-RPC error."""

    code: int | None = None
    """The code of a JSON-RPC error."""

    @property
    def _objects(self) -> list[Mapping[str, Any]]:
        inner = self.json.get("error")
        return [self.json, inner] if isinstance(inner, dict) else [self.json]

    @property
    def codes(self) -> list[Any]:
        """The codes of the failure: that of JSON-RPC, and those in its JSON."""
        own = [part[key] for part in self._objects for key in _CODE_KEYS if key in part]
        return own if self.code is None else [self.code, *own]

    @property
    def statuses(self) -> list[Any]:
        """The HTTP statuses that the failure names."""
        named = [part[key] for part in self._objects for key in _STATUS_KEYS if key in part]
        return [*named, *(int(match["status"]) for match in _STATUS_TEXT.finditer(self.text[:MAX_TEXT]))]


def escaped(text: str) -> str:
    """A regular expression of both engines that matches `text` alone."""
    return "".join(f"\\{char}" if char in _ESCAPED else char for char in text)


def compiled(pattern: str) -> Callable[[str], bool]:
    """Whether a text has a part that `pattern` matches.

    Raises:
        ValueError: If the pattern is too long, or not a regular expression of this kind.
    """
    # Templates of URIs come here too, and no field of the file bounds their length.
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"the regular expression has {len(pattern)} characters; the most is {MAX_PATTERN}")
    try:
        matches = matcher(pattern)
    except SchemaError as exc:
        # The error repeats the pattern on several lines; the last line has the cause.
        problem = str(exc).strip().splitlines()[-1].removeprefix("error: ")
        raise ValueError(f"the regular expression {pattern!r} cannot be used: {problem}") from exc
    # The engine is written in Rust, and matches nothing in a text with half of a surrogate pair.
    return lambda text: matches(whole_characters(text[:MAX_TEXT]))


def place(value: Any, path: Sequence[str]) -> Any:
    """The value at a dotted path, such as `error.details.0.type`; `...` if it does not exist."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ...)
        # `"²".isdigit()` is true, and `int("²")` raises.
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ...
    return value


def same(expected: object, value: object) -> bool:
    """Whether two JSON scalars are equal; 1 and true are not."""
    return expected == value and isinstance(expected, bool) == isinstance(value, bool)


ANY: Final = "*"
"""The name for entries of all tools, resources or prompts; the entries of the one that failed are tried first."""

MAX_FILE: Final = 2_000_000
"""Bytes of an overlay."""


class OverlayError(ValueError):
    """An overlay that cannot be used; the message says where and why."""


def _checked_pattern(pattern: str) -> str:
    compiled(pattern)
    return pattern


RegularExpression = Annotated[
    str, Field(min_length=1, max_length=MAX_PATTERN, json_schema_extra={"format": "regex"}),
    AfterValidator(_checked_pattern),
]  # fmt: skip


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Pattern(_Strict):
    """A regular expression for a text in JSON."""

    pattern: RegularExpression = Field(description="A regular expression that matches a part of the text.")


class Match(_Strict):
    """The conditions that identify a failure; all of them must hold."""

    text: RegularExpression | None = Field(
        default=None, description="A regular expression that matches a part of the text of the failure."
    )
    json_path: dict[str, str | int | float | bool | Pattern | None] | None = Field(
        default=None,
        alias="json",
        min_length=1,
        description="Values by their dotted paths, such as `error.type`, in the structured content, in the JSON of the "
        "text, or in the data of a JSON-RPC error.",
    )
    code: int | str | None = Field(
        default=None, description="The code of a JSON-RPC error, or the value of `code` in the JSON of the failure."
    )
    status: Annotated[int, Field(ge=100, le=599)] | None = Field(
        default=None, description="The HTTP status that the failure names, in its JSON or in its text."
    )
    in_success: bool = Field(
        default=False,
        description="Whether a result that counts as a success is a failure if it matches. Only such entries judge "
        "its words.",
    )
    _search: Callable[[str], bool] | None = PrivateAttr(default=None)
    _places: list[tuple[list[str], Callable[[Any], bool]]] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.text is None and not self.json_path and self.code is None and self.status is None:
            raise ValueError("a match needs text, json, code or status; without them it would match every failure")
        if self.text is not None:
            self._search = compiled(self.text)
        # Patterns are compiled when the file is read, not for each failure.
        self._places = [(path.split("."), _test(value)) for path, value in (self.json_path or {}).items()]
        return self

    def fits(self, facts: Facts) -> bool:
        """Whether a failure is one of this kind."""
        return (
            (self._search is None or self._search(facts.text))
            and all(test(place(facts.json, path)) for path, test in self._places)
            and (self.code is None or any(same(self.code, code) for code in facts.codes))
            and (self.status is None or any(same(self.status, status) for status in facts.statuses))
        )


def _test(expected: str | float | Pattern | None) -> Callable[[Any], bool]:
    if isinstance(expected, Pattern):
        search = compiled(expected.pattern)
        return lambda value: isinstance(value, str) and search(value)
    return lambda value: same(expected, value)


_ONE, _SEVERAL = "one match", "several matches"

# Without a discriminator, pydantic reports the errors of both branches, and the author meant only one of them.
Matches = Annotated[
    Annotated[Match, Tag(_ONE)] | Annotated[list[Match], Field(min_length=1), Tag(_SEVERAL)],
    Discriminator(lambda value: _SEVERAL if isinstance(value, list) else _ONE),
]


class After(_Strict):
    """A retry after a time."""

    after: float = Field(gt=0, le=86_400, description="The seconds to wait before the same call is made again.")


class Entry(_Strict):
    """One way in which a tool, a resource or a prompt fails, and the conditions that identify it."""

    reason: str = Field(max_length=MAX_REASON, pattern=r"^[a-z][a-z0-9_]*$", description="The name, in snake_case.")
    # With a literal, the JSON Schema offers the codes in an editor.
    code: Literal[*ErrorCode.__members__] = Field(description="The name of the code.")  # type: ignore[valid-type]
    when: str = Field(pattern=r"\S", description="The circumstances, as a sentence.")
    recovery: str = Field(
        pattern=r"\S",
        description="The next step for the caller, as a sentence. With `TODO` first, the entry is a draft, and unused.",
    )
    retry: Literal["never", "now"] | After | None = Field(
        default=None, description="The advice; without it, that of the code, or its wait as the server words it."
    )
    effects: Effects | None = Field(default=None, description="Whether the call changed anything before it failed.")
    fallback_tool: str | None = Field(default=None, min_length=1, description="Another tool to look at.")
    fallback_arguments: dict[str, Any] | None = Field(
        default=None, description="Its arguments; in a text, {name} is an argument of the failed call."
    )
    strategy: Strategy | None = Field(default=None, description="What kind of step helps.")
    user_message: str | None = Field(default=None, min_length=1, description="A sentence for the user.")
    match: Matches = Field(
        description="The conditions that identify the failure, or a list of such, of which one must hold."
    )

    @property
    def matches(self) -> list[Match]:
        """The conditions, of which one must hold."""
        return self.match if isinstance(self.match, list) else [self.match]

    def mode(self) -> FailureMode[Any]:
        """The entry as a failure mode.

        Raises:
            ContractError: If a contract cannot have it.
        """
        retry = self.retry
        advice = Retry.after(seconds=retry.after) if isinstance(retry, After) else _RETRIES.get(retry)
        return FailureMode(
            self.reason,
            ErrorCode[self.code],
            when=self.when,
            recovery=self.recovery,
            retry=advice,
            effects=self.effects,
            fallback_tool=self.fallback_tool,
            fallback_arguments=self.fallback_arguments,
            strategy=self.strategy,
            user_message=self.user_message,
        )


_RETRIES: Final[Mapping[str | None, Retry]] = {"never": Retry.never(), "now": Retry.now()}


class OfTool(_Strict):
    """The entries of a tool, and the hints about it that the server leaves out."""

    read_only: bool | None = Field(default=None, strict=True, description="Whether the tool changes nothing.")
    idempotent: bool | None = Field(
        default=None, strict=True, description="Whether a second call with the same arguments changes nothing more."
    )
    errors: list[Entry] = Field(default_factory=list, description="The entries, in the order in which they are tried.")

    @property
    def hints(self) -> dict[str, bool]:
        """The hints by their names in `tools/list`."""
        values = {wire_name: getattr(self, name) for name, wire_name in HINTS.items()}
        return {name: value for name, value in values.items() if value is not None}


HINTS: Final = {"read_only": "readOnlyHint", "idempotent": "idempotentHint"}
"""The hints of a tool, and their names in `tools/list`."""

_LIST, _TABLE = "list of entries", "table of a tool"

ToolEntries = Annotated[
    Annotated[list[Entry], Tag(_LIST)] | Annotated[OfTool, Tag(_TABLE)],
    Discriminator(lambda value: _TABLE if isinstance(value, dict | OfTool) else _LIST),
]


class OverlayFile(_Strict):
    """A contract for the tools, resources and prompts of an MCP server."""

    # Editors read this key, and unknown keys are refused.
    schema_: str | None = Field(default=None, alias="$schema", description="The JSON Schema of this file.")
    version: Literal[1] = Field(description="The version of the format.")
    server: str | None = Field(default=None, description="The name of the server, for the audit trail.")
    tools: dict[str, ToolEntries] = Field(
        default_factory=dict,
        description="The entries of each tool, in the order in which they are tried, or a table with its hints and its "
        "entries; `*`: any.",
    )
    resources: dict[str, list[Entry]] = Field(
        default_factory=dict,
        description="The entries of each resource, by its URI or its URI template; `*`: any, and their lists.",
    )
    prompts: dict[str, list[Entry]] = Field(
        default_factory=dict, description="The entries of each prompt; `*`: any, and their list."
    )


@dataclass(slots=True)
class Section:
    """The entries for the tools, the resources or the prompts, and how often each of them has matched."""

    entries: Mapping[str, list[tuple[list[Match], FailureMode[Any]]]] = field(default_factory=dict)
    contracts: Mapping[str, Contract[Any]] = field(default_factory=dict)
    templates: Mapping[str, Callable[[str], bool]] = field(default_factory=dict)
    """The names that are templates of URIs, and whether a URI is of that kind."""

    hints: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """The hints of tools, by their names in `tools/list`."""

    fired: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, declared: Mapping[str, list[Entry]], *, uris: bool = False) -> Self:
        """Make a section of checked entries; with `uris`, their names may be templates of URIs.

        Raises:
            ContractError: If a contract cannot have an entry.
        """
        entries = {name: [(entry.matches, entry.mode()) for entry in of_name] for name, of_name in declared.items()}
        contracts = {name: Contract([mode for _, mode in modes]) for name, modes in entries.items()}
        # A part of a template in braces matches any text.
        parts = {name: re.split(r"{[^{}]*}", name) for name in entries if uris and "{" in name}
        templates = {name: compiled(f"(?s)^{'.*'.join(map(escaped, texts))}$") for name, texts in parts.items()}
        return cls(entries, contracts, templates)

    def _names(self, name: str) -> Iterator[str]:
        """The names under which there are entries for `name`, in the order in which they are tried."""
        # A tool may itself be called `*`; its entries come last, like the entries of all tools.
        if name in self.entries and name != ANY:
            yield name
        yield from (template for template, fits in self.templates.items() if template != name and fits(name))
        if ANY in self.entries:
            yield ANY

    def hints_of(self, name: object) -> Mapping[str, bool]:
        """The hints of a tool: its own, and those of all."""
        if not self.hints or not isinstance(name, str):
            return {}
        return {**self.hints.get(ANY, {}), **self.hints.get(name, {})}

    def contract_of(self, name: object) -> Contract[Any]:
        """The contract of a tool, a resource or a prompt: its own entries, and those of all."""
        if not self.entries or not isinstance(name, str):
            return NO_CONTRACT
        modes: dict[str, FailureMode[Any]] = {}
        for known in self._names(name):
            for mode in self.contracts[known]:
                # The first entry counts, as in `mode_of`: one of the tool itself hides one of all tools.
                modes.setdefault(mode.reason, mode)
        return Contract(list(modes.values())) if modes else NO_CONTRACT

    def mode_of(self, name: str, facts: Facts, *, success: bool = False) -> FailureMode[Any] | None:
        """The entry that a failure of `name` matches, or with `success` a result that counts as one; else None."""
        for known in self._names(name):
            for matches, mode in self.entries[known]:
                if any((not success or match.in_success) and match.fits(facts) for match in matches):
                    self.fired[known, mode.reason] += 1
                    return mode
        return None

    @property
    def reads_successes(self) -> bool:
        """Whether an entry is about results that count as successes."""
        return any(match.in_success for modes in self.entries.values() for matches, _ in modes for match in matches)

    def unfired(self) -> Iterator[tuple[str, str]]:
        """The name and the reason of each entry that has matched nothing."""
        for name, modes in self.entries.items():
            for _, mode in modes:
                if not self.fired[name, mode.reason]:
                    yield name, mode.reason


@dataclass(slots=True)
class Overlay:
    """A checked overlay."""

    source: str = ""
    server: str | None = None
    tools: Section = field(default_factory=Section)
    resources: Section = field(default_factory=Section)
    prompts: Section = field(default_factory=Section)
    # The entries that do not count, since their recovery is not written.
    left_out: Sequence[str] = ()

    @classmethod
    def read(cls, path: Path, *, drafts: bool = True) -> Self:
        """Read a TOML file, or with the suffix `.json` a JSON file.

        Args:
            path: The file.
            drafts: Whether entries count whose recovery is not written; no client may see those.

        Raises:
            OverlayError: If it cannot be read, or does not hold a contract; the message names the place.
        """
        try:
            if path.stat().st_size > MAX_FILE:
                raise OverlayError(f"{path}: the file is larger than {MAX_FILE} bytes")
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise OverlayError(f"{path} cannot be read: {getattr(exc, 'strerror', None) or exc}") from exc
        try:
            plain = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except (ValueError, RecursionError) as exc:
            raise OverlayError(f"{path} is not {'JSON' if path.suffix == '.json' else 'TOML'}: {exc}") from exc
        return cls.of(plain, str(path), drafts=drafts)

    @classmethod
    def of(cls, plain: object, source: str = "the overlay", *, drafts: bool = True) -> Self:
        """Check an overlay that was parsed already.

        Args:
            plain: The overlay as JSON.
            source: The name of the file, for messages.
            drafts: Whether entries count whose recovery is not written.

        Raises:
            OverlayError: If it is not of the format, or a contract cannot have an entry.
        """
        try:
            file = OverlayFile.model_validate(plain)
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_input=False)
            # A misspelt key is the cause of one that is missing.
            first = next((error for error in errors if error["type"] == "extra_forbidden"), errors[0])
            if first["type"] == "extra_forbidden":
                first["msg"] = f"unknown key{_nearest(str(first['loc'][-1]))}"
            at = ".".join(str(part) for part in first["loc"] if part not in _BRANCHES)
            raise OverlayError(
                f"{source}: {at + ': ' if at else ''}{first['msg'].removeprefix('Value error, ')}"
            ) from exc
        left_out = []
        for kind, name, declared in _declared(file):
            unwritten = [entry for entry in declared if not drafts and entry.recovery.startswith(TODO)]
            left_out += [f"{kind}.{name} {entry.reason}" for entry in unwritten]
            # In place, since these are the lists of the file itself.
            declared[:] = [entry for entry in declared if entry not in unwritten]
            twice = next((reason for reason, count in Counter(e.reason for e in declared).items() if count > 1), None)
            if twice is not None:
                raise OverlayError(
                    f"{source}: {kind}.{name}: the reason {twice!r} is used twice; give it a list of matches instead"
                )
        try:
            tools = Section.of({name: _entries(of_tool) for name, of_tool in file.tools.items()})
            sections = tools, Section.of(file.resources, uris=True), Section.of(file.prompts)
        except (ContractError, ValueError) as exc:
            raise OverlayError(f"{source}: {exc}") from exc
        tools.hints = {name: of_tool.hints for name, of_tool in file.tools.items() if isinstance(of_tool, OfTool)}
        return cls(source, file.server, *sections, left_out)

    @property
    def sections(self) -> Mapping[str, Section]:
        """The sections by their keys in the file."""
        return {"tools": self.tools, "resources": self.resources, "prompts": self.prompts}

    def unfired(self) -> Iterator[tuple[str, str]]:
        """The place and the reason of each entry that has matched nothing; the place of a tool is its name."""
        for kind, section in self.sections.items():
            for name, reason in section.unfired():
                yield name if kind == "tools" else f"{kind}.{name}", reason


def _nearest(key: str) -> str:
    """The key of the format that is most like `key`, as the end of a sentence."""
    models = (OverlayFile, OfTool, Entry, Match, Pattern, After)
    names = {field.alias or name for model in models for name, field in model.model_fields.items()}
    close = difflib.get_close_matches(key, sorted(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _declared(file: OverlayFile) -> Iterator[tuple[str, str, list[Entry]]]:
    sections: dict[str, Mapping[str, ToolEntries]] = {
        "tools": file.tools,
        "resources": file.resources,
        "prompts": file.prompts,
    }
    for kind, section in sections.items():
        for name, entries in section.items():
            yield kind, name, _entries(entries)


def _entries(declared: ToolEntries) -> list[Entry]:
    return declared.errors if isinstance(declared, OfTool) else declared


_BRANCHES: Final = frozenset(
    {_ONE, _SEVERAL, _LIST, _TABLE, "After", "Pattern", "literal['never','now']", "constrained-str", "function-after"}
)
"""What pydantic puts into the place of an error for the branch of a union."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the format."""
    schema = OverlayFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mcpcore overlay", **schema}
