"""Comments and docstrings that spell the old name of a class: they follow where they certainly mean the class."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from contextlib import suppress

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk


def comment_edits(module: Module, renamed: Mapping[str, str]) -> Iterator[Edit]:
    """The edits of a file in which classes got new names.

    A name in code follows, such as `FastMCP()`, and so does "FastMCP server" above or behind the call that makes it.
    """
    source = module.source
    lines = source.text.split("\n")
    names = {old: new for old, new in renamed.items() if old != new and module.source.has(old)}
    old = "|".join(names)
    if not names or "\r" in source.text:
        return
    documents = {
        (node.lineno, node.col_offset)
        for node in walk([module.tree])
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    # "Uses the `FastMCP` framework" is not about the class.
    other = r"(?!`+\s*(?:\(|(?!(?:server|instance|object|class)\b)\w))"
    code = rf"(?<![\w.])(?P<name>{old})(?=\()|(?<=`)(?P<quoted>{old})(?=`){other}"
    made = rf"\b(?P<server>{old})(?= server\b)|\b(?P<made>{old})(?= instance\b)"
    words = rf"{made}|^#+ *\w+ (?:(?:an?|the|our) )?(?P<end>{old})(?=\.?$)"
    # The tokenizer rejects some files that the parser accepts.
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            is_comment = token.type == tokenize.COMMENT
            if not (is_comment or (token.type == tokenize.STRING and token.start in documents)):
                continue
            below = next((line for line in lines[token.start[0] - 1 :] if not line.lstrip().startswith("#")), "")
            makes = is_comment and re.search(rf"(?<![\w.])(?:{old})\(", below.partition("#")[0])
            wanted = f"{code}|{words}" if makes else code
            start = source.offset_at(token.start[0], token.start[1] + 1)
            for match in re.finditer(wanted, token.string):
                kind = match.lastgroup or ""
                new = names[match[kind]]
                new = "mcpcore" if kind == "server" and new.endswith("Server") else new
                yield Edit(start + match.start(kind), start + match.end(kind), new)
