"""The addresses of the documentation's pages."""

from __future__ import annotations

from functools import cache


def page(path: str) -> str | None:
    """The address of a page of the site, such as `reference/check`; None while the project has no site.

    The site is `Documentation` among the URLs of the project in pyproject.toml, which the installed package repeats.
    """
    address = _documentation()
    return None if address is None else f"{address.rstrip('/')}/{path}"


@cache
def _documentation() -> str | None:
    from importlib.metadata import distributions

    urls = (
        url.partition(", ")
        for package in distributions(name="mcpcore")
        for url in package.metadata.get_all("Project-URL", ())
    )
    return next((address for label, _, address in urls if label == "Documentation"), None)
