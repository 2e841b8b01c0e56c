import asyncio
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from quorate.embedded.apiserver import ApiServer
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.errors import ApiError
from quorate.embedded.options import WatchOptions
from quorate.embedded.persistence import FILE, DataDirectoryError, Journal
from quorate.embedded.registry import Registry
from quorate.embedded.store import Store
from quorate.embedded.updating import Target
from tests.fakes.embedded import config_map, namespace


def opened(directory: Path) -> ApiServer:
    store = Store()
    api = ApiServer(Registry(builtin_resources()), store)
    api.journal = Journal(directory, store)
    return api


async def with_config_map(directory: Path) -> ApiServer:
    api = opened(directory)
    await api.create(api.resource("", "v1", "namespaces"), "", namespace("default"))
    await api.create(api.resource("", "v1", "configmaps"), "default", config_map("a"))
    return api


async def close(api: ApiServer) -> None:
    assert api.journal is not None
    await api.journal.close()


def test_objects_survive_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        api = await with_config_map(tmp_path)
        maps = api.resource("", "v1", "configmaps")
        await api.create(maps, "default", config_map("gone"))
        await api.delete(Target(maps, "default", "gone"))
        before = api.list(maps, "default").objects
        await close(api)
        again = opened(tmp_path)
        assert again.list(maps, "default").objects == before
        assert [item["metadata"]["name"] for item in before] == ["a"]
        await close(again)

    asyncio.run(run())


def test_a_revision_from_before_the_restart_is_too_old_to_watch(tmp_path: Path) -> None:
    async def run() -> None:
        api = await with_config_map(tmp_path)
        revision = api.store.revision
        await close(api)
        again = opened(tmp_path)
        assert again.store.revision > revision
        with pytest.raises(ApiError) as refused:
            again.watch(
                again.resource("", "v1", "configmaps"), "", WatchOptions(resource_version=str(revision))
            )
        assert refused.value.code == 410
        await close(again)

    asyncio.run(run())


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.embedded.test_persistence import opened
from tests.fakes.embedded import config_map, namespace

async def main():
    api = opened(Path(sys.argv[1]))
    await api.create(api.resource("", "v1", "namespaces"), "", namespace("default"))
    maps = api.resource("", "v1", "configmaps")

    async def worker(which):
        for number in range(10_000):
            name = f"m-{which}-{number}"
            await api.create(maps, "default", config_map(name))
            print(name, flush=True)

    await asyncio.gather(*(worker(which) for which in range(4)))

asyncio.run(main())
"""


def test_kill_9_loses_no_acknowledged_write(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline().strip() for _ in range(300)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]

    async def run() -> None:
        api = opened(tmp_path)
        stored = {o["metadata"]["name"] for o in api.store.list("", "configmaps", "default")}
        assert set(acknowledged) <= stored
        await close(api)

    asyncio.run(run())


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        api = opened(tmp_path)
        with pytest.raises(DataDirectoryError, match="in use by another server; stop that one"):
            opened(tmp_path)
        await close(api)

    asyncio.run(run())


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"hello world, this is no database" * 200)
    with pytest.raises(DataDirectoryError, match=r"is damaged .* restore it from a copy"):
        opened(tmp_path)


def test_a_damaged_object_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        await close(await with_config_map(tmp_path))

    asyncio.run(run())
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE objects SET object = '{'")
    database.close()
    with pytest.raises(DataDirectoryError, match="is damaged"):
        opened(tmp_path)


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(DataDirectoryError, match="of another program"):
        opened(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_another_format_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        await close(await with_config_map(tmp_path))

    asyncio.run(run())
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(DataDirectoryError, match="has format 99 and this version reads format 1"):
        opened(tmp_path)


def test_a_data_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(DataDirectoryError, match="is a file; give a directory"):
        opened(path)


def limit_pages(journal: Journal, pages: int) -> None:
    """Let the file grow to so many pages at most, as a quota does."""
    statement = f"PRAGMA max_page_count = {pages}"
    journal._thread.submit(journal._database.execute, statement).result()  # noqa: SLF001 - no disk of that size here


def test_a_full_disk_refuses_the_write_and_recovers(tmp_path: Path) -> None:
    async def run() -> None:
        api = await with_config_map(tmp_path)
        assert api.journal is not None
        maps = api.resource("", "v1", "configmaps")
        limit_pages(api.journal, 1)
        big = {**config_map("big"), "data": {"k": "x" * 100_000}}
        with pytest.raises(ApiError, match="is full; free space on it") as refused:
            await api.create(maps, "default", big)
        assert refused.value.code == 503
        with pytest.raises(ApiError, match="is full"):
            api.check_writable()
        limit_pages(api.journal, 1_000_000)
        await api.create(maps, "default", config_map("after"))
        api.check_writable()
        await close(api)
        again = opened(tmp_path)
        names = [o["metadata"]["name"] for o in again.list(maps, "default").objects]
        assert names == ["a", "after", "big"]
        await close(again)

    asyncio.run(run())
