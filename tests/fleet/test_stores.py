"""The names of stores, and what goes wrong with them: every message says what to do, and none has the password."""

from __future__ import annotations

import fcntl
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mcpcore.fleet.address import StoreError, parse
from mcpcore.fleet.store import open_store
from tests.fleet.conftest import PASSWORD


class TestAddress:
    def test_a_path_is_a_folder(self):
        """Anything without a scheme is one."""
        assert Path("fleet") == parse("fleet").folder
        assert "./a b" == str(parse("./a b")).replace("a b", "./a b", 1)
        assert "fleet" == parse("/var/lib/fleet").name

    def test_a_url_names_a_server(self):
        """With the usual ports, and names and passwords percent-encoded."""
        address = parse("clickhouse://us%40er:p%2Fw@db.example/ops?table=t_1&secure=1")
        assert ("db.example", 8443, "us@er", "p/w", "ops", "t_1", True) == (
            address.host, address.port, address.user, address.password, address.database, address.table, address.secure
        )  # fmt: skip
        plain = parse("CLICKHOUSE://[::1]")
        assert ("::1", 8123, "default", "", "default", "mcpcore_failures", False) == (
            plain.host, plain.port, plain.user, plain.password, plain.database, plain.table, plain.secure
        )  # fmt: skip
        assert "clickhouse://[::1]:8123/default?table=mcpcore_failures" == str(plain)
        assert "t_1" == address.name
        assert "p/w" not in repr(address) + str(address)

    def test_the_password_may_come_from_the_environment(self, monkeypatch):
        """The URL's own comes first."""
        monkeypatch.setenv("MCPCORE_STORE_PASSWORD", "from the environment")
        assert "from the environment" == parse("clickhouse://me@host").password
        assert "own" == parse("clickhouse://me:own@host").password

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "a\0b",
            "fleet?token=S3CRET",
            "/var/lib/fleet?readonly",
            "clickhouse:/me:S3CRET@host",
            "clickhouse:me:S3CRET@host",
            "http://me:S3CRET@host",
            "clickhouse+native://me:S3CRET@host",
            "clickhouse://me:S3CRET@",
            "clickhouse://me:S3CRET/x@host",
            "clickhouse://me:S3CRET#x@host",
            "clickhouse://me:S3CRET@host:99999",
            "clickhouse://me:S3CRET@host#x",
            "clickhouse://me:S3CRET@[host/db",
            "clickhouse://me:S3CRET@host/db;DROP",
            "clickhouse://me:S3CRET@host/db/x",
            "clickhouse://me:S3CRET@host/db?table=a`b",
            "clickhouse://me:S3CRET@host/db?table=",
            "clickhouse://me:S3CRET@host/db?secure=maybe",
            "clickhouse://me:S3CRET@host/db?other=1",
            "clickhouse://me:S3CRET@host/db?tabel",
        ],
    )
    def test_other_names_are_refused_without_repeating_them(self, text):
        """They may have a password in the wrong place."""
        with pytest.raises(StoreError) as refused:
            parse(text)
        assert "S3CRET" not in str(refused.value)


class TestEmbedded:
    def test_there_must_be_a_store(self, run, tmp_path, trail):
        """Reading creates nothing, and loading does not fill a folder that has another purpose."""
        assert "`mcpcore audit load` creates it" in run("stats", "--store", tmp_path / "none", status=2).err
        assert not (tmp_path / "none").exists()
        assert "is not a store" in run("load", trail, "--store", trail.parent, status=2).err
        assert "is a file" in run("load", trail, "--store", trail, status=2).err
        assert "cannot be created" in run("load", trail, "--store", tmp_path / "no" / "parent", status=2).err
        (tmp_path / "odd").mkdir()
        (tmp_path / "odd" / "mcpcore-store.lock").mkdir()
        assert "cannot be opened" in run("stats", "--store", tmp_path / "odd", status=2).err

    def test_a_store_without_a_table_is_one_error(self, run, tmp_path):
        """For example, its creation was interrupted."""
        store = tmp_path / "store"
        store.mkdir()
        (store / "mcpcore-store.lock").touch()
        assert "there is no table of failures" in run("stats", "--store", store, status=2).err

    def test_a_store_that_another_program_uses_is_one_error(self, run, front):
        """A program that knows nothing of our lock keeps the engine's own."""
        (front.folder / "mcpcore-store.lock").touch()
        err = run("stats", "--store", front.folder, status=2).err
        assert f"the store {front.folder} failed" in err
        assert "Traceback" not in err

    def test_only_the_owner_can_read_it(self, run, tmp_path, trail):
        """Records may be confidential."""
        run("load", trail, "--store", tmp_path / "store")
        assert 0o700 == (tmp_path / "store").stat().st_mode & 0o777

    def test_another_schema_is_refused(self, run, tmp_path, trail):
        """A later release's table is not read as if it were this one's, nor is any other table."""
        store = tmp_path / "store"
        run("load", trail, "--store", store)
        run("sql", store, "ALTER TABLE mcpcore_failures MODIFY COMMENT 'mcpcore failures, schema 2'")
        for command in (("stats",), ("load", trail)):
            err = run(*command, "--store", store, status=2).err
            assert "has schema 2, and this release of mcpcore knows schema 1" in err
        run("sql", store, "ALTER TABLE mcpcore_failures MODIFY COMMENT ''")
        run("stats", "--store", store)
        run("sql", store, "ALTER TABLE mcpcore_failures DROP COLUMN server")
        assert "it has no column server; give another table" in run("stats", "--store", store, status=2).err

    def test_a_command_that_waits_says_so(self, run, tmp_path, trail):
        """Another process may load for minutes; an interruption ends the wait."""
        store = tmp_path / "store"
        run("load", trail, "--store", store)
        command = [sys.executable, "-m", "mcpcore", "audit", "stats", "--store", str(store)]
        with (store / "mcpcore-store.lock").open("rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as waiting:
                assert f"Waiting for another process that uses the store {store}.\n" == waiting.stderr.readline()
                waiting.send_signal(signal.SIGINT)
                waiting.communicate()
        assert waiting.returncode != 0

    @pytest.mark.parametrize("module", ["clickhouse_connect", "chdb"])
    def test_the_extra_is_named_if_it_is_missing(self, tmp_path, trail, module):
        """Nothing else of the command line needs it."""
        code = f"import sys; sys.modules[{module!r}] = None; from mcpcore.cli.root import run; run()"
        command = [sys.executable, "-c", code, "audit", "load", str(trail), "--store", str(tmp_path / "store")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert 2 == done.returncode
        assert 'pip install "mcpcore[fleet]"' in done.stderr
        assert "Traceback" not in done.stderr

    def test_one_of_path_and_store_is_given(self, run, tmp_path, trail):
        """--store replaces a path from the environment."""
        assert "not both" in run("stats", trail, "--store", tmp_path, status=2).err
        assert "or give --store" in run("stats", status=2).err
        run("load", trail, "--store", tmp_path / "store")
        run("stats", "--store", tmp_path / "store", env={"MCPCORE_AUDIT": str(tmp_path / "none")})


class TestServer:
    def test_a_wrong_password_or_database_is_explained(self, run, front, trail):
        """And the password is not repeated."""
        for url, text in (
            (front.url(password="S3CRET"), "the user name or the password is wrong"),
            (front.url(database="missing"), "create the database first"),
            (front.url(table="missing"), "there is no table of failures"),
        ):
            err = run("stats", "--store", url, status=2).err
            assert text in err
            assert "S3CRET" not in err
            assert PASSWORD not in err

    def test_a_server_that_is_down_is_explained(self, run, trail):
        """In one line, without the URL's password."""
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            err = run("load", trail, "--store", f"clickhouse://me:S3CRET@127.0.0.1:{port}/ops", status=2).err
        assert f" no ClickHouse answers at 127.0.0.1, port {port}; check the host" in err
        assert err.endswith(": Connection refused\n")
        assert not any(word in err for word in ("S3CRET", "HTTPConnection", "retries"))
        assert 1 == err.count("\n")

    def test_the_password_of_the_environment_is_used(self, run, front, trail):
        """So that no URL has to have it."""
        url = f"clickhouse://loader@127.0.0.1:{front.port}/default?table=environment"
        run("load", trail, "--store", url, env={"MCPCORE_STORE_PASSWORD": PASSWORD})
        assert "MCPCORE_STORE_PASSWORD" in run("load", "--help").out

    def test_long_errors_are_cut(self, front):
        """A server may answer with anything."""
        with open_store(parse(front.url("long")), create=True) as store, pytest.raises(StoreError) as failed:
            store.rows(f"SELECT '{'x' * 100}', missing_{'y' * 1_000} FROM {{table:Identifier}}")
        assert len(str(failed.value)) < 700
        assert str(failed.value).endswith(" ...")
