"""Texts with placeholders, such as "Order at most {left}.": parsed once, and filled in one pass.

`str.format` would evaluate `{left.__class__}` and `{left[0]:>9}`, and a text that is filled twice would expand the
braces of a caller. Here a placeholder is a name in braces and nothing else, and a value is only ever shown. The linter
reads templates too, so this module imports little.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.values.escaping import one_line

if TYPE_CHECKING:
    from mcpcore.values.jsonable import JSON

# Doubled braces come first, since each of them would match as a single one.
_BRACES: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Template(NamedTuple):
    """A text in which braces enclose the name of a value or, doubled, mean themselves."""

    text: str
    """As its author wrote it."""

    words: tuple[str, ...]
    """The author's words before, between and after the placeholders."""

    names: tuple[str, ...]
    """The names in the placeholders, in order."""

    def filled(self, facts: Mapping[str, JSON] | None) -> str | None:
        """The text with the values of `facts`; None if one is missing, or if the text would be blank."""
        parts = [self.words[0]]
        for name, words in zip(self.names, self.words[1:], strict=True):
            if facts is None or name not in facts:
                return None
            parts += _shown(facts[name]), words
        text = "".join(parts)
        return None if not text or text.isspace() else text

    def value(self, facts: Mapping[str, JSON]) -> JSON:
        """A value of `facts` as it is, if a placeholder is all of the text; else the text, with the values in it.

        Raises:
            KeyError: If a value is missing.
        """
        if len(self.names) == 1 and not any(self.words):
            return facts[self.names[0]]
        from mcpcore.values.jsonable import dumps

        parts = [self.words[0]]
        for name, words in zip(self.names, self.words[1:], strict=True):
            value = facts[name]
            parts += value if isinstance(value, str) else dumps(value), words
        return "".join(parts)


def parse(text: str) -> Template | None:
    """The template that `text` is; None for a text without braces.

    Raises:
        ValueError: If there is a brace that neither belongs to a placeholder nor is doubled.
    """
    if "{" not in text and "}" not in text:
        return None
    words, names, start = [""], [], 0
    for match in _BRACES.finditer(text):
        words[-1] += text[start : match.start()]
        start = match.end()
        if match[1] is not None:
            names.append(match[1])
            words.append("")
        elif len(match[0]) == 1:
            raise ValueError(f"has a single {match[0]!r}; write {2 * match[0]!r} for a brace")
        else:
            words[-1] += match[0][0]
    words[-1] += text[start:]
    return Template(text, tuple(words), tuple(names))


def filled(value: Any, facts: Mapping[str, JSON]) -> Any:
    """The JSON `value` with all templates in it filled from `facts`.

    Raises:
        KeyError: If a value is missing.
        ValueError: If a text has a brace that neither belongs to a placeholder nor is doubled.
    """
    if isinstance(value, str):
        template = parse(value)
        return value if template is None else template.value(facts)
    if isinstance(value, Mapping):
        return {key: filled(item, facts) for key, item in value.items()}
    return [filled(item, facts) for item in value] if isinstance(value, list | tuple) else value


def placeholders(value: Any) -> list[str]:
    """The names in the placeholders of the JSON `value`.

    Raises:
        ValueError: As for `filled`.
    """
    # The mapping has a value for every name, and keeps the names that it was asked for.
    facts: defaultdict[str, JSON] = defaultdict(str)
    filled(value, facts)
    return list(facts)


def _shown(value: JSON) -> str:
    """A value within a sentence: in one line, so that it cannot begin another line."""
    from mcpcore.values.jsonable import dumps

    return one_line(value if isinstance(value, str) else dumps(value))
