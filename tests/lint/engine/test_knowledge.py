"""Tables of the errors that functions of other packages raise."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import mcpcore_lint.semantics.knowledge
import pytest
from mcpcore_lint.semantics.knowledge import known_exceptions, known_name

FILES = sorted(Path(mcpcore_lint.semantics.knowledge.__file__).parent.glob("*.json"))
HEAD = "from mcpcore import CodedError, Context, ErrorCode, not_found, tool\n"

CASES = {
    "httpx": (
        "import httpx\n\n@tool\nasync def fetch():\n    async with httpx.AsyncClient() as client:\n        response = await client.get('x')\n        response.raise_for_status()\n        return response.json()\n",
        {
            ("httpx.ConnectError", "fetch > httpx.AsyncClient.get"),
            ("httpx.TimeoutException", "fetch > httpx.AsyncClient.get"),
            ("httpx.TransportError", "fetch > httpx.AsyncClient.get"),
            ("httpx.HTTPStatusError", "fetch > httpx.Response.raise_for_status"),
            ("json.JSONDecodeError", "fetch > httpx.Response.json"),
        },
    ),
    "caught by a base class": (
        "import httpx, json\n\n@tool\ndef fetch(client: httpx.Client):\n    try:\n        client.get('x').raise_for_status()\n        json.loads('x')\n    except httpx.HTTPError:\n        return\n    except ValueError:\n        return\n",
        set(),
    ),
    "sqlite3": (
        "import sqlite3\n\n@tool\ndef fetch():\n    connection = sqlite3.connect('x')\n    connection.cursor().execute('x')\n",
        {
            ("sqlite3.OperationalError", "fetch > sqlite3.connect"),
            ("sqlite3.OperationalError", "fetch > sqlite3.Cursor.execute"),
            ("sqlite3.IntegrityError", "fetch > sqlite3.Cursor.execute"),
        },
    ),
    "files": (
        "from pathlib import Path\n\n@tool\ndef fetch(path: Path):\n    (path / 'x').resolve().write_bytes(b'')\n    path.mkdir(parents=True, exist_ok=True)\n    path.unlink(missing_ok=True)\n",
        {
            ("FileNotFoundError", "fetch > pathlib.Path.write_bytes"),
            ("PermissionError", "fetch > pathlib.Path.write_bytes"),
            ("PermissionError", "fetch > pathlib.Path.mkdir"),
            ("PermissionError", "fetch > pathlib.Path.unlink"),
        },
    ),
    "subprocess": (
        "import subprocess\n\n@tool\ndef fetch():\n    subprocess.run(['x'])\n    subprocess.run(['x'], check=True, timeout=3)\n",
        {
            ("FileNotFoundError", "fetch > subprocess.run"),
            ("subprocess.CalledProcessError", "fetch > subprocess.run"),
            ("subprocess.TimeoutExpired", "fetch > subprocess.run"),
        },
    ),
    "asyncio": (
        "import asyncio\n\n@tool\nasync def fetch():\n    async with asyncio.timeout(3):\n        await asyncio.wait_for(go(), 3)\n\nasync def go(): ...\n",
        {("TimeoutError", "fetch > asyncio.timeout"), ("TimeoutError", "fetch > asyncio.wait_for")},
    ),
    "a redis client of another name": (
        "import redis.asyncio as redis\n\nclient = redis.from_url('x')\n\n@tool\nasync def fetch():\n    await client.get('x')\n",
        {
            ("redis.ConnectionError", "fetch > redis.Redis.get"),
            ("redis.TimeoutError", "fetch > redis.Redis.get"),
        },
    ),
    "boto3": (
        "import boto3\nfrom botocore.exceptions import ClientError\n\ns3 = boto3.client('s3')\n\n@tool\ndef fetch():\n    try:\n        s3.get_object(Bucket='x', Key='y')\n    except ClientError:\n        raise not_found('x')\n",
        {("NOT_FOUND", "fetch"), ("botocore.exceptions.BotoCoreError", "fetch > boto3.Client.get_object")},
    ),
    "any operation of a service of boto3": (
        "import boto3\nfrom typing import Any\n\ndef client() -> Any:\n    return boto3.Session().client('x')\n\n@tool\ndef fetch():\n    client().get_paginator('y')\n    client().search_things()\n",
        {
            ("botocore.exceptions.ClientError", "fetch > boto3.Client.search_things"),
            ("botocore.exceptions.BotoCoreError", "fetch > boto3.Client.search_things"),
        },
    ),
    "psycopg through a class of the project": (
        "import psycopg\n\nclass Store:\n    def __init__(self, connection: psycopg.AsyncConnection):\n        self.connection = connection\n    async def run(self):\n        cursor = await self.connection.execute('x')\n        await cursor.executemany('x', [])\n\n@tool\nasync def fetch(store: Store):\n    await store.run()\n",
        {
            ("psycopg.IntegrityError", "fetch > Store.run > psycopg.AsyncConnection.execute"),
            ("psycopg.OperationalError", "fetch > Store.run > psycopg.AsyncConnection.execute"),
            ("psycopg.IntegrityError", "fetch > Store.run > psycopg.Cursor.executemany"),
            ("psycopg.OperationalError", "fetch > Store.run > psycopg.Cursor.executemany"),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_errors_of_third_party_calls(project, name):
    """The errors of well-known functions are found through the class of the object, unless they are caught."""
    code, expected = CASES[name]
    project.write(server=HEAD + code)
    assert project.thrown() == expected


def test_a_project_adds_its_own_facts(project):
    """The `raises` setting lists errors of further functions."""
    project.write(server=HEAD + "import acme\n\n@tool\ndef fetch():\n    acme.call()\n    acme.Client().get()\n")
    found = project.thrown(raises={"acme.call": ("acme.Down",), "acme.Client.get": ("builtins.OSError",)})
    assert found == {("acme.Down", "fetch > acme.call"), ("OSError", "fetch > acme.Client.get")}
    found = project.thrown(raises={"acme.Client.*": ("acme.Down",)})
    assert found == {("acme.Down", "fetch > acme.Client.get")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_table_names_only_known_classes(path):
    """Every exception in the table is a builtin or has its bases in the table."""
    data = json.loads(path.read_text())
    assert set(data) <= {"exceptions", "raises", "returns", "aliases"}
    for raised in data.get("raises", {}).values():
        for fact in raised:
            name = fact.split(" ")[0]
            assert name.startswith("builtins.") or known_name(name) in known_exceptions(), name


@pytest.mark.parametrize("name", sorted(known_exceptions()))
def test_the_bases_in_the_tables_are_those_of_the_installed_library(name):
    """If the library is installed, each class has the bases listed in the table."""
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError):
        pytest.skip(f"{name} is not installed here")
    for base in known_exceptions()[name]:
        where, _, last = base.rpartition(".")
        assert issubclass(found, getattr(importlib.import_module(where), last)), base
