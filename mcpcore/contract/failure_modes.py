"""What a tool's author declares: failure modes, and the contract that they make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, LiteralString, Required, Self, TypedDict, cast, overload

from typing_extensions import TypeVar, Unpack

from mcpcore.contract.checks import Templates, problem_of, templates_of
from mcpcore.contract.effects import CallState, ToolEffects, settled
from mcpcore.contract.mapping import D_co, Kind, Mappable, Mapped, R_co, Target, mapped_by

if TYPE_CHECKING:
    from mcpcore.contract.codes import Code, Effects, Retry, Strategy
    from mcpcore.contract.data_schemas import DataModel
    from mcpcore.contract.listed_contracts import ListedSchema
    from mcpcore.values.jsonable import JSON

D = TypeVar("D")
RL = TypeVar("RL", bound=LiteralString)
RS = TypeVar("RS", bound=str)

CONTRACT_META_KEY: Final = "dev.mcpcore/errors"
"""Where `tools/list` carries the contract of a tool, in its `_meta`."""

WRITTEN_DATA_KEYS: Final = frozenset({"reason", "retryable", "recovery"})
"""Keys of `data` that the framework writes; an entry's own data model cannot have them."""

RESERVED_DATA_KEYS: Final = WRITTEN_DATA_KEYS | {"fallbackTool"}
"""Keys that clients take for the contract's words; `data` has them only where the entry's own data model does."""


TODO: Final[str] = "TODO"
"""A recovery that is still to be written; lint reports it, and no client reads it.

```python
mode = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery=TODO)
assert mode.recovery_json() == {}
```
"""


def is_todo(text: str) -> bool:
    """Whether a sentence is still to be written: it is `TODO`, or begins with "TODO:"."""
    start = text[:100].strip()  # a caller may hand in a huge text, so no copy of the whole
    return start.startswith("TODO:") or (start == TODO and len(text) <= 100)


class ContractError(ValueError, TypeError):
    """A declaration that cannot stand: a bad failure mode, contract, handler or tool. Raised at import."""


class UndeclaredReasonError(ContractError):
    """`ctx.fail` was called with a reason that the contract does not declare."""


if TYPE_CHECKING:

    class ModeKeywords(TypedDict, total=False):
        """The options of `FailureMode` without `data`, which its overloads tell apart."""

        when: Required[str]
        recovery: Required[str]
        retry: Retry | None
        fallback_tool: str | None
        fallback_arguments: Mapping[str, Any] | None
        strategy: Strategy | None
        actions: Sequence[str]
        corrective_params: Mapping[str, Any] | None
        user_message: str | None
        example: Mapping[str, Any] | None
        fails_batch: bool
        effects: Effects | None


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class FailureMode(Mappable[R_co, D_co]):
    """One way in which a tool fails that its author knows beforehand.

    Frozen; compared by value. The reason is kept as a literal type, so that `ctx.fail("typo")` is a type error. The
    second type argument is the data model, so that `ctx.fail(MODE, data=...)` takes data of that model only; it is
    `None` for a failure mode without a model, and left out it is `Any`.

    ```python
    NO_MATCH = FailureMode(
        "no_match",
        ErrorCode.NOT_FOUND,
        when="No requested id returned data.",
        recovery="Call search_articles to find valid ids.",
        fallback_tool="search_articles",
    )
    ```

    With a data model, `when`, `recovery` and `user_message` are templates: `{field}`, a required field of the model,
    is replaced by the value that the failure has, and `{{` and `}}` by braces. Where the data is missing or does
    not fit the model, the sentence of the code replaces such a `when`, and the other two are left out. Without a
    model, braces are sent as they are.

    ```python
    class Stock(BaseModel):
        left: int


    TOO_MANY = FailureMode(
        "too_many",
        ErrorCode.CONFLICT,
        when="Only {left} are left.",
        recovery="Order at most {left}.",
        data=Stock,
    )
    ```

    Attributes:
        reason: The stable name that programs switch on, in snake_case.
        code: The `ErrorCode` or `CustomCode` of the failure.
        when: The circumstances, as a sentence; also the message if the `raise` statement gives none. While it begins
            with "TODO:", clients read the sentence of the code.
        recovery: The next step for the caller, as a sentence; sent with every failure of this reason. With
            `mcpcore.TODO`, or a text that begins with "TODO:", clients read no sentence until it is written.
        retry: The advice; `None` takes the code's own, or with the effects "partial" and "unknown" Retry.never().
        fallback_tool: Another tool for the model to look at.
        fallback_arguments: Arguments of that tool, with which programs may call it. In a text, `{name}` is replaced by
            an argument of the failed call, else by a value of `data`; a text that is nothing else keeps its JSON type.
        strategy: "retry_later", "check_input", "try_alternative" or "report_to_user".
        actions: Steps for an agent, as short identifiers.
        corrective_params: Arguments to call the tool with instead.
        user_message: A sentence for the person behind the agent.
        data: A pydantic model, TypedDict or dataclass that the failure's data fits.
        example: Data of that shape, for the documentation.
        fails_batch: Whether one item with this failure makes the whole batch fail.
        effects: Whether the call has changed anything by then: "none", "partial" or "unknown"; `None` leaves
            it to the tool's annotations.
    """

    reason: R_co
    code: Code
    when: str
    recovery: str
    retry: Retry | None
    fallback_tool: str | None
    fallback_arguments: Mapping[str, Any] | None
    strategy: Strategy | None
    actions: tuple[str, ...]
    corrective_params: Mapping[str, Any] | None
    user_message: str | None
    data: Any
    example: Mapping[str, Any] | None
    fails_batch: bool
    effects: Effects | None
    templates: Templates | None = field(init=False)
    """The texts with braces, if there is a data model; computed from the options."""

    _data_model: DataModel | ListedSchema | None
    _hint_alone: dict[str, JSON] | None
    """The recovery as it is sent, if it is no more than a sentence, as most are."""

    kept: dict[CallState | None, Any] = field(init=False)
    """What all of its failures in a call of this state have in common, which the boundary keeps here."""

    _mapped: tuple[Mapped, ...]
    """What `on` and `on_code` map. Modes are compared and pickled without it."""

    if TYPE_CHECKING:
        # Covariance lets lists of failure modes with different models join to one type in mypy. `Context.fail` must
        # still refuse data of another model, so it reads the model from the parameter of this method, which exists in
        # no instance.
        def _takes(self, data: D_co, /) -> None: ...  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]

    # A bound of LiteralString keeps the literal; members of an enum and computed reasons have the other two.
    @overload
    def __new__(
        cls, reason: RL, code: Code, *, data: None = None, **options: Unpack[ModeKeywords]
    ) -> FailureMode[RL, None]: ...
    @overload
    def __new__(
        cls, reason: RL, code: Code, *, data: type[D], **options: Unpack[ModeKeywords]
    ) -> FailureMode[RL, D]: ...
    @overload
    def __new__(  # type: ignore[overload-cannot-match] # to mypy, any string is a LiteralString
        cls, reason: RS, code: Code, *, data: None = None, **options: Unpack[ModeKeywords]
    ) -> FailureMode[RS, None]: ...
    @overload
    def __new__(  # type: ignore[overload-cannot-match] # to mypy, any string is a LiteralString
        cls, reason: RS, code: Code, *, data: type[D], **options: Unpack[ModeKeywords]
    ) -> FailureMode[RS, D]: ...
    def __new__(
        cls,
        reason: str,
        code: Code,
        *,
        when: str,
        recovery: str,
        retry: Retry | None = None,
        fallback_tool: str | None = None,
        fallback_arguments: Mapping[str, Any] | None = None,
        strategy: Strategy | None = None,
        actions: Sequence[str] = (),
        corrective_params: Mapping[str, Any] | None = None,
        user_message: str | None = None,
        data: Any = None,
        example: Mapping[str, Any] | None = None,
        fails_batch: bool = False,
        effects: Effects | None = None,
    ) -> FailureMode[Any]:
        """Declare a failure mode.

        Raises:
            ContractError: If the declaration cannot stand; the message names the file, the tool and the entry.
        """
        arguments = locals()  # the parameters alone, as long as no other name is bound
        values = {name: arguments[name] for name in FIELDS}
        self = object.__new__(cls)
        object.__setattr__(self, "_data_model", None)
        object.__setattr__(self, "kept", {})
        object.__setattr__(self, "_mapped", ())
        problem = problem_of(values)
        if problem is not None:
            from mcpcore.values.source_location import where_declared

            raise ContractError(f"{where_declared(reason)}: {problem}")
        values["reason"] = str.__str__(reason)  # of an enum, the value: what the wire and the log show
        values["actions"] = tuple(actions)
        for name in ("fallback_arguments", "corrective_params", "example"):
            if (mapping := values[name]) is not None:
                values[name] = MappingProxyType(dict(mapping))
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "templates", None)
        object.__setattr__(self, "_hint_alone", None)
        sent = self.recovery_json()
        object.__setattr__(self, "_hint_alone", sent if sent.keys() == {"hint"} else None)
        if data is not None:
            try:
                self._read_templates()
            except ValueError as exc:
                from mcpcore.values.source_location import where_declared

                raise ContractError(f"{where_declared(reason)}: {exc}") from exc.__cause__
        return self

    def _read_templates(self) -> None:
        # A sentence that is still to be written is never sent.
        recovery = None if is_todo(self.recovery) else self.recovery
        object.__setattr__(
            self, "templates", templates_of((self.sentence, recovery, self.user_message), self.data_schema)
        )

    @property
    def sentence(self) -> str:
        """What clients read of `when`: the sentence of the code while it is still to be written."""
        return self.code.sentence if is_todo(self.when) else self.when

    @property
    def advice(self) -> Retry:
        """The retry advice in force: the entry's own, else its code's.

        An entry that declares `effects="partial"` or "unknown" and no advice is not retryable. The annotations of the
        tool may withhold more of the advice of a code; see `to_json`.
        """
        return self.settled(None)[1]

    def settled(self, call: CallState | None) -> tuple[Effects | None, Retry]:
        """The effects and the advice of a failure of `call` about which its `raise` statement says nothing more."""
        retry = self.retry or self.code.retry
        return settled(call, self.code, retry, is_declared=self.retry is not None, effects=self.effects)

    def recovery_json(self) -> dict[str, JSON]:
        """The declared recovery as it is sent; empty where it is still to be written, and nothing else is declared."""
        if self._hint_alone is not None:
            return self._hint_alone.copy()
        from mcpcore.values.jsonable import to_json

        recovery: dict[str, JSON] = {} if is_todo(self.recovery) else {"hint": self.recovery}
        if self.strategy is not None:
            recovery["strategy"] = self.strategy
        if self.actions:
            recovery["actions"] = list(self.actions)
        if self.fallback_tool is not None:
            recovery["fallbackTool"] = self.fallback_tool
        if self.corrective_params is not None:
            recovery["correctiveParams"] = to_json(self.corrective_params)
        if self.user_message is not None:
            recovery["userMessage"] = self.user_message
        return recovery

    def to_json(self, tool: ToolEffects | None = None) -> dict[str, JSON]:
        """The entry as `tools/list` carries it, with the advice that its failures are sent with.

        Args:
            tool: The effects that follow from the annotations of the tool, by `effects.default_effects`; None for a
                resource or a prompt.

        Raises:
            ContractError: If `data` is not a type that has a JSON schema.
        """
        from mcpcore.values.escaping import clean_text
        from mcpcore.values.jsonable import to_json

        effects, retry = self.settled(None if tool is None else CallState(tool))
        entry: dict[str, JSON] = {
            "reason": self.reason,
            "code": int(self.code),
            "name": self.code.name,
            "when": clean_text(self.sentence),
            "recovery": None if is_todo(self.recovery) else clean_text(self.recovery),
            "retry": retry.to_json(),
            "effects": effects,
            "fallbackTool": self.fallback_tool,
            "fallbackArguments": to_json(self.fallback_arguments),
            "correctiveParams": to_json(self.corrective_params),
            "example": to_json(self.example),
            "dataSchema": self.data_schema(),
        }
        return {key: value for key, value in entry.items() if value is not None}

    def data_schema(self) -> dict[str, Any] | None:
        """The JSON schema of the failure's data, or None where none is declared.

        Raises:
            ContractError: If `data` is not a type that has a JSON schema.
        """
        if self.data is None:
            # An entry that was read from `tools/list` has the published schema and no model.
            return None if self._data_model is None else self._data_model.schema
        return self._model().schema

    def has_field(self, name: str) -> bool:
        """Whether the declared data model has a field of this name."""
        return name in (self.data_schema() or {}).get("properties", {})

    def check_data(self, data: object, *, sent: dict[str, JSON] | None = None, dumped: bool = False) -> str | None:
        """Say why the JSON of `data`, without its reserved keys, does not fit the declared model; None if it fits.

        Args:
            data: The data of the failure, or None.
            sent: The same as JSON, if it has been converted already. It may be cut; a cut is not a misfit.
            dumped: Whether `data` is what `dump_data` made of an instance of the model.
        """
        if self.data is None:
            return None
        from mcpcore.contract.data_schemas import misfit

        return misfit(self._model(), data, sent, dumped=dumped)

    def dump_data(self, data: object) -> Any:
        """The JSON of `data` by the declared model, with its aliases and serializers; None if it is no instance of it.

        A subclass of the model is written as the model declares. Of a TypedDict there are no instances.
        """
        if self.data is None or issubclass(type(data), dict) or not issubclass(type(data), self.data):
            return None
        return self._model().dump(data)

    def read_data(self, data: Mapping[str, Any]) -> D_co:
        """The declared model, made from the `data` of an envelope; None where the entry declares no model.

        Raises:
            ValueError: If the data does not fit the model.
        """
        if self.data is None:
            return cast("D_co", None)
        model = self._model()
        return cast("D_co", model.read(model.own_part(dict(data))))

    def _model(self) -> DataModel:
        if self._data_model is None:
            from mcpcore.contract.data_schemas import data_model

            try:
                model = data_model(
                    self.data, example=self.example, written=WRITTEN_DATA_KEYS, reserved=RESERVED_DATA_KEYS
                )
            except ValueError as exc:
                where = f"FailureMode({self.reason!r}, data={getattr(self.data, '__name__', self.data)})"
                raise ContractError(f"{where}: {exc}") from exc.__cause__
            object.__setattr__(self, "_data_model", model)
        return cast("DataModel", self._data_model)

    # Written out, since mypy would otherwise report `"reason" in contract` as a comparison that is always false.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FailureMode):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in FIELDS)

    def __hash__(self) -> int:
        return hash((self.reason, self.code, self.when, self.recovery))

    def __reduce__(self) -> tuple[partial[FailureMode[Any]], tuple[()]]:
        # A view of a mapping can be neither pickled nor copied.
        values = {name: getattr(self, name) for name in FIELDS}
        return partial(
            FailureMode,
            **{name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in values.items()},
        ), ()

    def __repr__(self) -> str:
        return f"FailureMode({self.reason!r}, {self.code.name}, when={self.when!r}, recovery={self.recovery!r})"


FIELDS: Final = tuple(part.name for part in fields(FailureMode) if part.init and not part.name.startswith("_"))
"""The options of a failure mode."""


class Contract(Sequence[FailureMode[R_co]]):
    """The failure modes of one tool: a frozen sequence, read by index or by reason.

    ```python
    contract = Contract(
        [FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search for valid PMIDs.")]
    )
    assert contract.reasons == ("no_match",)
    assert contract["no_match"].code is ErrorCode.NOT_FOUND
    ```
    """

    __slots__ = ("_by_reason", "_entries", "mapped", "tool")

    def __init__(self, entries: Iterable[FailureMode[R_co]] = (), *, tool: str | None = None) -> None:
        """Gather `entries`, in order; `tool` names the tool in a message about them.

        Args:
            entries: The failure modes.
            tool: The name of the tool.

        Raises:
            ContractError: If an entry is not a `FailureMode`, or if two entries have the same reason or map the same
                exception.
        """
        if isinstance(entries, FailureMode | str | bytes) or not isinstance(entries, Iterable):
            raise ContractError(f"{_where(tool)}: errors must be a list of FailureMode, not {type(entries).__name__}")
        modes = tuple(entries)
        by_reason: dict[str, FailureMode[R_co]] = {}
        for index, entry in enumerate(modes):
            if not isinstance(entry, FailureMode):
                raise ContractError(
                    f"{_where(tool)}: errors[{index}] is a {type(entry).__name__}, not a FailureMode; "
                    'write FailureMode("reason", ErrorCode.NOT_FOUND, when="…", recovery="…")'
                )
            if entry.reason in by_reason:
                first = list(by_reason).index(entry.reason)
                raise ContractError(
                    f"{_where(tool)}: errors[{index}]: the reason {entry.reason!r} is declared already, by "
                    f"errors[{first}]; give each failure mode its own reason, or merge the two"
                )
            by_reason[entry.reason] = entry
        self._entries = modes
        self._by_reason = by_reason
        self.tool: str | None = tool
        self.mapped: dict[Kind, Target] = mapped_by(modes, tool)

    @classmethod
    def from_listing(cls, tool: object) -> Contract[str]:
        """Read the contract that a server advertises in `tools/list`; never raises.

        Broken entries are left out, and so is a second entry with the same reason. Without readable entries, the
        contract is empty. A code that this program does not know becomes a `CustomCode` that is not registered.

        ```python
        entry = {"reason": "no_match", "name": "NOT_FOUND", "when": "Nothing matches.", "recovery": "Search first."}
        listed = {"name": "fetch", "_meta": {"dev.mcpcore/errors": [entry, {"reason": 7}]}}
        assert Contract.from_listing(listed).reasons == ("no_match",)
        ```

        Args:
            tool: A `Tool` of the SDK, a tool of FastMCP, or the JSON of one as a dict.
        """
        from mcpcore.contract.listed_contracts import listed_entries
        from mcpcore.values.untrusted import quietly

        entries: dict[str, FailureMode[str]] = {}
        for values, schema in listed_entries(tool, CONTRACT_META_KEY):
            if values["recovery"] is None:
                values["recovery"] = TODO
            try:
                entry: FailureMode[str] = FailureMode(**values)
            except ContractError:
                continue
            object.__setattr__(entry, "_data_model", schema)
            if schema is not None:
                # The entries of another program may have braces that are no placeholders.
                quietly(entry._read_templates, None)  # noqa: SLF001 - its own
            entries.setdefault(entry.reason, entry)
        return Contract(entries.values())

    @property
    def reasons(self) -> tuple[R_co, ...]:
        """The declared reasons, in order."""
        return tuple(entry.reason for entry in self._entries)

    @property
    def codes(self) -> frozenset[Code]:
        """The codes that the entries have."""
        return frozenset(entry.code for entry in self._entries)

    def get(self, reason: object) -> FailureMode[R_co] | None:
        """The entry of a reason, or None.

        Args:
            reason: The reason.
        """
        return self._by_reason.get(reason) if isinstance(reason, str) else None

    def near(self, reason: str) -> str | None:
        """The declared reason that `reason` was probably meant to be, or None.

        Args:
            reason: A reason, probably misspelt.
        """
        import difflib

        close = difflib.get_close_matches(reason, list(self._by_reason), n=1, cutoff=0.6)
        return close[0] if close else None

    def to_json(self, tool: ToolEffects | None = None) -> list[JSON]:
        """The contract as `tools/list` carries it, with the advice that its failures are sent with.

        Args:
            tool: The effects that follow from the annotations of the tool, by `effects.default_effects`; None for a
                resource or a prompt.

        Raises:
            ContractError: If an entry's `data` is not a type that has a JSON schema.
        """
        return [entry.to_json(tool) for entry in self._entries]

    @overload
    def __getitem__(self, key: int | str) -> FailureMode[R_co]: ...
    @overload
    def __getitem__(self, key: slice) -> Contract[R_co]: ...
    def __getitem__(self, key: int | str | slice) -> FailureMode[R_co] | Contract[R_co]:
        if isinstance(key, str):
            return self._by_reason[key]
        return Contract(self._entries[key]) if isinstance(key, slice) else self._entries[key]

    def __iter__(self) -> Iterator[FailureMode[R_co]]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, item: object) -> bool:
        return item in self._by_reason if isinstance(item, str) else item in self._entries

    def __add__(self, other: Iterable[FailureMode[Any]]) -> Contract[Any]:
        return Contract((*self._entries, *other))

    def __radd__(self, other: Iterable[FailureMode[Any]]) -> Contract[Any]:
        return Contract((*other, *self._entries))

    def __eq__(self, other: object) -> bool:
        return self._entries == other._entries if isinstance(other, Contract) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._entries)

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Contract[Any]], tuple[Sequence[FailureMode[R_co]]]]:
        return Contract, (self._entries,)

    def __repr__(self) -> str:
        return f"Contract([{', '.join(repr(entry) for entry in self._entries)}])"


def _where(tool: str | None) -> str:
    from mcpcore.values.source_location import where_used

    return where_used(tool)


NO_CONTRACT: Final[Contract[Any]] = Contract()
"""The contract of whatever declares no failure modes."""
