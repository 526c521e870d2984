"""Code actions: the linter's own fixes, a comment that suppresses a finding, and all safe fixes together."""

import ast
import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from lsprotocol import types

from mcpcore_lint.codemods import LibcstMissingError
from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.diagnostics import Diagnostic, Edit, Fix, Severity
from mcpcore_lint.engine.syntax.source import Source
from mcpcore_lint.lsp.reasons import first_line
from mcpcore_lint.lsp.workspace import Analysis, Document, Workspace
from mcpcore_lint.report import page
from mcpcore_lint.runner.engine import fix_source
from mcpcore_lint.runner.fix import parsed
from mcpcore_lint.runner.suppress import Suppressions

FIX_ALL: Final = "source.fixAll.mcpcore"
KINDS: Final = (types.CodeActionKind.QuickFix, FIX_ALL)
_MOST: Final = 20
"""How many findings get actions: a reader who selects a whole file wants to fix all."""
_WHY: Final = "TODO: say why"
_COMMENT: Final = re.compile(r"#\s*mcpcore:\s*ignore\s*\[([^\]\n]*)(?=\])")


def actions(
    analysis: Analysis, asked: types.Range, only: Sequence[str] | None, workspace: Workspace, uri: str
) -> tuple[list[types.CodeAction], LibcstMissingError | None]:
    """The actions for a range of a document, of the kinds that the client asks for, and why fixes are missing."""
    made: list[types.CodeAction] = []
    missing: LibcstMissingError | None = None

    def add(title: str, edits: list[types.TextEdit], kind: str, diagnostic: Diagnostic | None, *, best: bool) -> None:
        edit = types.WorkspaceEdit(changes={uri: edits})
        shown = [converted(diagnostic, analysis, workspace)] if diagnostic is not None else None
        # Editors apply the preferred action without a choice, so only a safe fix is one.
        made.append(types.CodeAction(title, kind=kind, diagnostics=shown, edit=edit, is_preferred=best or None))

    if _wanted(types.CodeActionKind.QuickFix, only, by_default=True):
        document = analysis.document
        rewriter = Rewriter(document.path, document.source.text)
        touched = [
            finding
            for finding in analysis.diagnostics
            if (place := document.range_of(finding.span)).start.line <= asked.end.line
            and asked.start.line <= place.end.line
        ][:_MOST]
        tree = parsed(document.path, document.source.text)
        for diagnostic in touched:
            try:
                edits = fixed(rewriter, diagnostic.fix)
            except LibcstMissingError as error:
                missing, edits = error, ()
            if diagnostic.fix is not None and edits:
                safe = diagnostic.fix.safety == "safe"
                title = diagnostic.fix.title + ("" if safe else " (needs a review)")
                add(title, document.text_edits(edits), types.CodeActionKind.QuickFix, diagnostic, best=safe)
        # A second loop lists the suppressions below the fixes of all findings.
        for diagnostic in touched:
            edit = ignoring(document.source, tree, diagnostic) if tree is not None else None
            if edit is not None:
                title = f"Ignore {diagnostic.rule} here"
                add(title, document.text_edits([edit]), types.CodeActionKind.QuickFix, diagnostic, best=False)
    # Editors ask without a kind whenever the cursor moves, and all fixes of a document take too long for that.
    if _wanted(FIX_ALL, only, by_default=False):
        try:
            edits_of_all = all_fixed(analysis.document, workspace)
        except LibcstMissingError as error:
            missing, edits_of_all = error, []
        if edits_of_all:
            add("Fix everything that mcpcore can fix safely", edits_of_all, FIX_ALL, None, best=False)
    return made, missing


def _wanted(kind: str, only: Sequence[str] | None, *, by_default: bool) -> bool:
    """Whether a client asks for a kind: by its name, or by that of a kind above it."""
    return by_default if not only else any(kind == cls or kind.startswith(f"{cls}.") for cls in only)


def fixed(rewriter: Rewriter, fix: Fix | None) -> tuple[Edit, ...]:
    """The edits of a fix; empty if it cannot be made, or would break the file."""
    edits = rewriter.edits(fix) if fix is not None else ()
    works = edits and parsed(rewriter.source.path, apply(rewriter.source.text, [*edits])) is not None
    return tuple(sorted(set(edits))) if works else ()


def all_fixed(document: Document, workspace: Workspace) -> list[types.TextEdit]:
    """The edits that make all safe fixes of a document."""
    if not workspace.is_checked(document.path):
        return []
    config = workspace.config_of(document.path)
    others = {path: text for path, text in workspace.texts().items() if path != document.path}
    text = document.source.text
    after = fix_source(text, path=document.path, settings=config.settings, root=config.root, files=others)[0].after
    return document.edits_to(after)


def ignoring(source: Source, tree: ast.Module, diagnostic: Diagnostic) -> Edit | None:
    """The edit that adds a suppression comment for a finding; None if no comment near it would suppress it."""
    # These two are about such a comment, and another one would be the next finding.
    if diagnostic.rule in {"unused-ignore", "ignore-without-reason"}:
        return None
    line = diagnostic.span.line
    around = [node for node in tree.body if first_line(node) <= line <= (node.end_lineno or 0)]
    first, last = (first_line(around[0]), around[-1].end_lineno or 0) if around else (line, line)
    start, end = source.offset_at(first, 1), source.offset_at(last, 1) + len(source.line(last))
    # Only the statement is parsed again, since parsing a long file takes longer than its reader waits.
    moved = diagnostic.span._replace(line=line - first + 1, end_line=diagnostic.span.end_line - first + 1)
    inner = [
        node.lineno for node in ast.walk(ast.Module(around, [])) if isinstance(node, ast.stmt) and node.lineno <= line
    ]
    # The line of the finding may be inside a string; then the first line of its statement, or else the last, takes it.
    for place in dict.fromkeys((line, max(inner, default=line), last)):
        edit = _comment(source, place, diagnostic.rule)
        after = apply(source.text[start:end], [Edit(edit.start - start, edit.end - start, edit.text)])
        changed = parsed(source.path, after)
        # Inside a string, the text is no comment, and so it suppresses nothing.
        if changed is not None and Suppressions(Source(source.path, after), changed).suppresses(
            diagnostic._replace(span=moved)
        ):
            return edit
    return None


def _comment(source: Source, line: int, rule: str) -> Edit:
    """The edit that names a rule in the suppression comment of a line, or adds such a comment."""
    text, start = source.line(line), source.offset_at(line, 1)
    match = _COMMENT.search(text)
    if match is not None:
        return Edit(start + match.end(1), start + match.end(1), f", {rule}" if match[1].strip() else rule)
    return Edit(start + len(text.rstrip()), start + len(text), f"  # mcpcore: ignore[{rule}] {_WHY}")


SOURCE: Final = "mcpcore"
_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def converted(diagnostic: Diagnostic, analysis: Analysis, workspace: Workspace) -> types.Diagnostic:
    """One finding."""
    address = page(diagnostic.rule)
    unneeded = [types.DiagnosticTag.Unnecessary] if diagnostic.rule == "unused-ignore" else None
    return types.Diagnostic(
        analysis.document.range_of(diagnostic.span),
        f"{diagnostic.message}\n{diagnostic.help}" if diagnostic.help else diagnostic.message,
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.rule,
        code_description=types.CodeDescription(address) if address is not None else None,
        source=SOURCE,
        tags=unneeded,
        related_information=[*_related(diagnostic, analysis, workspace)] or None,
    )


def _related(
    diagnostic: Diagnostic, analysis: Analysis, workspace: Workspace
) -> Iterator[types.DiagnosticRelatedInformation]:
    documents: dict[str, Document | None] = {analysis.document.path: analysis.document}
    for place in diagnostic.related:
        path = os.path.normpath(os.path.join(analysis.root, place.path))
        if path not in documents:
            documents[path] = workspace.document(path, analysis.document.encoding)
        document = documents[path]
        if document is not None:
            location = types.Location(workspace.uri_of(path), document.range_of(place.span))
            yield types.DiagnosticRelatedInformation(location, place.message)
