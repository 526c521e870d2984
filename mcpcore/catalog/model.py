"""The catalog: what each tool, resource and prompt of some servers can fail with. Its JSON is the lock file.

The JSON is the same for the same contracts: entries are sorted, and it has no times, absolute paths or line numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from mcpcore.contract.codes import Category, Effects, Retry, RetryKind, Strategy, code_named, code_numbered

VERSION: Final = 1
"""The version of the format."""

MAX_FILE: Final = 64 * 1024 * 1024
"""The largest catalog file that is read, in bytes."""

Kind: TypeAlias = Literal["tool", "resource", "prompt"]
KINDS_OF_ITEM: Final[tuple[Kind, ...]] = ("tool", "resource", "prompt")


class CatalogError(ValueError):
    """A file or a listing that holds no catalog; the message names the place and the next step."""


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class Place(_Part):
    """A place in the source code of a server.

    Attributes:
        path: The file, relative to the root of the project, with `/` between folders.
        function: The function.
        through: The functions on the way there, beginning with the handler.
        line: The line; it is not a part of the JSON, which changes only with the contract.
    """

    path: str
    function: str | None = None
    through: tuple[str, ...] = ()
    line: int | None = Field(default=None, exclude=True)

    @property
    def label(self) -> str:
        """The place in texts: `store.py:12`."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Advice(_Part):
    """Retry advice, as failures carry it."""

    kind: RetryKind
    after_ms: int | None = None

    @property
    def retryable(self) -> bool:
        """Whether the same call is worth making again."""
        return self._advice.retryable

    @property
    def phrase(self) -> str:
        """The advice in words."""
        return self._advice.phrase

    @property
    def _advice(self) -> Retry:
        return Retry(self.kind, self.after_ms)


class Failure(_Part):
    """One declared failure mode.

    Attributes:
        reason: The name that programs switch on.
        code: The number of the code; None if it is not known.
        name: The name of the code; None if it is not known.
        when: The circumstances.
        recovery: The next step for the caller.
        retry: The retry advice in force; None if it is not known.
        effects: Whether anything was changed; None if nothing is said.
        strategy: The strategy of the recovery.
        actions: The steps of the recovery, as identifiers.
        fallback_tool: Another tool to look at.
        fallback_arguments: The arguments with which a program may call it; texts may have placeholders.
        corrective_params: Arguments to call the tool with instead.
        user_message: A sentence for a person.
        data_schema: The JSON schema of the data; None without a declared model.
        example: An example of the data.
        raised: Where the source raises it.
    """

    reason: str
    code: int | None = None
    name: str | None = None
    when: str = ""
    recovery: str = ""
    retry: Advice | None = None
    effects: Effects | None = None
    strategy: Strategy | None = None
    actions: tuple[str, ...] = ()
    fallback_tool: str | None = None
    fallback_arguments: dict[str, Any] | None = None
    corrective_params: dict[str, Any] | None = None
    user_message: str | None = None
    data_schema: dict[str, Any] | None = None
    example: dict[str, Any] | None = None
    raised: tuple[Place, ...] = ()

    @property
    def code_label(self) -> str:
        """The code in texts."""
        return self.name or (str(self.code) if self.code is not None else "unknown code")

    @property
    def category(self) -> Category | None:
        """Who can fix it; None for a code of another application."""
        known = None if self.code is None else code_numbered(self.code)
        return None if known is None else known.category


class Undeclared(_Part):
    """An error that leaves the handler and has no declared reason.

    Attributes:
        reason: Its reason, which the contract does not declare; None without one.
        name: The name of its code; None if it has none, or an unknown one.
        type: The class of an exception without a code.
        raised: Where the source raises it.
    """

    reason: str | None = None
    name: str | None = None
    type: str | None = None
    raised: tuple[Place, ...] = ()

    @property
    def label(self) -> str:
        """The error in texts."""
        code = self.name or self.type or "an unknown code"
        return code if self.reason is None else f"{self.reason} ({code})"


class Item(_Part):
    """A tool, a resource or a prompt.

    Attributes:
        kind: "tool", "resource" or "prompt".
        name: Its name; for a resource, its URI or its URI template.
        title: Its title for people.
        description: Its purpose.
        contract: Whether it has a contract: "declared", "none", or "unknown" if the contract could not be read in full.
        failures: How it fails: "raised" as failures that clients recognize, "returned" as data in a result that looks
            like a success, or both; empty if that is not known.
        read_only: The hint of the same name in its annotations, as the two below.
        input_schema: The JSON schema of its arguments; None if it is not known.
        errors: Its failure modes, by reason.
        undeclared: The errors that leave it without a declared reason, as far as the source shows them.
        returned: Where it returns a failure as data.
        defined: Where its handler is.
        problems: The broken parts of the listing, and the parts of the source that could not be read.
    """

    kind: Kind
    name: str
    title: str | None = None
    description: str = ""
    contract: Literal["declared", "none", "unknown"] = "none"
    failures: tuple[Literal["raised", "returned"], ...] = ()
    read_only: bool | None = None
    idempotent: bool | None = None
    destructive: bool | None = None
    input_schema: dict[str, Any] | None = None
    errors: tuple[Failure, ...] = ()
    undeclared: tuple[Undeclared, ...] = ()
    returned: tuple[Place, ...] = ()
    defined: Place | None = None
    problems: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The item in texts: `tool fetch_articles`."""
        return f"{self.kind} {self.name}"


class ServerCatalog(_Part):
    """The tools, resources and prompts of one server.

    Attributes:
        name: The name of the server; for source code, the path.
        items: Its tools, resources and prompts.
        problems: The parts that could not be read.
    """

    name: str
    items: tuple[Item, ...] = ()
    problems: tuple[str, ...] = ()


class Catalog(_Part):
    """The failure contracts of servers.

    Attributes:
        catalog: The version of the format.
        servers: The servers, by name.
    """

    catalog: Literal[1] = VERSION
    servers: tuple[ServerCatalog, ...] = ()

    @classmethod
    def of(cls, servers: Iterable[ServerCatalog]) -> Self:
        """A catalog of `servers`, in the order of the format."""
        return cls(servers=tuple(sorted((_sorted(server) for server in servers), key=lambda server: server.name)))

    @classmethod
    def loads(cls, text: str | bytes, source: str = "the catalog") -> Self:
        """Read a catalog from its JSON.

        Raises:
            CatalogError: If it is not one; the message names the place.
        """
        try:
            # Python's `json` reads NaN and Infinity, which other readers of the file refuse.
            plain = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as exc:
            raise CatalogError(f"{source} is not JSON: {exc}") from exc
        if not isinstance(plain, dict):
            raise CatalogError(f"{source} is not a catalog: it holds a {type(plain).__name__}, not an object")
        # Editors need this key, and the models refuse unknown ones.
        plain.pop("$schema", None)
        if "catalog" not in plain:
            raise CatalogError(f'{source} is not a catalog: it has no key "catalog"; make one with `mcpcore catalog`')
        try:
            return cls.model_validate(plain)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            at = ".".join(map(str, first["loc"]))
            if at == "catalog":
                raise CatalogError(
                    f"{source} has another version of the format: this mcpcore reads version {VERSION}"
                ) from exc
            raise CatalogError(f"{source} is not a catalog: {at}: {first['msg']}") from exc

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a catalog from a file.

        Raises:
            CatalogError: If it cannot be read or is not one.
        """
        try:
            if path.stat().st_size > MAX_FILE:
                raise CatalogError(f"{path} is larger than {MAX_FILE} bytes")
            return cls.loads(path.read_bytes(), str(path))
        except OSError as exc:
            raise CatalogError(f"{path} cannot be read: {exc.strerror or exc}") from exc

    def dumps(self) -> str:
        """The catalog as JSON, with a line feed at the end.

        Raises:
            CatalogError: If a schema or an example in it has too many levels for JSON.
        """
        plain = {
            # `exclude_defaults` drops this key, and a catalog is recognized by it.
            "catalog": VERSION,
            **self.model_dump(mode="python", by_alias=True, exclude_defaults=True),
        }
        try:
            return json.dumps(_ordered(plain), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        except (ValueError, RecursionError) as exc:
            raise CatalogError(f"the catalog cannot be written as JSON: {exc}") from exc

    @property
    def items(self) -> tuple[tuple[ServerCatalog, Item], ...]:
        """All tools, resources and prompts, each with its server."""
        return tuple((server, item) for server in self.servers for item in server.items)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


_FREE: Final = frozenset({"dataSchema", "inputSchema", "example", "correctiveParams", "fallbackArguments"})
"""Keys with JSON of the server's own, whose keys have no order."""


def _ordered(value: Any, *, free: bool = False) -> Any:
    """`value` with the keys of schemas and examples sorted, since servers send them in any order."""
    if isinstance(value, dict):
        items = sorted(value.items()) if free else value.items()
        return {key: _ordered(item, free=free or key in _FREE) for key, item in items}
    if isinstance(value, list | tuple):
        return [_ordered(item, free=free) for item in value]
    return value


def _sorted(server: ServerCatalog) -> ServerCatalog:
    """A server in the order of the format; a second item of the same name is reported and left out."""
    items: dict[tuple[int, str], Item] = {}
    problems = list(server.problems)
    for item in server.items:
        key = (KINDS_OF_ITEM.index(item.kind), item.name)
        if key in items:
            problems.append(f"the {item.label} is listed twice; the first is kept")
        else:
            items[key] = _sorted_item(item)
    kept = dict.fromkeys(problems)
    return server.model_copy(update={"items": tuple(items[key] for key in sorted(items)), "problems": tuple(kept)})


def _sorted_item(item: Item) -> Item:
    errors: dict[str, Failure] = {}
    for error in item.errors:
        errors.setdefault(error.reason, error.model_copy(update={"raised": _places(error.raised)}))
    undeclared = [entry.model_copy(update={"raised": _places(entry.raised)}) for entry in item.undeclared]
    undeclared.sort(key=lambda entry: (entry.reason or "", entry.name or "", entry.type or ""))
    changes = {
        "errors": tuple(errors[reason] for reason in sorted(errors)),
        "undeclared": tuple(undeclared),
        "returned": _places(item.returned),
        "failures": tuple(sorted(set(item.failures))),
    }
    return item.model_copy(update=changes)


def _places(places: Iterable[Place]) -> tuple[Place, ...]:
    """The places in order, each function once: lines are not a part of the format."""
    kept: dict[tuple[str, str, tuple[str, ...]], Place] = {}
    for place in sorted(places, key=lambda place: (place.path, place.line or 0)):
        kept.setdefault((place.path, place.function or "", place.through), place)
    return tuple(kept[key] for key in sorted(kept))


def completed(error: dict[str, Any]) -> dict[str, Any]:
    """An entry with the name and the number of its code, of which it may have only one."""
    name, number = error.get("name"), error.get("code")
    known = code_named(name)
    # A name that is unknown here is another application's, and its number may be one of ours by chance.
    if known is None and name is None and isinstance(number, int):
        known = code_numbered(number)
    return error if known is None else {**error, "name": known.name, "code": int(known)}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the format."""
    schema = Catalog.model_json_schema(by_alias=True)
    schema["properties"] = {"$schema": {"type": "string"}, **schema["properties"]}  # for editors, if you add it
    schema["required"] = ["catalog"]
    # Lines are known in memory and never written.
    schema["$defs"]["Place"]["properties"].pop("line")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "mcpcore catalog",
    }
