"""Checkpoints: what the disk gives back is what was written, or it is said; nothing is deleted."""

import errno
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.engine.step import create_members
from ensemble.errors import RunError
from ensemble.runs import Run
from ensemble.runs.checkpoints.folders import list_checkpoint_ticks
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.checkpoints.members import read_progress
from ensemble.runs.training.progress import Progress
from ensemble.storage import checksums
from ensemble.storage.checksums import CHECKSUM_FILE
from tests.networks import CNN
from tests.runs.checkpointed import STEPS, contents, files_of, newest, place, restored

FLIPS = 65


def flip(path: Path, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0] ^ (1 << bit % 8)
        file.seek(bit // 8)
        file.write(bytes([byte]))


def assert_same(one: Progress | None, other: Progress) -> None:
    assert one is not None
    assert (one.step, one.evaluated) == (other.step, other.evaluated)
    jax.tree.map(np.testing.assert_array_equal, one.state, other.state)


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum here")
def test_the_sums_are_those_that_other_tools_check(run: Run) -> None:
    told = subprocess.run(
        ["sha256sum", "--check", "--strict", CHECKSUM_FILE], cwd=newest(run), capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    assert len(told.stdout.splitlines()) == len(files_of(newest(run))) - 1


def test_no_single_flipped_bit_is_read_as_other_numbers(run: Run, places: dict[int, Progress]) -> None:
    rng = np.random.default_rng(16)
    before, files = contents(newest(run)), files_of(newest(run))
    sizes = np.array([file.stat().st_size for file in files])
    for number in range(FLIPS):
        # Every file is hit a few times, however small it is; the rest go by size.
        chosen = number % len(files) if number < 2 * len(files) else rng.choice(len(files), p=sizes / sizes.sum())
        bit = int(rng.integers(8 * sizes[chosen]))
        flip(files[chosen], bit)
        with pytest.MonkeyPatch.context() as patch:
            # Reading the one before 65 times would show nothing that once does not.
            patch.setattr(Checkpoints, "_read_checkpoint", lambda self, tick, like: tick)
            with Checkpoints(run.path, read_only=True) as checkpoints:
                assert checkpoints.restore(places[2]) == places[1].tick, files[chosen]
        flip(files[chosen], bit)
    assert contents(newest(run)) == before
    assert_same(restored(run, places[1]), places[2])


def test_a_damaged_one_is_set_aside_and_the_one_before_is_used(
    run: Run, places: dict[int, Progress], capsys: pytest.CaptureFixture
) -> None:
    flip(max(files_of(newest(run)), key=lambda file: file.stat().st_size), 8_000_001)
    damaged = contents(newest(run))
    assert_same(restored(run, places[1], read_only=True), places[1])
    assert contents(newest(run)) == damaged, "who only reads changes nothing"
    assert_same(restored(run, places[1]), places[1])
    assert "does not match its SHA-256" in capsys.readouterr().out
    assert contents(run.path / "damaged" / f"checkpoint-{places[2].tick}") == damaged
    assert list_checkpoint_ticks(run.path) == [places[1].tick]
    # The same place is trained, and kept, again.
    with Checkpoints(run.path) as checkpoints:
        assert_same(checkpoints.restore(places[1]), places[1])
        checkpoints.save(places[2])
    assert_same(restored(run, places[1]), places[2])


@pytest.mark.parametrize("below", ["checkpoints", "checkpoints/12", "checkpoints/12/default"])
def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(
    below: str, run: Run, places: dict[int, Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def refuse(path: Path) -> object:
        if Path(path) == run.path / below:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        with pytest.raises(RunError, match=r"cannot be read \(Permission denied\)"):
            restored(run, places[1])
    assert_same(restored(run, places[1]), places[2])


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(run: Run, places: dict[int, Progress]) -> None:
    file = newest(run) / "default" / "_METADATA"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(RunError, match="it is not a plain file"):
        restored(run, places[1])


def test_sums_that_are_cut_are_damage_and_what_a_file_manager_leaves_is_none(
    run: Run, places: dict[int, Progress]
) -> None:
    (newest(run) / "default" / ".DS_Store").write_bytes(b"\0")
    assert_same(restored(run, places[1], read_only=True), places[2])
    sums = newest(run) / CHECKSUM_FILE
    for rows in (sums.read_text().splitlines()[:-1], []):
        sums.write_text("".join(f"{row}\n" for row in rows))
        assert_same(restored(run, places[1], read_only=True), places[1])


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO], ids=["permission", "disk"])
def test_what_cannot_be_read_is_not_taken_for_damage(
    number: int, run: Run, places: dict[int, Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(run.path)
    whole, refused = checksums._hash_file, newest(run) / "default" / "_METADATA"

    def refuse(path: Path) -> str:
        if path == refused:
            raise OSError(number, os.strerror(number), str(path))
        return whole(path)

    with monkeypatch.context() as patch:
        patch.setattr(checksums, "_hash_file", refuse)
        with pytest.raises(RunError, match=r"Nothing was changed: make .*_METADATA readable"):
            restored(run, places[1])
    assert contents(run.path) == before
    assert_same(restored(run, places[1]), places[2])


def test_where_all_are_damaged_nothing_begins_anew_unasked(run: Run, places: dict[int, Progress]) -> None:
    for tick in list_checkpoint_ticks(run.path):
        os.truncate(run.path / "checkpoints" / str(tick) / "default" / "_METADATA", 10)
    with pytest.raises(RunError, match="There is no other: resume again to train"):
        restored(run, places[1])
    assert len(list((run.path / "damaged").iterdir())) == 2
    assert restored(run, places[1]) is None


def test_who_only_reads_is_told_of_damage_and_not_that_there_is_none(run: Run) -> None:
    for tick in list_checkpoint_ticks(run.path):
        os.truncate(run.path / "checkpoints" / str(tick) / "default" / "_METADATA", 10)
    with pytest.raises(RunError, match=r"Checkpoint 12 is damaged .* Checkpoint 6 is damaged"):
        read_progress(run)
    assert len(list_checkpoint_ticks(run.path)) == 2, "and changes nothing"


@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut"])
def test_those_of_earlier_versions_have_no_sums_and_are_read(cut: bool, run: Run, places: dict[int, Progress]) -> None:
    (newest(run) / CHECKSUM_FILE).unlink()
    if cut:
        # Cut elsewhere, reads that orbax had begun complain for as long as they are there.
        os.truncate(newest(run) / "default" / "_METADATA", 1000)
    assert_same(restored(run, places[1]), places[1 if cut else 2])
    assert (run.path / "damaged").exists() == cut


def test_one_that_does_not_fit_the_settings_is_said_and_stays(run: Run) -> None:
    before = contents(run.path)
    with pytest.raises(RunError, match="does not fit"):
        restored(run, Progress.blank(create_members(CNN, 0, 2), 2, STEPS))
    assert contents(run.path) == before


def test_the_last_two_and_the_best_are_kept() -> None:
    """Also of a run that was resumed again and again: orbax forgets what came before."""
    run, like, whole = runs.create_run(EnsembleConfig(members=1)), place(1), STEPS + 1
    for begins in (1, 4, 6):
        with Checkpoints(run.path) as checkpoints:
            for epoch in range(begins, begins + 3):
                later = replace(like, step=epoch * STEPS, evaluated=epoch)
                checkpoints.save(later, best=min(epoch, 2) * whole)
        assert list_checkpoint_ticks(run.path) == sorted({2 * whole, (epoch - 1) * whole, epoch * whole})
