"""Items of a catalog, from the lists of a running server and from its source code.

A server may send anything: broken parts are named. The linter reads the source code; this package never imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from mcpcore.catalog.model import Advice, Failure, Item, Kind, ServerCatalog, completed
from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.codes import STRATEGIES, Strategy, code_named, code_numbered, stated_advice
from mcpcore.contract.effects import as_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract
from mcpcore.contract.listed_contracts import MAX_ENTRIES, MAX_TEXT
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import to_json
from mcpcore.values.untrusted import list_in, object_in, quietly

MAX_SCHEMA: Final = 100_000
"""Characters of a schema or an example that is kept."""

_DEPTH: Final = 60
_MAX_NAME: Final = 1_000
_FAILS_WITH: Final = "\n\nFails with:"
"""What begins the section that `describe_failures=True` adds to a description; the contract itself says the same."""


def item_of_listing(kind: Kind, listed: object, *, contract: Contract[Any] | None = None) -> Item | None:
    """Read a tool, resource, resource template or prompt as a server lists it; None if it has no name.

    Args:
        kind: The kind of the item.
        listed: Its JSON.
        contract: The contract itself, if the server is in this process: it says more than the listing does.
    """
    plain = quietly(lambda: to_json(listed, depth=_DEPTH), None)
    if not isinstance(plain, dict):
        return None
    keys = ("uri", "uriTemplate") if kind == "resource" else ("name",)
    name = next((value for key in keys if isinstance(value := plain.get(key), str) and value), None)
    if name is None:
        return None
    problems: list[str] = []
    if len(name) > _MAX_NAME:
        problems.append(f"the name has {len(name)} characters, of which {_MAX_NAME} are kept")
    errors, state = _contract(plain, problems)
    if contract is not None and len(contract):
        declared = {entry.reason: entry for entry in contract}
        errors = [_with_declared(error, declared.get(error.reason)) for error in errors]
    hints = object_in(plain, "annotations")
    return Item(
        kind=kind,
        name=clean_text(name)[:_MAX_NAME],
        title=_text(plain.get("title"), "title", problems),
        description=(_text(plain.get("description"), "description", problems) or "").partition(_FAILS_WITH)[0],
        contract=state,
        # A contract promises that failures are raised; without one, a listing does not show how an item fails.
        failures=("raised",) if state != "none" else (),
        read_only=_flag(hints.get("readOnlyHint")),
        idempotent=_flag(hints.get("idempotentHint")),
        destructive=_flag(hints.get("destructiveHint")),
        input_schema=_object(plain.get("inputSchema"), "inputSchema", problems) if kind == "tool" else None,
        errors=tuple(errors),
        problems=tuple(problems),
    )


def _contract(plain: Mapping[str, Any], problems: list[str]) -> tuple[list[Failure], Any]:
    """The failure modes that the `_meta` publishes, and whether they are all of them."""
    published = object_in(plain, "_meta").get(CONTRACT_META_KEY)
    if published is None:
        return [], "none"
    if not isinstance(published, list):
        problems.append(f"{CONTRACT_META_KEY} is not a list")
        return [], "unknown"
    if len(published) > MAX_ENTRIES:
        problems.append(f"the contract has {len(published)} entries, of which {MAX_ENTRIES} are read")
    errors: dict[str, Failure] = {}
    # Only a contract that is read in full shows that a reason is gone.
    complete = len(published) <= MAX_ENTRIES
    for index, entry in enumerate(published[:MAX_ENTRIES]):
        where = f"errors[{index}]"
        error = _failure(entry, where, problems)
        if error is None:
            complete = False
        elif error.reason in errors:
            problems.append(f"{where}: the reason {error.reason!r} is declared twice; the first is kept")
        else:
            errors[error.reason] = error
    return list(errors.values()), "declared" if complete else "unknown"


def _failure(entry: object, where: str, problems: list[str]) -> Failure | None:
    """One entry of a published contract; None if it has no reason."""
    if not isinstance(entry, dict):
        problems.append(f"{where} is not an object")
        return None
    reason = entry.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        problems.append(f"{where} has no reason")
        return None
    if len(reason) > MAX_REASON or not reason.isprintable():
        problems.append(f"{where}: the reason is longer than {MAX_REASON} characters, or not printable")
        reason = clean_text(reason)[:MAX_REASON]
    where = f"{where} ({reason})"
    code = _code(entry.get("name"), entry.get("code"), where, problems)
    strategy = entry.get("strategy")
    return Failure(
        reason=reason,
        name=code["name"],
        code=code["code"],
        when=_text(entry.get("when"), f"{where}: when", problems, needed=True) or "",
        recovery=_text(entry.get("recovery"), f"{where}: recovery", problems) or "",
        retry=_advice(entry.get("retry"), where, problems),
        effects=_effects(entry.get("effects"), where, problems),
        strategy=cast("Strategy", strategy) if strategy in STRATEGIES else None,
        actions=tuple(clean_text(action) for action in list_in(entry, "actions") if isinstance(action, str)),
        fallback_tool=_text(entry.get("fallbackTool"), f"{where}: fallbackTool", problems),
        fallback_arguments=_object(entry.get("fallbackArguments"), f"{where}: fallbackArguments", problems),
        corrective_params=_object(entry.get("correctiveParams"), f"{where}: correctiveParams", problems),
        user_message=_text(entry.get("userMessage"), f"{where}: userMessage", problems),
        data_schema=_object(entry.get("dataSchema"), f"{where}: dataSchema", problems),
        example=_object(entry.get("example"), f"{where}: example", problems),
    )


def _code(name: object, number: object, where: str, problems: list[str]) -> dict[str, Any]:
    """The name and the number of a code; a code of another application is kept as it is."""
    if name is not None and not isinstance(name, str):
        problems.append(f"{where}: the name of the code is not a string")
        name = None
    if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
        problems.append(f"{where}: the code is not an integer")
        number = None
    if name is None and number is None:
        problems.append(f"{where} has no code")
        return {"name": None, "code": None}
    known = code_named(name)
    # Any server can publish a name and a number that contradict each other.
    if known is not None and number not in (None, int(known)):
        problems.append(f"{where}: {name} has the number {int(known)}, not {number}")
    if known is None and name is not None and isinstance(number, int) and (same := code_numbered(number)) is not None:
        problems.append(f"{where}: {number} is the number of {same.name}, not of {clean_text(name)[:100]}")
    code = completed({"name": name, "code": number})
    return {**code, "name": clean_text(code["name"])[:MAX_REASON] if code["name"] is not None else None}


def _advice(advice: object, where: str, problems: list[str]) -> Advice | None:
    if advice is None:
        return None
    read = stated_advice(advice)
    if read is None:
        problems.append(f"{where}: the retry advice has an unknown form")
        return None
    return Advice(kind=read.kind, after_ms=read.after_ms)


def _effects(value: object, where: str, problems: list[str]) -> Any:
    effects = as_effects(value)
    if effects is None and value is not None:
        problems.append(f"{where}: the effects must be none, partial or unknown")
    return effects


def _with_declared(error: Failure, entry: Any) -> Failure:
    """An entry with what only the declaration says."""
    if entry is None:
        return error
    changes = {
        "strategy": entry.strategy,
        "actions": tuple(entry.actions),
        "user_message": entry.user_message,
    }
    return error.model_copy(update=changes)


def _text(value: object, where: str, problems: list[str], *, needed: bool = False) -> str | None:
    if value is None and not needed:
        return None
    if not isinstance(value, str):
        problems.append(f"{where} is missing" if value is None else f"{where} is not a string")
        return None
    return clean_text(value)[:MAX_TEXT]


def _object(value: object, where: str, problems: list[str]) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        problems.append(f"{where} is not an object")
        return None
    if len(str(value)) > MAX_SCHEMA:
        problems.append(f"{where} is larger than {MAX_SCHEMA} characters and left out")
        return None
    return value


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def item_of_source(record: Mapping[str, Any]) -> Item:
    """The item that the linter's inventory describes, as JSON of the catalog with the lines of the places."""
    plain: Any = to_json(record, depth=_DEPTH)
    plain["errors"] = [completed(error) for error in plain.get("errors", ())]
    return Item.model_validate(plain)


def with_source(item: Item, source: Item) -> Item:
    """A listed item with what only its source code shows: where it raises and returns its failures."""
    places = {error.reason: error.raised for error in source.errors}
    declared = {error.reason for error in item.errors}
    return item.model_copy(
        update={
            "errors": tuple(error.model_copy(update={"raised": places.get(error.reason, ())}) for error in item.errors),
            # A reason that a contract computes when it runs is declared after all.
            "undeclared": tuple(entry for entry in source.undeclared if entry.reason not in declared),
            "failures": tuple({*item.failures, *source.failures}),
            "returned": source.returned,
            "defined": source.defined,
        }
    )


def servers_of_source(
    name: str, items: Sequence[tuple[Item, str]], problems: Iterable[str] = ()
) -> list[ServerCatalog]:
    """The servers of some source code.

    The code does not always show which server a tool is on. If no name is taken twice, all are on one server, else the
    tools of each file are.

    Args:
        name: The name for the source code: its path.
        items: Each item, with the path of the file that registers it.
        problems: What could not be read.
    """
    keys = [(item.kind, item.name) for item, _ in items]
    if len(set(keys)) == len(keys):
        return [ServerCatalog(name=name, items=tuple(item for item, _ in items), problems=tuple(problems))]
    files: dict[str, list[Item]] = {}
    for item, path in items:
        files.setdefault(path, []).append(item)
    servers = [ServerCatalog(name=path, items=tuple(members)) for path, members in files.items()]
    if any(problems):
        servers.append(ServerCatalog(name=name, problems=tuple(problems)))
    return servers
