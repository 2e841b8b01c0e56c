"""The store on disk: a SQLite database in write-ahead mode, written by one thread in groups.

1. A write is acknowledged after the transaction that holds it is on disk; one transaction takes all writes
   that wait.
2. While the disk refuses writes, those that wait are kept and tried again; new ones are refused.
3. The revision jumps ahead on every start, so that no revision a client has seen ever means something else.
"""

import asyncio
import sqlite3
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.store import Event, Key, Store

FILE = "quorate.db"
# "Qrt1" in the database header: tells our files from other programs' databases.
_APPLICATION_ID = 0x51727431
_FORMAT = 1
# More revisions than can be lost between two starts: the unacknowledged writes of one group.
_LEAP = 1_000_000
_RETRY_SECONDS = 1.0
_BUSY_SECONDS = 0.2
_SCHEMA = """
CREATE TABLE objects (
  resource_group TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  object BLOB NOT NULL, PRIMARY KEY (resource_group, plural, namespace, name)
) WITHOUT ROWID;
CREATE TABLE state (revision INTEGER NOT NULL);
INSERT INTO state VALUES (1);
"""
_PUT = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)"
_DROP = "DELETE FROM objects WHERE resource_group = ? AND plural = ? AND namespace = ? AND name = ?"


class DataDirectoryError(Exception):
    """The data directory cannot be used; the text names the cause and the remedy."""


class _Write(NamedTuple):
    key: Key
    revision: int
    # None for a deletion.
    raw: bytes | None


class Journal:
    """Writes every event of a store to disk and tells when it is there."""

    def __init__(self, directory: Path, store: Store) -> None:
        self._path = directory / FILE
        # SQLite objects stay on one thread, which this executor has.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="quorate-journal")
        self._store = store
        # Writes of the next group, and who waits for that group and for the one being written.
        self._waiting: list[_Write] = []
        self._next: asyncio.Future[None] | None = None
        self._current: asyncio.Future[None] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._refusal = ""
        self._database = self._thread.submit(_opened, directory).result()
        objects, revision = self._thread.submit(_saved, self._database, self._path).result()
        store.restore(objects, revision + _LEAP)
        self._begin()
        store.on_event(self._take)

    def _begin(self) -> None:
        """Put the first revision of this start on disk, which also tells whether the disk takes writes."""
        try:
            self._thread.submit(_write_group, self._database, [], self._store.revision).result()
        except sqlite3.Error as error:
            raise DataDirectoryError(_cause(error, self._path)) from error

    def _take(self, event: Event) -> None:
        raw = None if event.type == "DELETED" else event.entry.raw
        self._waiting.append(_Write(event.key, event.revision, raw))

    def check(self) -> None:
        """Refuse to go on while the disk refuses writes."""
        if self._refusal:
            raise errors.unavailable(self._refusal)

    async def durable(self) -> None:
        """Return once everything written so far is on disk; 503 if the disk refuses it."""
        acknowledged = self._current
        if self._waiting:
            if self._next is None:
                self._next = asyncio.get_running_loop().create_future()
            acknowledged = self._next
            if self._pump is None:
                self._pump = asyncio.create_task(self._write_groups())
        if acknowledged is not None:
            # Shared by all writers of a group: one that gives up must not take it from the others.
            await asyncio.shield(acknowledged)

    async def _write_groups(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            self._current, self._next = self._next, None
            refusal = await self._write(group)
            if refusal:
                self._waiting = group + self._waiting
            _settle(self._current, refusal)
            self._current = None
            if refusal:
                await asyncio.sleep(_RETRY_SECONDS)
        self._pump = None

    async def _write(self, group: list[_Write]) -> str:
        """Why the group could not be written; empty if it is on disk."""
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(
                self._thread, _write_group, self._database, group, self._store.revision
            )
        except sqlite3.Error as error:
            self._refusal = _cause(error, self._path)
        else:
            self._refusal = ""
        return self._refusal

    async def close(self) -> None:
        """Write what waits and close the file."""
        if self._pump is not None:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
        if self._waiting:
            await self._write(self._waiting)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._database.close)
        self._thread.shutdown()


def _settle(acknowledged: asyncio.Future[None] | None, refusal: str) -> None:
    if acknowledged is None or acknowledged.done():
        return
    if refusal:
        acknowledged.set_exception(errors.unavailable(refusal))
        # Whoever asked may be gone.
        acknowledged.exception()
    else:
        acknowledged.set_result(None)


def _opened(directory: Path) -> sqlite3.Connection:
    path = directory / FILE
    if directory.exists() and not directory.is_dir():
        raise DataDirectoryError(f"the data directory {directory} is a file; give a directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        database = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_SECONDS)
    except (OSError, sqlite3.Error) as error:
        raise DataDirectoryError(
            f"cannot use the data directory {directory}: {error}; give one that can be written"
        ) from error
    try:
        _prepare(database, path, is_new=is_new)
    except sqlite3.Error as error:
        database.close()
        raise DataDirectoryError(_cause(error, path)) from error
    except DataDirectoryError:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: Path, *, is_new: bool) -> None:
    # Held until the process ends: a second server on the same file would lose writes.
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if is_new or not tables:
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {_FORMAT}")
    database.execute("COMMIT")
    if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
        raise DataDirectoryError(f"{path} is a database of another program; give another data directory")
    found = database.execute("PRAGMA user_version").fetchone()[0]
    if found != _FORMAT:
        raise DataDirectoryError(
            f"{path} has format {found} and this version reads format {_FORMAT}; "
            "use the version that wrote it or start with another data directory"
        )
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")


def _saved(database: sqlite3.Connection, path: Path) -> tuple[list[tuple[Key, Json]], int]:
    try:
        rows = database.execute("SELECT * FROM objects").fetchall()
        revision: int = database.execute("SELECT revision FROM state").fetchone()[0]
        return [(Key(*row[:4]), msgspec.json.decode(row[4])) for row in rows], revision
    except (sqlite3.Error, msgspec.DecodeError, TypeError) as error:
        raise DataDirectoryError(_damaged(path, str(error))) from error


def _write_group(database: sqlite3.Connection, group: Iterable[_Write], revision: int) -> None:
    database.execute("BEGIN")
    try:
        for write in group:
            if write.raw is None:
                database.execute(_DROP, write.key)
            else:
                database.execute(_PUT, (*write.key, write.raw))
        database.execute("UPDATE state SET revision = ?", (revision,))
        database.execute("COMMIT")
    except sqlite3.Error:
        # A full disk may have ended the transaction already.
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def _cause(error: sqlite3.Error, path: Path) -> str:
    text = str(error)
    if "locked" in text:
        return f"{path} is in use by another server; stop that one or give another data directory"
    if "full" in text:
        return f"the disk that holds {path} is full; free space on it, writes are then taken again"
    if "not a database" in text or "malformed" in text:
        return _damaged(path, text)
    return f"cannot write {path}: {text}; check that it is writable, the server tries again every second"


def _damaged(path: Path, why: str) -> str:
    return f"{path} is damaged ({why}); restore it from a copy or start with another data directory"
