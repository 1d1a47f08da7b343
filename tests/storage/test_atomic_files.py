"""Files that are there as a whole or as they were: full disks, kills, two writers at once."""

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import (
    open_atomic_write,
    overwrite_json,
    read_json,
    remove_partial_files,
    write_bytes,
    write_json,
)

REPO = Path(__file__).resolve().parents[2]
# Writing past a limit on file sizes fails half-way through a write, as on a full disk.
LIMITED = """
import errno, resource, sys
from pathlib import Path
import numpy as np
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import write_bytes, write_json, open_atomic_write
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
path = Path(sys.argv[1])
def stream():
    with open_atomic_write(path, durable=True) as file:
        for _ in range(100):
            file.write(bytes(1000))
noise = np.random.default_rng(0).integers(0, 256, 20_000, np.uint8)
for write in (
    lambda: write_bytes(path, bytes(20_000)),
    lambda: write_json(path, ["word"] * 5000),
    lambda: write_arrays(path, {"noise": noise}),
    lambda: write_arrays(path, {"noise": noise}, compressed=True),
    stream,
):
    try:
        write()
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from ensemble.storage.atomic_files import open_atomic_write
with open_atomic_write(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def interrupt(file: BinaryIO) -> None:
    file.write(b"new")
    raise KeyboardInterrupt


def run(code: str, path: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-W", "error", "-c", code, str(path)]
    return subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)


def test_a_full_disk_raises_and_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    path.write_text("old")
    done = run(LIMITED, path)
    assert done.stderr == ""
    assert done.stdout.split() == ["EFBIG"] * 5
    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"]


def test_a_kill_leaves_the_old_file_and_a_part_that_is_cleared(tmp_path: Path) -> None:
    path = tmp_path / "mnist.npy"
    path.write_text("old")
    assert run(KILLED, path).returncode < 0
    assert path.read_text() == "old"
    (part,) = set(tmp_path.iterdir()) - {path}
    assert part.read_text() == "half"
    remove_partial_files(tmp_path, "mnist")
    assert list(tmp_path.iterdir()) == [path]


def test_only_parts_of_the_one_that_is_named_are_cleared(tmp_path: Path) -> None:
    others = {".kmnist.npy.1f.part", "kmnist.npy.1f.part", "mnist.npy", "a.part.txt"}
    for name in {".mnist.npy.1f.part", "mnist.json.1f.part", *others}:
        (tmp_path / name).write_text("")
    remove_partial_files(tmp_path, "mnist")
    assert {path.name for path in tmp_path.iterdir()} == others
    remove_partial_files(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"mnist.npy", "a.part.txt"}


def test_what_is_raised_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "digits.npz"
    write_bytes(path, b"old")
    with pytest.raises(KeyboardInterrupt), open_atomic_write(path) as file:
        interrupt(file)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"loss": float("nan")})
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_arrays(path, {"pickled": np.array([{}], object)})
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"]


def test_what_has_to_last_reaches_the_disk_before_it_takes_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mnist.json"
    write_json(path, {"format": 1}, durable=True)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_json(path, {"format": 2}, durable=True)
    assert [read_json(one) for one in tmp_path.iterdir()] == [{"format": 1}]


def test_several_writers_leave_one_whole_file_and_readers_meet_no_half(tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    write_arrays(path, {"number": np.full(5000, -1)})

    def write(number: int) -> set[int]:
        write_arrays(path, {"number": np.full(5000, number)})
        with np.load(path) as file:
            return set(file["number"].tolist())

    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(write, range(40)))
    assert all(len(numbers) == 1 for numbers in seen)
    assert [one.name for one in tmp_path.iterdir()] == ["scores.npz"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_who_may_read_a_file_is_for_the_persons_umask_to_say(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_json(tmp_path / "config.json", {"members": 4})
    finally:
        os.umask(before)
    assert (tmp_path / "config.json").stat().st_mode & 0o777 == mode


def test_json_reads_back_and_is_for_people_too(tmp_path: Path) -> None:
    value = {"name": "Zürich “☃”", "figures": [1, 2.5, None]}
    write_json(tmp_path / "one.json", value)
    text = (tmp_path / "one.json").read_text("ascii")
    assert text.endswith("}\n")
    assert '\n "figures"' in text
    assert json.loads(text) == read_json(tmp_path / "one.json") == value
    (tmp_path / "two.json").write_text("[]")
    with pytest.raises(ValueError, match=r"two\.json does not hold a JSON object"):
        read_json(tmp_path / "two.json")


def test_a_status_is_written_into_its_own_room_where_nothing_new_fits(tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    assert not overwrite_json(file, {"state": "failed"}), "there is no room of its own"
    for before in ({"state": "training", "message": "x" * 300}, {"state": "no"}):
        write_json(file, before)
        inode = file.stat().st_ino
        assert overwrite_json(file, {"state": "failed", "message": "The disk is full."})
        assert read_json(file) == {"state": "failed", "message": "The disk is full."}
        assert file.stat().st_ino == inode
    assert not overwrite_json(file, {"message": "x" * 5000}), "more than a block is not one write"
    assert read_json(file)["state"] == "failed"
