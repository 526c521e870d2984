"""Writes the texts of a contract from a message: the sentence that says when, and what the message says to do."""

import ast
import re
from collections.abc import Container, Mapping
from typing import Final, NamedTuple

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.messages import LABEL, parts_of
from mcpcore_lint.model import Items

# -- whole sentences for messages that leave out their verb, their article or their subject ----------------------------

# Each form is one whose missing words are certain. A message in another form does not change.
_HOLE: Final = r"['\"`]?\{\w+\}['\"`]?"
VERB: Final = (
    r"(?:is|are|was|were|be|been|has|have|had|do|does|did|must|can|could|cannot|may|might|should|will|would|needs?"
    r"|requires?|exists?|failed|returned)\b"
)
_NOUNS: Final = rf"(?:(?!{VERB})[\w'\"`{{}}/.-]+ )+?"
"""Words without a verb that is known, each with the blank behind it."""
_TAIL: Final = re.compile(
    r"(?:,? (?:but )?(?:got|received):? [^.;]*\{\w+\}[^.;]*"
    rf"|\s*[(\[][^()\[\]]*\{{\w+\}}[^()\[\]]*[)\]]|(?<=[\w)])(?:: ?|=){_HOLE}(?: [a-z]+)?)+\.$"
)
"""Values at the end, which the message of a failure shows."""
_OPEN: Final = re.compile(
    r"\b(?:of|to|in|are|is|be|from|with|for|at|by|than|as|between|and|or|includes?|either|following|the)$"
)
"""Words that need what follows."""
_HAPPENED: Final = frozenset(
    {
        "found",
        "specified",
        "provided",
        "given",
        "returned",
        "supplied",
        "stored",
        "selected",
        "blocked",
        "denied",
        "rejected",
        "exceeded",
        "reached",
    }
)
_GOES_ON: Final = (
    r"[.,;:(]| (?:in|for|of|on|at|to|from|with|within|by|as|under|via|yet|that|and|or|but|matching|named|called)\b|$"
)
"""What follows a participle, and no object of a verb."""
_PARTICIPLE: Final = (
    rf"(?P<participle>{'|'.join(sorted(_HAPPENED))}|configured|available|set|defined|registered|loaded|supported|allowed|installed"
    r"|connected|authenticated|initialized|running|enabled)\b"
)
_MISSING_VERB: Final = re.compile(
    rf"(?:(?P<no>No {_NOUNS})|(?P<nouns>{_NOUNS})(?P<negation>not )){_PARTICIPLE}(?P<rest>(?:{_GOES_ON}).*)"
    rf"|(?P<what>{_NOUNS})(?P<done>blocked|denied|rejected|exceeded|reached|disabled|missing|required)\.$"
)
_TOO: Final = re.compile(rf"({_NOUNS})(too \w+.*)")
_ADJECTIVE: Final = re.compile(
    rf"(Invalid|Unknown|Unsupported|Unexpected|Unrecognized|Ambiguous|Duplicate|Malformed|Unbalanced|Missing) "
    rf"(?!error|exception|.* and no )((?:(?!{VERB})[\w'\"`{{}}/-]+ )*(?!\w+ed\.)[\w'\"`{{}}/-]+)\.$"
)
_PREPOSITION: Final = re.compile(r" (?:of|for|in|on|at|to|from|with|by|matching|as|named|called)\b| ['\"`]?\{| ['\"`]")
_SUBJECT: Final = re.compile(
    rf"(?:The )?((?!The )[\w-]+(?: [a-z][\w-]*)?) {_HOLE}(?= (?:{VERB}|already|matched|matches))"
)
_FORMS: Final = (
    (re.compile(r"Invalid ([^:{}]+): ((?:is|are|must|should|cannot|does|has) .*)"), r"The \1 \2"),
    (re.compile(r"(?:Could not|Couldn't|Unable to) (?=[a-z])"), "The server could not "),
    (re.compile(r"Failed to (?=[a-z])"), "The server failed to "),
    (re.compile(r"(?:Error|Failure)(?: while| when| in)? ([a-z]+ing [^:]*)\.$"), r"\1 failed."),
)


def whole(when: str) -> str:
    """A sentence with its verb and its subject, and without values that only the message of a failure shows."""
    tail = _TAIL.search(when)
    if tail is not None and " " in when[: tail.start()] and not _OPEN.search(when[: tail.start()]):
        # Only the dropped value told the noun from others, as in "found with ID: {id}".
        when = re.sub(
            r"\b(found|find(?: [\w-]+){1,3}) (with|for) (?!an?\b|the\b|that\b|this\b|all\b|any\b)(\w+)\.$",
            r"\1 \2 that \3.",
            f"{when[: tail.start()].rstrip(' ,:;-')}.",
        )
    for pattern, text in _FORMS:
        if (match := pattern.match(when)) is not None:
            when = match.expand(text) + when[match.end() :]
            return when[0].upper() + when[1:]
    if (match := _ADJECTIVE.match(when)) is not None:
        when = f"The {match[2]} {_verb(match[2], was=False)} {match[1].lower()}."
    elif (match := _MISSING_VERB.match(when)) is not None:
        part = match.groupdict("")
        nouns, participle = part["no"] or part["nouns"] or part["what"], part["participle"] or part["done"]
        when = f"{nouns}{_verb(nouns, was=participle in _HAPPENED)} {part['negation']}{participle}{part['rest'] or '.'}"
    elif (match := _TOO.match(when)) is not None:
        when = f"{match[1]}{_verb(match[1], was=False)} {match[2]}"
    if (match := _SUBJECT.match(when)) is not None:
        noun = match[1]
        first = noun.partition(" ")[0]
        when = f"The {noun[0].lower() if first.istitle() else noun[0]}{noun[1:]}{when[match.end() :]}"
    return when


def _verb(nouns: str, *, was: bool) -> str:
    """The form of `to be` for some nouns: by the ending of the last one in front of a preposition or a value."""
    head = _PREPOSITION.split(nouns.strip())[0]
    plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return ("were" if plural else "was") if was else "are" if plural else "is"


# -- the sentences of a message ----------------------------------------------------------------------------------------

_MAX: Final = 240
_FEWEST: Final = 2
"""How many words a sentence has at least, besides its placeholders."""
_ENDS: Final = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[A-Z\"'{(])|\s*\n\s*|;\s+(?=[a-z])|\s+\N{EM DASH}\s+")
_WORD: Final = re.compile(r"(?<![\w{])[^\W\d_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}][a-z]+)?(?![\w}])")
_PLACE: Final = re.compile(r"\{(\w+)\}")
_CAUSE: Final = re.compile(
    r"(?:\s*[:(\[,\N{EN DASH}\N{EM DASH}-]+\s*|\s+(?:because of|due to|with error|with|as)\s+)"
    r"['\"]?\{(?:error|key)\}['\")\]]*\.?\s*$"
)
"""The text of an exception at the end of a message."""
_TELLS: Final = re.compile(
    r"(?:please\s+)?(?:use|call|try|run|check|set|provide|specify|pass|install|ensure|make sure|wait|choose|select"
    r"|create|add|remove|see|start|open|log in|sign in|connect|configure|enable"
    r"|upgrade|update|give|retry|ask|list|verify)\b"
    r"(?!\s+(?:is|are|was|were|has|had|failed|must|not|cannot|could|already)\b)",
    re.IGNORECASE,
)
"""How a sentence begins that says what to do: with a verb."""
_LOOSE: Final = re.compile(
    r"(?:please|but|and|or|then|instead|provide|specify|choose|select|ensure|pass|use(?! of\b))\b", re.IGNORECASE
)
"""How a sentence begins that says what to do, or goes on with another one."""
_FINITE: Final = re.compile(
    rf"\b{VERB}|\b(?:exceeds?|match(?:es|ed)|timed out|expired|contains?|supports?|accepts?|expects?|belongs?|lacks?)\b"
)
_NO_VERB: Final = re.compile(
    rf"(?:(?!{_FINITE.pattern})\S+ )+?(?:{_PARTICIPLE}|missing|required) (?:when|if|unless|because|since|until|while)\b"
)
"""A participle in place of the verb, in front of a clause that has one: "path required when tokens are missing"."""
# Two sentences in one, or a verb at a place where it was guessed.
_UNCLEAR: Final = re.compile(r":|\bbut (?:is|are|was|were) ")
_NONE: Final[dict[str, str]] = {}
_KNOWN_ERRORS: Final = frozenset({"e", "ex", "exc", "err", "error", "exception"})
_SHOWING: Final = frozenset({"str", "repr", "list", "sorted", "tuple", "set", "int", "float", "round", "type", "quote"})


_UNUSABLE: Final = re.compile(r"(The [^{}]+) is (?:invalid|unknown|unsupported|unrecognized)\.$")
_BARE: Final = re.compile(r"(?:The |Parameter )?(?:['\"`]?\w+['\"`]? ){1,2}is (?:invalid|unsupported)\.$")
"""A sentence that leaves out what would be right."""
_ALLOWED: Final = re.compile(
    r"(?:(?:valid|supported|allowed|available|accepted|known|possible|expected)\b[^:{}]*(?::| are)|must be one of:?)\s*"
    r"\[?([^{}\[\]]+?)\]?\.?$",
    re.IGNORECASE,
)
"""A sentence behind the first one with the values that would be right."""


class Sentences(NamedTuple):
    """The texts of an entry."""

    when: str
    recovery: str = ""
    """The advice in the message, or empty."""


def sentences(node: ast.expr | None, scope: Scope, caught: Mapping[str, str] = _NONE) -> Sentences | None:
    """The texts for a message; None if it has too few constant words to say when it happens.

    Args:
        node: The expression of the message.
        scope: The scope of its names.
        caught: The exceptions whose text the message may repeat: their names, and the placeholder for each.
    """
    names = {**dict.fromkeys(_KNOWN_ERRORS, "error"), **caught}
    text = "".join(
        part.replace("{", "(").replace("}", ")")
        if isinstance(part, str)
        else _listed(part, scope) or f"{{{_placeholder(part, names)}}}"
        for part in parts_of(node, scope)
    )
    label = LABEL.match(text)
    text = "".join(char if char.isprintable() or char == "\n" else " " for char in text[label.end() if label else 0 :])
    facts: list[str] = []
    to_do: list[str] = []
    for sentence in _ENDS.split(_CAUSE.sub("", text)):
        plain = " ".join(sentence.split()).strip(" *-\N{BULLET}")
        # The first sentence says what happened, even where its first word may be a verb: "Check failed".
        if facts and _TELLS.match(plain):
            to_do.append(_sentence(plain, scope))
        elif plain and not to_do:
            facts.append(plain)
    if not facts or _LOOSE.match(facts[0]):
        return None
    said = _sentence(_CAUSE.sub("", facts[0]), scope)
    when = whole(said)
    unusable, allowed = _UNUSABLE.match(when), next(filter(None, map(_ALLOWED.match, facts[1:])), None)
    if unusable is not None and allowed is not None:
        when = f"{unusable[1]} is not one of {allowed[1].strip()}."
    own = _WORD.findall(_PLACE.sub(" ", when))
    if len(own) < _FEWEST or len(when) > _MAX or "{error}" in said or when.count("(") != when.count(")"):
        return None
    recovery = " ".join(to_do)
    # Nothing fills the placeholders of a recovery, and clients read it.
    return Sentences(when, "" if _PLACE.search(recovery) or len(recovery) > _MAX else recovery)


def without_advice(code: str, advice: str) -> str | None:
    """The code of a text without the advice at its end; None if it does not end with exactly that."""
    head, dashes = r"(.*?\S)", "[ ,;:\N{EM DASH}\N{EN DASH}-]*"
    end = rf"(?:([\"'])\s+[\"'])?{re.escape(advice.rstrip('.'))}\.?([\"'])"
    match = re.fullmatch(head + dashes + end, code, re.DOTALL | re.IGNORECASE)
    return match[1] + (match[2] or match[3]) if match is not None and match[1].strip("frFR\"'") else None


def _listed(node: ast.expr | None, scope: Scope) -> str:
    """The texts of a constant collection that a message shows, as in `', '.join(sorted(NAMES))`; empty for others."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[-1]
    value = evaluate(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None
    texts = (
        [getattr(item, "value", None) for item in value.items] if isinstance(value, Items) and value.complete else []
    )
    return ", ".join(map(str, texts)) if all(isinstance(text, str) for text in texts) else ""


def is_true_alone(when: str, parameters: Container[str], recovery: str = "") -> bool:
    """Whether a sentence has a verb, no hole that only the code can fill, and what would be right."""
    return (
        _FINITE.search(when) is not None
        and (recovery != "" or _BARE.match(when) is None)
        and not _UNCLEAR.search(when)
        and not _NO_VERB.match(when)
        and all(name in parameters for name in _PLACE.findall(when))
    )


def _sentence(text: str, scope: Scope | None = None) -> str:
    """A text with a full stop, and with a capital letter unless it begins with a name of the code."""
    text = text.strip().rstrip(":,;- \N{EN DASH}\N{EM DASH}\N{HORIZONTAL ELLIPSIS}")
    first = text.partition(" ")[0]
    if first.isalpha() and first.islower() and (scope is None or scope.lookup(first) is None):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", '."', ".'", ".)")) or not text else f"{text}."


def _placeholder(node: ast.expr | None, errors: Mapping[str, str]) -> str:
    """The name of a hole: that of the value it shows."""
    match node:
        case ast.Name(id=name):
            return errors.get(name) or _name(name)
        case ast.Attribute(attr="__name__"):
            return "error_type"
        case ast.Attribute(value=value, attr=attr):
            return "error" if _placeholder(value, errors) == "error" else _name(attr)
        case ast.Subscript(value=value, slice=key):
            return (
                _name(key.value)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
                else _placeholder(value, errors)
            )
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            return f"number_of_{_placeholder(value, errors)}"
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return _name(key)
        case ast.Call(func=ast.Name(id=name), args=[value, *_]) if name in _SHOWING:
            return _placeholder(value, errors)
        case (
            ast.Call(func=ast.Attribute(value=value), args=[])
            | ast.Call(args=[value])
            | ast.GeneratorExp(generators=[ast.comprehension(iter=value)])
            | ast.ListComp(generators=[ast.comprehension(iter=value)])
            | ast.BoolOp(values=[value, *_])
            | ast.Await(value=value)
            | ast.FormattedValue(value=value)
            | ast.Starred(value=value)
            | ast.IfExp(body=value)
        ):
            return _placeholder(value, errors)
    return "value"


def _name(text: str) -> str:
    name = re.sub(r"\W", "_", text).strip("_").lower()
    return name if name.isidentifier() else "value"


def blank(when: str) -> str:
    """What a sentence shares with those that mean the same: neither names of placeholders nor articles."""
    return re.sub(r"\b(?:an?|the)\s+", "", re.sub(r"\{\w+\}", "{}", when).lower())


# -- failures without constant words ----------------------------------------------------------------------------------

BY_CLASS: Final = {
    "builtins.FileNotFoundError": ("file_not_found", "The file does not exist."),
    "builtins.FileExistsError": ("file_exists", "The file exists already."),
    "builtins.PermissionError": ("permission_denied", "The permission is missing."),
    "builtins.TimeoutError": ("timed_out", "The operation took too long."),
    "builtins.ConnectionError": ("connection_failed", "The connection failed."),
}
"""The reason and the sentence for a class whose meaning Python defines."""
_FAILING: Final = frozenset({"a", "an", "the", "is", "are", "error", "fails", "failed", "fail", "occurs", "happens"})
"""Words that say no more than that something failed."""
_RAISED_WHEN: Final = re.compile(
    r"(?:exception |error )?(?:is )?(?:raised|thrown) (?:when|if|where) (.+?)(?:\.\s|\.?$)", re.IGNORECASE | re.DOTALL
)


def of_class(name: str, definition: ast.ClassDef | None) -> tuple[str, str] | None:
    """The reason and the sentence for every exception of a class; None if neither Python nor a docstring has them."""
    if definition is None:
        return BY_CLASS.get(name)
    match = _RAISED_WHEN.match(ast.get_docstring(definition) or "")
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|\d+", re.sub(r"(?:Error|Exception)$", "", definition.name))
    said = {*re.findall(r"[a-z]+", match[1].lower())} if match is not None else {"unexpected"}
    if match is None or not words or "unexpected" in said or said <= {word.lower() for word in words} | _FAILING:
        return None
    return "_".join(words).lower(), _sentence(" ".join(match[1].split()))
