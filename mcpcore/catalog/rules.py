"""The rules by which `mcpcore diff` grades a change: one table, which the reference page and the tests read too."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Level: TypeAlias = Literal["breaking", "risky", "safe", "off"]
LEVELS: Final[tuple[Level, ...]] = ("breaking", "risky", "safe", "off")
"""The levels, the gravest first. A change of a rule at "off" is not reported."""


class Rule(NamedTuple):
    """A rule.

    Attributes:
        id: Its id.
        level: Its default level.
        change: The change that it is about.
        why: The effect of the change on a client.
    """

    id: str
    level: Level
    change: str
    why: str


_TABLE: Final = (
    # Tools, resources and prompts.
    Rule("tool-removed", "breaking", "A tool was removed.", "Calls of it fail."),
    Rule("tool-renamed", "breaking", "A tool was renamed.", "Calls by the old name fail."),
    Rule("tool-added", "safe", "There is a new tool.", "No client calls it yet."),
    Rule("resource-removed", "breaking", "A resource was removed.", "Reads of its URI fail."),
    Rule("resource-renamed", "breaking", "A resource has another URI.", "Reads of the old URI fail."),
    Rule("resource-added", "safe", "There is a new resource.", "No client reads it yet."),
    Rule("prompt-removed", "breaking", "A prompt was removed.", "Requests for it fail."),
    Rule("prompt-renamed", "breaking", "A prompt was renamed.", "Requests for the old name fail."),
    Rule("prompt-added", "safe", "There is a new prompt.", "No client requests it yet."),
    # The contract as a whole.
    Rule("contract-removed", "breaking", "A tool, resource or prompt has no contract any more.",
         "Clients that switch on its reasons see none of them again."),
    Rule("contract-unreadable", "risky", "The contract cannot be read in full any more.",
         "Reasons may be gone, and this comparison cannot tell."),
    Rule("contract-added", "safe", "A tool, resource or prompt without a contract has one now.",
         "It failed before, too; now it says how."),
    Rule("contract-readable", "safe", "A contract that could not be read in full can be now.",
         "Its reasons may be old ones, and this comparison cannot tell."),
    Rule("contract-changed", "risky", "A contract differs in a way that no other rule explains.",
         "It depends on the difference."),
    # Reasons.
    Rule("reason-removed", "breaking", "A declared reason was removed.",
         "A client that handles the reason never gets there again; the failure has another reason or none."),
    Rule("reason-renamed", "breaking", "A reason was renamed: the code is the same, and the words nearly are.",
         "A client that handles the old name takes the failure for an unknown one."),
    Rule("reason-added", "risky", "An existing contract declares another reason.",
         "A client that handles every reason has no branch for it."),
    Rule("code-changed", "breaking", "A reason has another code.",
         "Clients that switch on codes, and the default advice of the code, treat the failure differently."),
    # Retry advice and effects.
    Rule("retry-withdrawn", "breaking", "A failure that could be retried cannot be any more.",
         "Clients give up where they recovered before."),
    Rule("retry-delayed", "risky", "The wait before a retry is longer.",
         "A client with a deadline may not wait that long."),
    Rule("retry-sooner", "safe", "The wait before a retry is shorter.", "Clients that wait longer still succeed."),
    Rule("retry-added", "safe", "A failure can be retried now.", "Clients that give up are no worse off."),
    Rule("effects-weakened", "breaking", "A failure promises less about what it changed.",
         "A client that called again without checking may now do something twice."),
    Rule("effects-stated", "risky", "A failure without stated effects states now that it may have some.",
         "A client that assumed no effects has to check first."),
    Rule("effects-strengthened", "safe", "A failure promises more about what it changed.",
         "Clients that check first still work."),
    # Data.
    Rule("data-removed", "breaking", "A failure has no data model any more.",
         "Clients read fields that may be missing."),
    Rule("data-field-removed", "breaking", "A field of the data was removed.", "Clients that read it fail."),
    Rule("data-field-optional", "breaking", "A field of the data is not always there any more.",
         "Clients that rely on it fail."),
    Rule("data-field-type", "breaking", "A field of the data can have a value that it could not have before.",
         "Clients that read it as before fail on the new values."),
    Rule("data-field-narrowed", "safe", "A field of the data has fewer possible values.",
         "Clients know all of them."),
    Rule("data-field-required", "safe", "An optional field of the data is always there now.",
         "Clients that check for it still work."),
    Rule("data-field-added", "safe", "The data has another field.", "Clients ignore fields that they do not know."),
    Rule("data-limit-loosened", "risky",
         "A bound, a length or a pattern of the data is gone, admits more, or is another one.",
         "Clients that rely on it may meet other values."),
    Rule("data-limit-tightened", "safe", "A bound, a length or a pattern of the data is new, or admits less.",
         "Clients know all values that are left."),
    Rule("data-schema-changed", "risky", "The schema of the data differs in a way that no other rule explains.",
         "It depends on the difference."),
    Rule("data-schema-reworded", "safe", "The schema of the data has other words, or says the same in another way.",
         "Its words are read by people and models."),
    Rule("data-added", "safe", "A failure has a data model now.", "It says more than before."),
    # The recovery.
    Rule("fallback-changed", "risky", "A failure names another fallback tool, or none any more.",
         "Clients that follow it call something else, or give up."),
    Rule("fallback-added", "safe", "A failure names a fallback tool now.", "Clients may follow it."),
    Rule("strategy-changed", "risky", "The strategy of the recovery changed or was removed.",
         "Programs switch on it."),
    Rule("actions-changed", "risky", "The actions of the recovery changed.", "Programs switch on them."),
    Rule("fallback-arguments-changed", "risky", "The arguments for the fallback tool changed.",
         "Clients call the fallback tool with them."),
    Rule("corrective-params-changed", "risky", "The corrective parameters changed.",
         "Clients call the tool with them."),
    Rule("when-reworded", "safe", "The text of `when` changed.", "They are read by people and models."),
    Rule("recovery-reworded", "safe", "The text of the recovery changed.", "It is read by people and models."),
    Rule("user-message-reworded", "safe", "The text for users changed.", "It is read by people."),
    Rule("example-changed", "safe", "The example of the data changed.", "It is documentation."),
    # How a tool fails, and what is known of it beforehand.
    Rule("failures-returned", "risky", "A tool returns failures as data now.",
         "Clients take them for successful results."),
    Rule("failures-raised", "safe", "A tool does not return failures as data any more.",
         "Clients recognize its failures."),
    Rule("undeclared-added", "risky", "An error without a declared reason leaves a tool that did not raise it before.",
         "Clients have no branch for it."),
    Rule("read-only-withdrawn", "breaking", "A tool is not annotated as read-only any more.",
         "Clients that repeat its calls may now change something twice."),
    Rule("idempotent-withdrawn", "breaking", "A tool is not annotated as idempotent any more.",
         "Clients that repeat its calls may now change something twice."),
    Rule("hints-strengthened", "safe", "A tool is annotated as read-only or idempotent now.",
         "Clients that do not repeat its calls still work."),
    Rule("hints-restated", "safe", "An annotation states a default that it left out before, or the reverse.",
         "It means the same."),
    Rule("destructive-changed", "risky", "destructiveHint changed.",
         "Hosts use it to decide whether to ask their users."),
    # Arguments: a caller of the tool notices them immediately.
    Rule("argument-removed", "breaking", "A tool does not take an argument any more.",
         "Calls with the argument are refused or lose it."),
    Rule("argument-required", "breaking", "A tool needs an argument that calls could leave out.",
         "Calls without it are refused."),
    Rule("argument-narrowed", "breaking", "An argument accepts fewer values.", "Calls with the others are refused."),
    Rule("argument-widened", "safe", "An argument accepts more values, or can be left out.",
         "Calls as before still work."),
    Rule("argument-added", "safe", "A tool takes another optional argument.", "Calls as before still work."),
    Rule("input-schema-changed", "risky",
         "The schema of the arguments differs in a way that no other rule explains, such as another default.",
         "It depends on the difference."),
    Rule("input-schema-reworded", "safe",
         "The schema of the arguments has other words, or says the same in another way.",
         "Its words are read by people and models."),
    Rule("description-reworded", "safe", "The text of the title or the description changed.",
         "They are read by people and models."),
)  # fmt: skip

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in _TABLE}
"""Every rule by its id."""


class Rules:
    """The rules with the levels that a project chose.

    >>> Rules({"reason-added": "breaking"}).level("reason-added")
    'breaking'
    """

    def __init__(self, levels: Mapping[str, str] | None = None) -> None:
        """Change the levels of some rules.

        Raises:
            ValueError: If a rule or a level is unknown; the message names the nearest.
        """
        self._levels: dict[str, Level] = {rule.id: rule.level for rule in RULES.values()}
        for name, level in (levels or {}).items():
            if name not in RULES:
                near = difflib.get_close_matches(name, RULES, n=1)
                raise ValueError(f"unknown rule {name!r}{f'; did you mean {near[0]!r}?' if near else ''}")
            if level not in LEVELS:
                raise ValueError(f"the level of {name} must be one of {', '.join(LEVELS)}, not {level!r}")
            self._levels[name] = level

    def level(self, rule: str) -> Level:
        """The level of a rule in force."""
        return self._levels[rule]


def at_least(level: Level, threshold: Level) -> bool:
    """Whether `level` is as grave as `threshold`, or graver."""
    return LEVELS.index(level) <= LEVELS.index(threshold)
