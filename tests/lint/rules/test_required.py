"""Failures for packages that a project requires, and so has in every installation."""

from __future__ import annotations

import pytest
from mcpcore_lint import lint_paths
from mcpcore_lint.engine.syntax.requirements import packages_required
from mcpcore_lint.settings import Settings

from tests.files import write_files

SERVER = """
from mcp.server.fastmcp import FastMCP

HAS_YAML = False
try:
    import numpy
    import docx as documents
    HAS_YAML = True
except ImportError:
    documents = None
try:
    from requests import Session
except (ImportError, ModuleNotFoundError):
    Session = None

mcp = FastMCP("x")

@mcp.tool()
def write(path: str) -> dict:
    if documents is None:
        return {"error": "python-docx is not installed"}
    return {"path": documents.write(path)}

@mcp.tool()
def read(path: str) -> dict:
    return load(path)

def load(path):
    if not HAS_YAML:
        return {"error": "install PyYAML"}
    try:
        from docx.shared import Pt
    except ImportError:
        return {"error": "python-docx is too old"}
    return {"path": path, "size": Pt(1)}

@mcp.tool()
def fetch(url: str) -> dict:
    if not Session:
        return {"error": "requests is not installed"}
    if Session is not None and not url:
        return {"error": "no address"}
    return {"text": Session().get(url).text}
"""


def lines(root):
    """The lines that return an error."""
    report = lint_paths([root], settings=Settings(cache_dir=str(root / ".cache")), root=str(root))
    return {
        SERVER.splitlines()[match.span.line - 1].strip()
        for match in report.diagnostics
        if match.rule == "no-error-as-data"
    }


ALL = {
    'return {"error": "python-docx is not installed"}',
    'return {"error": "install PyYAML"}',
    'return {"error": "python-docx is too old"}',
    'return {"error": "requests is not installed"}',
    'return {"error": "no address"}',
}


@pytest.mark.parametrize(
    ("name", "text", "packages"),
    [
        ("pyproject.toml", "[project]\ndependencies = ['mcp', 'Python-DOCX>=1', 'numpy[all]==1']", {"numpy", "docx"}),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\nmcp = '*'\nnumpy = '1'\npydocx = {version = '1'}",
            {"numpy", "docx"},
        ),
        ("requirements.txt", "# of all\nmcp\nnumpy>=1  # 2\ndocx\n-r other.txt\n", {"numpy", "docx"}),
    ],
)
def test_a_package_that_the_project_requires_is_never_missing(tmp_path, name, text, packages):
    """A failure for a missing package is reported only if the package may be missing."""
    write_files(tmp_path, {"server.py": SERVER, name: text})
    assert packages <= packages_required([str(tmp_path / name)])
    assert lines(tmp_path) == {
        'return {"error": "requests is not installed"}',
        'return {"error": "no address"}',
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project]\ndependencies = ['mcp', 'python-docx']\noptional-dependencies.all = ['numpy']"),
        ("pyproject.toml", "[project]\ndependencies = ['mcp', 'numpy', 'docx; python_version < \"3\"', 'numpy-docx']"),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\nmcp = '*'\nnumpy = '1'\ndocx = {version = '1', optional = true}",
        ),
        ("requirements.txt", "mcp\nnumpy\n# docx\ngit+https://example.com/docx\n"),
        ("setup.py", "setup(install_requires=['mcp'], extras_require={'all': ['numpy', 'docx']})"),
    ],
)
def test_a_package_that_only_some_installations_have_may_be_missing(tmp_path, name, text):
    """Nothing is known of extras, of requirements with a condition, and of what nothing lists."""
    write_files(tmp_path, {"server.py": SERVER, name: text})
    assert ALL - {'return {"error": "python-docx is too old"}'} <= lines(tmp_path) <= ALL


@pytest.mark.parametrize(
    ("requirement", "package"),
    [
        ("GitPython>=3 # for git", "git"),
        ("google-api-python-client", "googleapiclient"),
        ("opencv-python[all]==4", "cv2"),
        ("PyYAML", "yaml"),
        ("typing_extensions @ https://example.com/typing.whl", "typingextensions"),
        ("git+https://example.com/docx", None),
        ("docx; sys_platform == 'win32'", None),
        ("-e .", None),
    ],
)
def test_a_requirement_brings_a_package(tmp_path, requirement, package):
    """The package has the name of the distribution, mostly without `py` or `python`; an address names none."""
    write_files(tmp_path, {"requirements.txt": requirement})
    packages = packages_required([str(tmp_path / "requirements.txt")])
    assert (package in packages) if package else not packages
