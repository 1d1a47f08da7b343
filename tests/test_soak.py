"""A small sample of `python -m benchmarks.soak`, which takes minutes: nothing may be lost."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.soak import (
    clocks,
    full_disk,
    groups,
    kills,
    launches,
    no_locks,
    sessions,
    slow_disk,
    sockets,
    sweep_storages,
    sweeps,
    tasks,
    uploads,
)
from benchmarks.soak.place import Place
from benchmarks.soak.rows import LostError, Row, expect, table

SEED = 1


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Two epochs, and the programs that other tests have compiled."""
    compiled = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
    with Place(tmp_path_factory.mktemp("soak"), epochs=2, compiled=compiled) as place:
        yield place


def nothing_lost(rows: list[Row], tried: int) -> None:
    if rows[0].skipped:
        pytest.skip(rows[0].skipped)
    assert [line for row in rows for line in row.lost] == []
    assert sum(row.tried for row in rows) == tried


# By default each of these is tested where it is done (runs/test_workers.py, runs/test_full_disk.py,
# jobs/test_slots.py, jobs/test_clock_steps.py, jobs/test_no_locks.py, sweeps/, services/,
# cluster/test_task_ends.py, runs/test_record_writer.py, browser/test_sign_in.py, pictures/files),
# and one shows that the soak runs.
@pytest.mark.variant
def test_killed_at_any_moment_a_run_ends_in_the_same_bits(place):
    nothing_lost(kills.kills(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_uploads_are_read_or_refused_in_a_sentence_in_bounded_time_and_memory(place):
    nothing_lost(uploads.uploads(place, random.Random(SEED), 20), 20)


@pytest.mark.long
def test_sessions_of_a_server_with_few_files_are_answered(place):
    nothing_lost(sessions.sessions(place, random.Random(SEED), 3), 3)


@pytest.mark.variant
def test_runs_launched_at_once_all_end_each_in_its_turn(place):
    # Two more look at all of them together.
    nothing_lost(launches.launches(place, random.Random(SEED), 2), 2 + 2)


@pytest.mark.variant
def test_a_disk_that_fills_is_said_in_a_sentence_and_the_run_goes_on_with_room(place):
    nothing_lost(full_disk.full_disk(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_a_clock_that_is_set_does_not_make_a_training_run_look_dead(place):
    nothing_lost(clocks.clocks(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_a_run_in_groups_whose_coordinator_is_killed_ends_in_the_same_bits(place):
    nothing_lost(groups.groups(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_a_run_on_slurm_whose_follower_is_killed_ends_in_the_same_bits(place):
    nothing_lost(tasks.tasks(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_a_sweep_whose_workers_are_killed_has_the_trials_of_an_undisturbed_one(place):
    nothing_lost(sweeps.kill_sweeps(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_a_sweep_waits_for_its_database_to_be_started_again(place):
    nothing_lost(sweep_storages.kill_databases(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_a_sweep_whose_disk_was_full_is_resumed_once_there_is_room(place):
    nothing_lost(sweep_storages.fill_sweep_disks(place, random.Random(SEED), 1), 1)


@pytest.mark.variant
def test_on_a_disk_without_locks_nothing_is_made_or_changed(place):
    nothing_lost(no_locks.try_without_locks(place, random.Random(SEED), 8), 8)


@pytest.mark.variant
def test_a_newcomer_signs_in_beside_hundreds_of_silent_connections(place):
    nothing_lost(sockets.open_silent_sockets(place, random.Random(SEED), 4), 4)


@pytest.mark.variant
def test_on_a_slow_disk_a_run_killed_at_an_operation_ends_in_the_same_bits(place):
    nothing_lost(slow_disk.slow_disk(place, random.Random(SEED), 1), 1)


def test_the_table_says_what_was_tried_survived_and_lost(capsys):
    row, other = Row("kills"), Row("disk", skipped="needs root")
    with row.attempt("at 1.5 s"):
        expect(True, "not seen")
    with row.attempt("at 2.5 s"):
        raise LostError("other bits")
    with row.attempt():
        raise ZeroDivisionError
    assert (row.tried, row.survived) == (3, 1)
    lines = [line.split() for line in table([row, other]).splitlines()]
    assert lines[1] == ["kills", "3", "1", "2", "0"]
    assert lines[2] == ["disk", "skipped:", "needs", "root"]
    assert lines[3] == ["LOST", "kills", "2", "at", "2.5", "s:", "other", "bits"]
    assert "ZeroDivisionError()" in lines[4]
    assert "kills 2 at 2.5 s" in capsys.readouterr().err
