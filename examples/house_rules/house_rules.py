"""A rule of a project's own, written with libcst: its page, its cases and its fix stand together."""

from __future__ import annotations

import libcst as cst
from mcpcore_lint.codemods import CstRule
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Symbol
from mcpcore_lint.rule import Invalid

VERBS = ("delete", "get", "head", "options", "patch", "post", "put", "request")
WAITING = frozenset(f"requests.{verb}" for verb in VERBS)


class RequestWithoutTimeout(CstRule):
    """A tool that waits for another server as long as that one likes.

    Summary: a call of requests in a handler that has no timeout
    Why: requests has no default timeout: the call can wait forever, and the agent with it.
    How to fix: Pass timeout, in seconds.
    When to suppress: Where the call has to wait for as long as it takes.

    Bad:
        return requests.get(url).text
    Good:
        return requests.get(url, timeout=30).text
    """

    id = "house-request-without-timeout"
    severity = Severity.WARNING
    family = "project"
    valid = (
        """
        import requests
        from mcpcore import tool

        @tool
        def fetch(url: str) -> str:
            return requests.get(url, timeout=5).text
        """,
        """
        import requests
        from mcpcore import tool

        def outside(url: str) -> str:
            return requests.get(url).text

        @tool
        def fetch(url: str, **options: int) -> str:
            return requests.get(url, **options).text
        """,
    )
    invalid = (
        Invalid(
            """
            import requests as http
            from mcpcore import tool

            @tool
            def fetch(url: str) -> str:
                return http.get(url).text  # here
            """,
            "requests.get",
            fixed="""
            import requests as http
            from mcpcore import tool

            @tool
            def fetch(url: str) -> str:
                return http.get(url, timeout=30).text
            """,
        ),
        Invalid(
            """
            from mcpcore import tool
            from requests import post

            @tool
            def send(url: str) -> str:
                return post(  # here
                    url,
                    data="x",  # a comment
                ).text
            """,
            fixed="""
            from mcpcore import tool
            from requests import post

            @tool
            def send(url: str) -> str:
                return post(
                    url,
                    data="x",  # a comment
                    timeout=30,
                ).text
            """,
        ),
    )

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802 - libcst has methods named after its nodes
        """Look at a call in a handler."""
        called = self.value_of(node.func)
        if not isinstance(called, Symbol) or called.name not in WAITING:
            return
        if any(each.star or (each.keyword and each.keyword.value == "timeout") for each in node.args):
            return
        self.report(
            node,
            f"{called.name} has no timeout",
            replacement=node.with_changes(args=with_timeout(node)),
            unsafe=True,
        )


def with_timeout(call: cst.Call) -> list[cst.Arg]:
    """Return the arguments with a timeout, on a separate line if the last argument has one."""
    none = cst.SimpleWhitespace("")
    timeout = cst.Arg(
        keyword=cst.Name("timeout"),
        value=cst.Integer("30"),
        equal=cst.AssignEqual(whitespace_before=none, whitespace_after=none),
    )
    if not call.args or not isinstance(call.args[-1].comma, cst.Comma):
        return [*call.args, timeout]
    *others, last = call.args
    comma = last.comma
    between = call.whitespace_before_args
    if isinstance(comma, cst.Comma) and isinstance(between, cst.ParenthesizedWhitespace):
        after = comma.whitespace_after
        if isinstance(after, cst.ParenthesizedWhitespace):
            # What follows the last comma closes the call: it goes behind the new argument, a comment stays where it is.
            between = between.with_changes(first_line=after.first_line)
            after = after.with_changes(first_line=cst.TrailingWhitespace())
        return [
            *others,
            last.with_changes(comma=cst.Comma(whitespace_after=between)),
            timeout.with_changes(comma=cst.Comma(whitespace_after=after)),
        ]
    return [*others, last.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))), timeout]
