"""One holder at a time between hosts that see each other's files but not each other's locks."""

import json
import os
from pathlib import Path

import pytest

from ensemble.storage import shared_lock
from ensemble.storage.shared_lock import SharedLock


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock on a disk whose locks are each host's own."""
    import fcntl

    monkeypatch.setattr(fcntl, "flock", lambda *words: None)
    return tmp_path / "a.lock"


def lock_on(monkeypatch: pytest.MonkeyPatch, host: str, lock: SharedLock) -> bool:
    with monkeypatch.context() as patch:
        patch.setattr("socket.gethostname", lambda: host)
        return lock.try_acquire()


def test_a_lock_of_another_host_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = SharedLock(path), SharedLock(path)
    assert lock_on(monkeypatch, "node1", first)
    assert not lock_on(monkeypatch, "node2", second)
    first.release()
    assert lock_on(monkeypatch, "node2", second)
    second.release()
    assert [file.name for file in path.parent.iterdir()] == ["a.lock"]


def test_what_a_killed_process_left_is_seen_to_by_its_host_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lock_on(monkeypatch, "node1", SharedLock(path))
    assert lock_on(monkeypatch, "node1", SharedLock(path))


def test_another_host_waits_a_minute_of_its_own_clock_and_the_late_one_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(shared_lock.time, "monotonic", lambda: clock[0])
    first, second = SharedLock(path), SharedLock(path)
    assert lock_on(monkeypatch, "node1", first)
    assert not lock_on(monkeypatch, "node2", second)
    clock[0] += 59
    assert not lock_on(monkeypatch, "node2", second)
    assert first.refresh()
    clock[0] += 59
    assert not lock_on(monkeypatch, "node2", second), "it was heard of meanwhile"
    clock[0] += 61
    assert lock_on(monkeypatch, "node2", second)
    assert not first.confirm()
    first.release()
    assert json.loads(path.with_name("a.lock.claim").read_bytes())["host"] == "node2"
    assert second.confirm()


def test_a_claim_that_another_made_meanwhile_is_put_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hosts find the same dead claim: the slower one must not remove the quicker one's."""
    claim = path.with_name("a.lock.claim")
    assert lock_on(monkeypatch, "node1", SharedLock(path))
    late = SharedLock(path)
    real = SharedLock._read_claim

    def read_then_other_takes(self: SharedLock) -> bytes:
        content = real(self)
        claim.unlink()
        claim.write_bytes(b'{"host": "node3"}')
        return content

    monkeypatch.setattr(SharedLock, "_read_claim", read_then_other_takes)
    assert not lock_on(monkeypatch, "node1", late)
    assert claim.read_bytes() == b'{"host": "node3"}'
    assert sorted(os.listdir(path.parent)) == ["a.lock", "a.lock.claim"]


def test_locks_of_one_host_exclude_each_other(tmp_path: Path) -> None:
    first, second = SharedLock(tmp_path / "a.lock"), SharedLock(tmp_path / "a.lock")
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()
