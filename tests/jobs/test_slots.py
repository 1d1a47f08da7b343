"""Slots: one on a CPU, a device each elsewhere, or as many as the environment says."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError, StorageError
from ensemble.jobs import slots
from ensemble.jobs.queue import list_blocking_jobs, wait_for_turn
from ensemble.jobs.slots import SlotLease, acquire_slots
from ensemble.storage.file_lock import HeldLock
from tests.workers import wait_for_end, wait_until


def test_a_cpu_is_one_slot() -> None:
    assert slots.count_slots() == 1
    assert slots.count_needed_slots(0) == slots.count_needed_slots(8) == 1
    with acquire_slots(1) as turn:
        assert turn.slots == ("0",)
        assert acquire_slots(1) is None
    with acquire_slots(1) as again:
        assert again.slots == ("0",)


@pytest.mark.parametrize("stated", ["0", "-1", "two", "", "1.5", "1025", "٣", "9" * 5000])
def test_a_number_that_makes_no_sense_is_said(stated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_SLOTS", stated)
    with pytest.raises(ConfigError, match=r"ENSEMBLE_SLOTS is .* a whole number from 1 to 1,024"):
        slots.count_slots()


@pytest.fixture
def four_cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with four cards, as the driver lists them."""
    for card in ("0000:01:00.0", "0000:02:00.0", "0000:81:00.0", "0000:82:00.0"):
        (tmp_path / "gpus" / card).mkdir(parents=True)
    monkeypatch.setattr(slots, "NVIDIA_CARDS_FOLDER", tmp_path / "gpus")
    monkeypatch.setattr(slots, "is_cpu_only", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.usefixtures("four_cards")
def test_each_card_is_a_slot_and_a_job_takes_as_many_as_it_trains_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert slots.count_slots() == 4
    assert [slots.count_needed_slots(asked) for asked in (0, 1, 3, 9)] == [4, 1, 3, 4]
    with acquire_slots(1) as one, acquire_slots(2) as two:
        assert (one.slots, two.slots) == (("0",), ("1", "2"))
        assert acquire_slots(2) is None
        with acquire_slots(1) as rest:
            assert rest.slots == ("3",), "what was not enough is given back"
        slots.restrict_to_slots(two)
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "1,2"
        # Whoever was given certain cards shares out these.
        assert slots.count_slots() == 2
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, GPU-7f")
    with acquire_slots(1) as first, acquire_slots(1) as second:
        slots.restrict_to_slots(second)
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-7f"
        assert first.slots == ("2",)
        # Somebody who sees all cards gets none that these have, and card 0, which nobody has.
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
        with acquire_slots(3) as others:
            assert others.slots == ("0", "1", "3")
        assert acquire_slots(4) is None


@pytest.mark.usefixtures("four_cards")
def test_a_number_that_is_stated_shares_no_cards_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_SLOTS", "2")
    assert slots.count_slots() == 2
    assert slots.count_needed_slots(4) == 1
    with SlotLease({"1": HeldLock(os.open(os.devnull, os.O_RDONLY))}) as turn:
        slots.restrict_to_slots(turn)
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


@pytest.mark.usefixtures("four_cards")
def test_a_slot_that_cannot_be_locked_leaves_the_others_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warm worker goes on after such an error: what it had taken would be taken for good."""
    monkeypatch.setattr(slots, "lock_folders", lambda: [tmp_path])
    (tmp_path / "training-1.lock").mkdir()
    with pytest.raises(StorageError, match=r"training-1\.lock cannot be locked"):
        acquire_slots(2)
    (tmp_path / "training-1.lock").rmdir()
    with acquire_slots(4) as turn:
        assert turn.slots == ("0", "1", "2", "3")


@pytest.mark.usefixtures("four_cards")
def test_who_wants_many_is_not_overtaken_for_ever() -> None:
    """One that wants all cards waits for a small one; who comes later waits for both."""
    large = runs.create_run(EnsembleConfig())
    small = runs.create_run(EnsembleConfig(devices=1))
    with acquire_slots(1):
        looks = iter([False, False, True])
        assert wait_for_turn(large, lambda: next(looks), lambda: None, 0) is None
    looks = iter([False, True])
    assert wait_for_turn(small, lambda: next(looks), lambda: None, 1) is None
    with wait_for_turn(large, lambda: False, lambda: None, 0) as turn:
        assert turn.slots == ("0", "1", "2", "3")
    assert [one.id for one in list_blocking_jobs()] == [large.id, small.id]


def test_a_slot_is_free_again_if_nobody_can_tell_whose_turn_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.create_run(EnsembleConfig())
    (tmp_path / "file").touch()
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "file"))
    with pytest.raises(RunError, match="it is not a folder"):
        wait_for_turn(run, lambda: False, lambda: None)
    with acquire_slots(1) as turn:
        assert turn.slots == ("0",)


def test_a_slot_is_free_again_when_its_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import time; from ensemble.jobs.slots import acquire_slots; turn = acquire_slots(1)\n"
        "print(turn.slots, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"('0',)\n"
        assert acquire_slots(1) is None
        child.kill()
    with acquire_slots(1) as turn:
        assert turn.slots == ("0",)


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left", "two_devices_a_worker")
def test_with_two_slots_two_runs_train_at_once_and_a_third_waits(
    config: EnsembleConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_SLOTS", "2")
    # The smallest network there is: what it learns is not what is tested.
    long = replace(config, network="logistic", epochs=1000)
    first, second = runs.launch_run(long), runs.launch_run(long)
    third = runs.launch_run(replace(config, network="logistic"))
    for run in (first, second):
        wait_until(run, lambda run: run.state == "training")
    assert runs.find_run(first.id).state == "training", "the first goes on meanwhile"
    waits = wait_until(third, lambda run: "is running on this machine" in run.message)
    assert waits.state == "queued"
    runs.request_run_stop(second.id)
    wait_for_end(second)
    began = time.monotonic()
    assert wait_until(third, lambda run: run.state != "queued").state in ("starting", "training")
    assert time.monotonic() - began < 60
