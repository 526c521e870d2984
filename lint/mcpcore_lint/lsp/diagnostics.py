"""Findings as the protocol has them."""

import os
from collections.abc import Iterator
from typing import Final

from lsprotocol import types

from mcpcore_lint.diagnostics import Diagnostic, Severity
from mcpcore_lint.lsp.positions import Document
from mcpcore_lint.lsp.workspace import Analysis, Workspace
from mcpcore_lint.report import page

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
