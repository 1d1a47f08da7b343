"""A history that is read while it grows, and an index of the runs."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.runs.store import find_run
from ensemble.storage.folder_index import FolderIndex
from ensemble.storage.records.json_lines import append_line, keep_matching_lines, read_lines
from ensemble.storage.records.jsonl_tail import JsonlTail


@pytest.mark.parametrize("seed", range(8))
def test_the_tail_has_what_is_in_the_file(tmp_path: Path, seed: int) -> None:
    path, rng = tmp_path / "history.jsonl", np.random.default_rng(seed)
    tail, step = JsonlTail(path), 0
    assert tail.read_lines() == []
    for _ in range(60):
        match rng.integers(5):
            case 0:  # A resumed run: what comes again is dropped.
                kept = step - int(rng.integers(4))
                keep_matching_lines(path, lambda line, kept=kept: line["step"] <= kept)
            case 1:  # Half a line, as a reader may meet it; the rest comes next.
                row = json.dumps({"kind": "steps", "step": (step := step + 1)})
                with path.open("a") as file:
                    file.write(row[:9])
                    file.flush()
                    assert tail.read_lines() == read_lines(path)
                    file.write(row[9:] + "\n")
            case _:
                append_line(path, {"kind": "steps", "step": (step := step + 1)})
        if rng.random() < 0.7:
            assert tail.read_lines() == read_lines(path)
    assert tail.read_lines() is tail.read_lines()
    path.unlink()
    assert tail.read_lines() == []


def test_a_file_that_went_and_came_back_is_read_from_its_beginning(tmp_path: Path) -> None:
    path, aside = tmp_path / "history.jsonl", tmp_path / "aside"
    tail = JsonlTail(path)
    for step in (1, 2, 3):
        append_line(path, {"kind": "steps", "step": step})
    assert len(tail.read_lines()) == 3
    path.rename(aside)
    assert tail.read_lines() == []
    aside.rename(path)
    append_line(path, {"kind": "steps", "step": 4})
    assert tail.read_lines() == read_lines(path)


def test_what_was_forgotten_comes_again_only_where_the_file_is_another(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    tail = JsonlTail(path)
    for step in (1, 2, 3):
        append_line(path, {"kind": "steps", "step": step})
    assert len(tail.read_lines()) == 3
    assert tail.drop_lines(2) == tail.read_lines() == read_lines(path)[2:]
    append_line(path, {"kind": "steps", "step": 4})
    assert [line["step"] for line in tail.read_lines()] == [3, 4]
    assert not tail.replaced
    keep_matching_lines(path, lambda line: line["step"] < 3)
    assert [line["step"] for line in tail.read_lines()] == [1, 2]
    assert tail.replaced


def test_a_list_is_never_older_than_the_files() -> None:
    made = [runs.create_run(EnsembleConfig(seed=seed)) for seed in range(4)]
    solve = regression.create_regression(LbfgsConfig())
    rng = np.random.default_rng(0)
    for step in range(80):
        one = made[int(rng.integers(len(made)))]
        match rng.integers(4):
            case 0:
                runs.rename_run(one.id, f"name {step % 10}")
            case 1:
                old = one.path.with_name("aside")
                one.path.rename(old)
                assert one.id not in {run.id for run in runs.list_runs()}
                old.rename(one.path)
            case 2:
                config = one.path / "config.json"
                whole = config.read_text()
                config.write_text("{")
                assert list(runs.list_unreadable_runs()) == [one.id]
                config.write_text(whole)
                os.utime(config)
            case _:  # As many bytes as before, within the same tick of the disk's clock.
                write_status(one.path, replace(one.status, step=10 + step))
        assert {run.id: run for run in runs.list_runs()} == {run.id: find_run(run.id) for run in made}
        assert [one.id for one in regression.list_regressions()] == [solve.id]
    regression.delete_regression(solve.id) if not solve.active else None
    assert runs.list_unreadable_runs() == {}


def test_what_nobody_expected_of_one_run_is_in_the_log_and_the_others_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    odd, sound = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig())

    def read(name: str) -> str:
        if name == odd.id:
            raise ZeroDivisionError("a bug")
        return name

    found, errors = FolderIndex(read).list_items()
    assert found == [sound.id]
    assert f"The run “{odd.id}” cannot be read" in str(errors[odd.id])
    assert [one.exc_info[0] for one in caplog.records] == [ZeroDivisionError]
