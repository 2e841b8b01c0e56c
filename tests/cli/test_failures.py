"""Whatever a user or the environment gets wrong is one line with the cause and the remedy, and a status that tells."""

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quorate.embedded.persistence import FILE, Journal
from quorate.embedded.store import Store
from tests.fakes.command import Quorate

NODE = ("--nodes", "1x8gpu", "--no-controllers")


def test_an_occupied_port_names_it_and_the_way_out(quorate: Quorate, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = quorate("up", "--port", port, "--kubeconfig", str(tmp_path / "kubeconfig"), *NODE)
    assert ended.status == 3
    assert ended.line == (
        f"quorate: cannot listen on 127.0.0.1:{port}: another program listens there; "
        "stop it or choose another port (0 takes a free one)"
    )


def test_an_address_of_another_machine_is_named(quorate: Quorate, tmp_path: Path) -> None:
    ended = quorate(
        "up", "--host", "192.0.2.1", "--port", "0", "--kubeconfig", str(tmp_path / "kubeconfig"), *NODE
    )
    assert ended.status == 3
    assert "192.0.2.1:0: this machine has no such address; choose one of its own" in ended.line


def test_a_data_directory_in_use_is_refused(quorate: Quorate, tmp_path: Path) -> None:
    journal = Journal(tmp_path, Store())
    ended = quorate("up", "--port", "0", "--data-dir", str(tmp_path), *NODE)
    assert ended.status == 3
    assert "is in use by another server; stop that one or give another data directory" in ended.line
    assert journal is not None


def test_a_data_directory_that_is_damaged_is_refused_and_left_alone(quorate: Quorate, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("not a database, whatever its name says")
    ended = quorate("up", "--port", "0", "--data-dir", str(tmp_path), *NODE)
    assert ended.status == 3
    assert "is damaged" in ended.line
    assert "start with another data directory" in ended.line
    assert (tmp_path / FILE).read_text() == "not a database, whatever its name says"


def test_a_disk_that_is_full_from_the_start_is_named(
    quorate: Quorate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def on_a_small_disk(*arguments: Any, **options: Any) -> sqlite3.Connection:
        database: sqlite3.Connection = connect(*arguments, **options)
        database.execute("PRAGMA max_page_count = 8")
        return database

    monkeypatch.setattr(sqlite3, "connect", on_a_small_disk)
    where = ("--data-dir", str(tmp_path / "data"), "--kubeconfig", str(tmp_path / "kubeconfig"))
    ended = quorate("up", "--port", "0", *where, *NODE)
    assert ended.status == 3
    assert ended.line.startswith("quorate: the cluster cannot be set up: the disk that holds ")
    assert ended.line.endswith("is full; free space on it, writes are then taken again")


def test_a_kubeconfig_that_can_not_be_written_is_named(quorate: Quorate, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    where = str(tmp_path / "file" / "kubeconfig")
    ended = quorate("up", "--port", "0", "--kubeconfig", where, *NODE)
    assert ended.status == 3
    assert str(tmp_path / "file") in ended.line
    assert ended.line.endswith("a file stands where a folder is needed; choose another path")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("up", "--nodes", "many"), 'quorate: --nodes: "many" does not say how many nodes of how many GPUs'),
        (("demo", "--nodes", "1x8gpu,rack"), "quorate: --nodes: "),
    ],
)
def test_node_shapes_that_make_no_sense_are_refused(
    quorate: Quorate, arguments: tuple[str, ...], message: str
) -> None:
    ended = quorate(*arguments)
    assert ended.status == 2
    assert ended.line.startswith(message)


@pytest.mark.parametrize("command", ["up", "run"])
def test_an_unknown_controller_is_refused_with_the_known_ones(
    quorate: Quorate, command: str, tmp_path: Path
) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    ended = quorate(command, "--only", "barber", "--kubeconfig", str(tmp_path / "kubeconfig"))
    assert ended.status == 2
    assert ended.line.startswith("quorate: no controller 'barber'; there are grouper, scheduler, ")


KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML"),
        ("[]", "kubeconfig"),
        (KUBECONFIG.replace("current-context: c", "current-context: d"), "context"),
    ],
)
def test_a_kubeconfig_that_makes_no_sense_is_refused(
    quorate: Quorate, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    ended = quorate("run", "--kubeconfig", str(tmp_path / "kubeconfig"))
    assert ended.status == 3
    assert message in ended.line


def test_a_port_that_does_not_exist_is_a_wrong_command_line(quorate: Quorate) -> None:
    ended = quorate("up", "--port", "99999")
    assert ended.status == 2
    assert ended.line.startswith("quorate: Invalid value for '--port': ")
    assert ended.line.endswith("; see quorate up --help")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("lint",), "quorate: Missing option '--filename' / '-f'; see quorate lint --help"),
        (("fly",), "quorate: No such command 'fly'; see quorate --help"),
        (("rollout",), "quorate: Missing command; see quorate rollout --help"),
    ],
)
def test_a_wrong_command_line_is_one_line(quorate: Quorate, arguments: tuple[str, ...], line: str) -> None:
    ended = quorate(*arguments)
    assert ended.status == 2
    assert ended.line == line


def test_without_a_command_the_commands_are_shown(quorate: Quorate) -> None:
    ended = quorate()
    assert ended.status == 0
    assert "Commands" in ended.out


def test_a_reader_that_has_seen_enough_ends_the_command_quietly() -> None:
    printing = subprocess.Popen(
        [sys.executable, "-m", "quorate.cli", "crds"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert printing.stdout is not None
    printing.stdout.close()
    assert printing.stderr is not None
    assert printing.stderr.read() == b""
    printing.stderr.close()
    assert printing.wait(30) == 1
