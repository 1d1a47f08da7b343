"""Locks between processes: one holder, none left behind by the dead, the system's own flock."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import psutil
import pytest

from ensemble.storage import file_lock
from ensemble.storage.file_lock import hold_folder_lock, is_locked, lock_within_grace, try_lock

REPO = Path(__file__).resolve().parents[2]
# Holds a lock, has a child that inherits whatever can be inherited, says its number and waits.
HOLDER = """
import subprocess, sys
from pathlib import Path
from ensemble.storage.file_lock import try_lock
held = try_lock(Path(sys.argv[1]))
assert held
sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
child = subprocess.Popen(sleep, close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def flocked(path: Path, flags: int) -> Iterator[bool]:
    """Whether the system's own lock was to be had, as an earlier version of this program took it.

    Held within the context.
    """
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def test_one_holder_at_a_time_also_within_a_process(tmp_path: Path) -> None:
    path = tmp_path / "worker.lock"
    with try_lock(path) as held:
        assert held
        assert try_lock(path) is None
        inode = path.stat().st_ino
    assert path.stat().st_ino == inode, "the file stays, or two could lock two of one name"
    assert path.stat().st_mode & 0o777 == 0o600
    with try_lock(path):
        assert path.stat().st_ino == inode


def test_asking_after_a_lock_tells_who_holds_it_and_makes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "worker.lock"
    assert is_locked(path) is None
    assert not path.exists()
    with try_lock(path):
        assert is_locked(path) is True
    assert is_locked(path) is False
    with flocked(path, os.O_RDWR) as got:
        assert got
        assert is_locked(path) is True, "an earlier version's too"
    (tmp_path / "link").symlink_to(path)
    assert is_locked(tmp_path / "link") is None
    os.mkfifo(tmp_path / "pipe")
    assert is_locked(tmp_path / "pipe") is False, "it waits for nobody"


def test_those_who_ask_neither_see_each_other_nor_keep_a_worker_from_its_lock(tmp_path: Path) -> None:
    path, done = tmp_path / "worker.lock", threading.Event()
    path.touch()
    seen: list[bool | None] = []

    def ask() -> None:
        while not done.is_set():
            seen.append(is_locked(path))

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for one in askers:
        one.start()
    while len(seen) < 500:
        pass
    assert True not in seen
    for _ in range(50):
        with lock_within_grace(path) as held:
            assert held
    done.set()
    for one in askers:
        one.join()


def test_a_lock_that_is_kept_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "GRACE_SECONDS", 0.1)
    with try_lock(tmp_path / "worker.lock"):
        assert lock_within_grace(tmp_path / "worker.lock") is None


def test_an_earlier_versions_flock_and_this_lock_exclude_each_other(tmp_path: Path) -> None:
    path, flags = tmp_path / "worker.lock", os.O_RDWR | os.O_CREAT
    with flocked(path, flags) as got:
        assert got
        assert try_lock(path) is None
    with try_lock(path), flocked(path, flags) as got:
        assert not got
    with flocked(path, flags) as got:
        assert got


def test_an_earlier_versions_flock_of_a_folder_is_waited_for(tmp_path: Path) -> None:
    waited = []

    def give_up() -> None:
        waited.append(True)
        raise InterruptedError

    with flocked(tmp_path, os.O_RDONLY) as got:
        assert got
        with pytest.raises(InterruptedError), hold_folder_lock(tmp_path, give_up):
            pytest.fail("two hold it")
    assert waited == [True]
    with hold_folder_lock(tmp_path, lambda: pytest.fail("nobody has it")) as alone:
        assert alone
        with flocked(tmp_path, os.O_RDONLY) as got:
            assert not got
    assert list(tmp_path.iterdir()) == []


def test_a_killed_holders_lock_is_free_though_its_child_lives(tmp_path: Path) -> None:
    path = tmp_path / "training.lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        child = psutil.Process(int(holder.stdout.readline()))
        try:
            assert try_lock(path) is None
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            assert child.is_running()
            assert child.status() != psutil.STATUS_ZOMBIE
            with try_lock(path) as held:
                assert held
        finally:
            child.kill()


def test_a_file_deleted_meanwhile_is_not_the_one_that_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, take = tmp_path / "worker.lock", filelock.lock_descriptor
    deleted: list[int] = []

    def late(descriptor: int, **options: bool) -> bool:
        if not deleted:  # between opening and locking
            deleted.append(os.fstat(descriptor).st_ino)
            path.rename(tmp_path / "gone")
        return take(descriptor, **options)

    monkeypatch.setattr(filelock, "lock_descriptor", late)
    with try_lock(path) as held:
        assert held
        assert path.stat().st_ino != deleted[0]
        assert try_lock(path) is None


def test_where_there_are_no_locks_it_is_said_or_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(descriptor: int, **options: bool) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(filelock, "lock_descriptor", no_locks)
    before = psutil.Process().num_fds()
    with pytest.raises(OSError, match=r"No locks available.*worker\.lock"):
        try_lock(tmp_path / "worker.lock")
    with hold_folder_lock(tmp_path, lambda: pytest.fail("nobody has it")) as alone:
        assert not alone
    assert psutil.Process().num_fds() == before
