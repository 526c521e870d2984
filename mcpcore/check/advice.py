"""Whether the text of a failure says what to do: yes, no, or for a reader to judge.

The form of an English sentence decides, and no list of verbs: a bare first word before a determiner is a command ("Use
another name"), and a sentence with a subject is a statement ("The name is taken"). A text that has neither form, or is
in another language, is left to a reader.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from mcpcore.classification import explain
from mcpcore.contract.codes import ErrorCode
from mcpcore.wire.dialects.repeating import asks_to_wait, forbids_retry

# Codes of failures that may pass, so that a later call may succeed.
TRANSIENT: Final = frozenset({ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.TIMEOUT, ErrorCode.RATE_LIMITED})

# Characters of a text that are read.
_MAX_TEXT: Final = 4_000

_QUOTED: Final = re.compile(r"(?<!\w)(?:'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"|`[^`\n]{0,2000}`)(?!\w)")

_CLAUSE: Final = re.compile(r"(?<=[.!?;:,])\s+|(?<=[.!?])$|\n+|\s+[-\u2013\u2014|]+\s+|[()\[\]{}]")
_LEAD: Final = re.compile(
    r"^[\W\d_]*(?:(?:and|or|so|then|also|first|next|instead|otherwise|alternatively|always|simply|just)\b,?\s+)*",
    re.IGNORECASE,
)

# The past of irregular verbs, where it is no command or seldom one.
_PAST: Final = (
    "became", "began", "bent", "bound", "broke", "brought", "built", "came", "caught", "chose", "dealt",
    "drew", "drove", "fell", "felt", "fought", "found", "gave", "got", "grew", "held", "hit", "kept", "knew",
    "laid", "led", "left", "lent", "lost", "made", "meant", "met", "paid", "ran", "rose", "said", "sat",
    "saw", "sent", "shot", "spent", "stood", "stuck", "swept", "taught", "thought", "threw",
    "told", "took", "understood", "went", "woke", "won", "wrote",
)  # fmt: skip

# Words that begin an English sentence and no command, of the classes that are closed: determiners, pronouns,
# prepositions, conjunctions, auxiliary verbs, adverbs and question words.
_NO_VERBS: Final = frozenset(
    (
        "a", "about", "above", "according", "across", "after", "against", "all", "along", "already", "although",
        "among", "an", "and", "another", "any", "apart", "are", "around", "as", "at", "available", "based", "be",
        "because", "been", "before", "behind", "below", "beneath", "beside", "besides", "between", "beyond", "both",
        "but", "by", "can", "cannot", "could", "currently", "despite", "did", "do", "does", "down", "due", "during",
        "each", "either", "else", "enough", "error", "even", "every", "except", "exception", "failure", "few",
        "for", "from", "given", "had", "half", "has", "have", "he", "hence", "here", "how", "however", "i", "if",
        "in", "inside", "instead", "into", "is", "it", "its", "just", "less", "like", "likely", "many", "may",
        "maybe", "might", "more", "most", "much", "must", "my", "near", "neither", "never", "no", "none", "nor",
        "not", "nothing", "now", "of", "off", "on", "once", "one", "only", "onto", "or", "other", "otherwise",
        "our", "out", "outside", "over", "past", "per", "perhaps", "plus", "quite", "rather", "same", "seem",
        "several", "shall", "she", "should", "since", "so", "some", "somehow", "still", "such", "than", "that",
        "the", "their", "then", "there", "therefore", "these", "they", "this", "those", "though", "through",
        "throughout", "thus", "till", "to", "together", "too", "toward", "under", "unless", "unlike", "until", "up",
        "upon", "very", "via", "was", "we", "well", "were", "what", "whatever", "when", "whenever", "where",
        "whether", "which", "while", "who", "whole", "whom", "whose", "why", "will", "with", "within", "without",
        "would", "yet", "you", "your",
        *_PAST,
    )
)  # fmt: skip

_COMMAND: Final = re.compile(
    r"(?P<verb>[A-Za-z][a-z]+(?:-[a-z]+)*) (?:(?:up|down|out|off|back|sure) )?"
    r"(?:(?P<after>the|this|these|those|your|its|their|our|another|any|each|every|both|either|them|it|again|an?|"
    r"at (?:least|most))\b|(?P<name>[\w./-]*\w)(?= (?:to|for|with|first|instead)\b|\W*$))"
)
# Words that tell an English `a` from that of other languages.
_ENGLISH: Final = re.compile(r"\b(?:the|and|with|that|this|which|your|you|from|not|of|for)\b", re.IGNORECASE)

# Words of a form that commands do not have: `failed`, `reading`, `seems`, `possibly`.
_INFLECTED: Final = re.compile(r".*(?:[^e]ed|ing|[^s]s|(?<!p)(?<!re)ly)")

# Words of a request, of an obligation, and of what would be right.
_ASKS: Final = re.compile(
    r"\bplease\b|\bdid you mean\b|\b(?:slow down|back off)\b|^(?:check|ensure|make sure|verify|confirm) that\b"
    r"|\byou (?:must|should|need|can|could|have to|may (?:need|want)|might (?:need|want))\b(?! not|')"
    r"|\b(?:must|should)\b(?! have\b| never\b| not\b)|\bmust not\b"
    r"|^expected\b(?! to)|\bone of\b|^only\b.+\b(?:is|are|can|may)\b"
    r"|^(?:do not|don't|never) [a-z]+\b",
    re.IGNORECASE,
)

# A label of advice, or of the values that would be right, with something after it.
_LABELLED: Final = re.compile(
    r"(?:^|\n|[.;] )\W{0,3}(?:hint|suggestion|recovery|fix|solution|resolution|remedy|workaround|advice|next steps?|"
    r"how to fix|(?:available|valid|allowed|accepted|supported|possible|known)\b[\w ]{0,40})"
    r"(?:\W{0,3}:| are:?) ?\S",
    re.IGNORECASE,
)

# The words with which an English statement of a failure begins, ends, or follows its subject.
_STATES: Final = re.compile(
    r"^(?:invalid|unknown|unable|cannot|can't|could not|couldn't|failed|failure|missing|fatal|unexpected|unsupported|"
    r"unauthori[sz]ed|unrecogni[sz]ed|forbidden|(?:permission|access) denied|errors?|exception|bad|not found|"
    r"no such|no \w+.* (?:found|with|matching|matches|exists?|available|was|were|is|of))\b"
    r"|\b(?:failed|not found|denied|refused|exceeded|expired|timed out|unavailable|unreachable|missing|invalid|"
    r"unsupported|not supported|not allowed|rejected|aborted|exhausted|not (?:defined|recogni[sz]ed|set|configured))$"
    r"|\btimed out\b"
    r"|\b(?:did not|didn't|does not|doesn't|cannot|could not|couldn't|was not|were not|has not|have not|was|were|"
    r"has been|have been)\b",
    re.IGNORECASE,
)

# A subject and its verb, without a second clause that could be a command.
_SUBJECT: Final = re.compile(
    r"(?:(?:the|this|that|it|there|we|i|an?|its|these|those|all|some|no)\b|"
    r"(?!check|ensure|verify|confirm|see)(?:\w+ )?'')"
    rf"(?:(?! (?:and|or|but|so) ).)* (?:is|are|was|were|has|have|had|\w{{2,}}ed|{'|'.join(_PAST)})\b"
    r"(?!.* (?:and|or|but|so) )",
    re.IGNORECASE,
)

# Words after which a statement may be a part of a command: `retry once the server was started`.
_HIDES: Final = re.compile(
    r"^(?:ensure|make|check|verify|confirm|see|note|assume)\b"
    r"|\S \b(?:that|which|who|what|when|where|while|once|after(?! \d)|before|until|unless|if|because|so|how|or|and|"
    r"but|you|it|they|we)\b",
    re.IGNORECASE,
)

# Values, numbers and the names of things, which are no words of a sentence.
_NO_WORD: Final = re.compile(
    r"''|\b\w*(?:Error|Exception)\b|\bErrno\b|(?<!\S)\S*[\d_/\\@=<>]\S*|\b\w+(?:\.\w+)+\b|\b[A-Z][A-Z0-9]+\b|\b[a-z]+[A-Z]\w*"
)

_LETTERS: Final = re.compile(r"[^\W\d_]{2}")
# A value that ends a text, in no quotation marks: `unknown id: x`.
_GIVEN: Final = re.compile(
    r"((?i:\b(?:no such|unknown|invalid|missing|duplicate|unsupported|not found)\b[^:\n]{0,40}:)) \S+(?=\s*$)"
)

# Texts of the system: those of the C library, and an error of Node.js, whose end is the name of a call and its path.
_SYSTEM: Final = re.compile(
    r"\bE[A-Z0-9]{2,}: [^,\n]{3,60}, [a-z]+(?: (?:''|-> |\S*/\S*)*)?"
    r"|\b(?i:no such file or directory|name or service not known|temporary failure in name resolution)\b"
)


def says_what_to_do(text: str, tools: Collection[str] = ()) -> bool | None:
    """Whether the text of a failure says what to do; None if that is for a reader to judge.

    Args:
        text: The text, without the values that the call sent.
        tools: The names of the other tools of the server; a text that points to one of them says what to do.
    """
    text = re.sub(r"[^\S\n]+", " ", text[:_MAX_TEXT].replace("\u2019", "'"))
    if _LABELLED.search(text) or asks_to_wait(text) or forbids_retry(text):
        return True
    named = set(re.findall(r"(?<![\w./-])[\w./-]*\w", text)) & set(tools)
    own = _QUOTED.sub("''", text)
    is_english = _ENGLISH.search(own) is not None
    if any(_asks(clause, named, is_english=is_english) for clause in _clauses(own)):
        return True
    # A quotation of several words may be a sentence of the server, and then say what to do.
    whole = _QUOTED.sub(lambda quoted: "''" if quoted[0].count(" ") < 3 else f"({quoted[0][1:-1]})", text)
    return False if all(map(_states, _clauses(whole))) and not named else None


def _clauses(text: str) -> list[str]:
    plain = _GIVEN.sub(r"\1 ''", _SYSTEM.sub("", text))
    return [clause for part in _CLAUSE.split(plain) if (clause := _LEAD.sub("", part).strip())]


def _asks(clause: str, named: Collection[str], *, is_english: bool) -> bool:
    """Whether a clause is a command, a request or an obligation, or points to a tool."""
    if _ASKS.search(clause):
        return True
    # A tool whose name is an ordinary word may be no more than that word.
    if any(not name.isalpha() and name in clause for name in named) and _STATES.search(clause) is None:
        return True
    match = _COMMAND.match(clause)
    after = None if match is None else match["after"]
    if match is None or (after in {"a", "an"} and not is_english) or (after is None and match["name"] not in named):
        return False
    verb = match["verb"].lower()
    return verb not in _NO_VERBS and _INFLECTED.fullmatch(verb) is None


def _states(clause: str) -> bool:
    """Whether a clause is certainly no advice: the name of something, or a statement."""
    if clause.endswith(":") or _LETTERS.search(_NO_WORD.sub("", clause)) is None:
        return True
    clause = clause.rstrip(".!?;,: ")
    if _HIDES.search(clause):
        return _SUBJECT.match(clause) is not None
    if _STATES.search(clause) or _SUBJECT.match(clause):
        return True
    explanation = explain(Exception(clause))
    return explanation.matched.layer == "message" and explanation.code in TRANSIENT
