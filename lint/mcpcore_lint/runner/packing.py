"""Results as plain tuples, for the pipe between processes and for the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Diagnostic, Edit, Failure, Fix, Related, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.runner.checker import FileResult


def pack_diagnostic(each: Diagnostic) -> tuple[object, ...]:
    """A finding as plain values."""
    fix = None
    if each.fix is not None:
        edits = tuple(tuple(edit) for edit in each.fix.edits)
        fix = (each.fix.title, edits, each.fix.safety)
    return (
        each.rule,
        int(each.severity),
        each.path,
        pack_span(each.span),
        each.message,
        each.help,
        tuple((one.path, pack_span(one.span), one.message) for one in each.related),
        fix,
        each.tool,
        each.tools,
        each.folds,
    )


def pack_span(span: Span) -> tuple[int, ...]:
    """A span as plain values."""
    return tuple(span)


def unpack_diagnostic(packed: tuple[object, ...]) -> Diagnostic:
    """A finding again."""
    rule, severity, path, span, message, help_, related, fix, tool, tools, folds = packed
    return Diagnostic(
        rule,  # type: ignore[arg-type]
        Severity(severity),  # type: ignore[arg-type]
        path,  # type: ignore[arg-type]
        Span(*span),  # type: ignore[misc]
        message,  # type: ignore[arg-type]
        help_,  # type: ignore[arg-type]
        tuple(Related(where, Span(*at), what) for where, at, what in related),  # type: ignore[attr-defined]
        None if fix is None else Fix(fix[0], tuple(Edit(*edit) for edit in fix[1]), fix[2]),  # type: ignore[index]
        tool,  # type: ignore[arg-type]
        tools,  # type: ignore[arg-type]
        folds,  # type: ignore[arg-type]
    )


def pack_result(result: FileResult) -> tuple[object, ...]:
    """A result as plain values."""
    return (
        result.path,
        result.digest,
        result.relevant,
        result.has_suppressions,
        tuple(pack_diagnostic(each) for each in result.diagnostics),
        tuple(tuple(each) for each in result.failures),
        tuple((*each[:6], pack_span(each.span), each.in_test) for each in result.tools),
        result.external,
        result.asked,
        result.exact,
        result.consulted,
        result.missing,
    )


def unpack_result(packed: tuple[object, ...]) -> FileResult:
    """A result again."""
    from mcpcore_lint.runner.checker import FileResult

    path, digest, relevant, suppresses, diagnostics, failures, tools, external, asked, exact, consulted, missing = (
        packed
    )
    return FileResult(
        path,  # type: ignore[arg-type]
        digest,  # type: ignore[arg-type]
        relevant,  # type: ignore[arg-type]
        suppresses,  # type: ignore[arg-type]
        tuple(unpack_diagnostic(each) for each in diagnostics),  # type: ignore[attr-defined]
        tuple(Failure(*each) for each in failures),  # type: ignore[attr-defined]
        unpack_records(tools),  # type: ignore[arg-type]
        asked,  # type: ignore[arg-type]
        exact,  # type: ignore[arg-type]
        consulted,  # type: ignore[arg-type]
        missing,  # type: ignore[arg-type]
        external,  # type: ignore[arg-type]
    )


def unpack_records(packed: Sequence[tuple[object, ...]]) -> tuple[ToolRecord, ...]:
    """Tool records again."""
    from mcpcore_lint.records import ToolRecord

    return tuple(ToolRecord(*each[:6], Span(*each[6]), each[7]) for each in packed)  # type: ignore[arg-type, call-arg, misc]
