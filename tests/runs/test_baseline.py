"""baselines.json: the run of each dataset that others are compared with."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError, UnknownRunError
from ensemble.runs.annotations.baseline import BASELINES_FILE, read_baseline, read_baselines, write_baseline
from ensemble.storage.folders import runs_folder


def test_each_dataset_has_one_baseline_the_last_that_was_pinned() -> None:
    first, second = (runs.create_run(EnsembleConfig()).id for _ in range(2))
    other = runs.create_run(EnsembleConfig(dataset="mnist")).id
    for dataset, run_id in (("digits", first), ("mnist", other), ("digits", second)):
        write_baseline(dataset, run_id)
    assert read_baselines() == {"digits": second, "mnist": other}
    write_baseline("mnist", None)
    assert (read_baseline("digits"), read_baseline("mnist")) == (second, None)
    assert len(runs.list_runs()) == 3
    assert runs.list_unreadable_runs() == {}, "the file beside the runs is taken for none of them"


def test_a_run_that_is_deleted_is_a_baseline_no_more() -> None:
    run, gone = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig(dataset="mnist"))
    write_baseline("digits", run.id)
    write_baseline("mnist", gone.id)
    shutil.rmtree(gone.path)  # by hand
    assert read_baselines() == {"digits": run.id}
    (run.path / "status.json").write_text((run.path / "status.json").read_text().replace("queued", "stopped"))
    runs.delete_run(run.id)
    assert run.id not in (runs_folder() / BASELINES_FILE).read_text()


def test_what_is_no_run_is_not_pinned() -> None:
    with pytest.raises(UnknownRunError):
        write_baseline("digits", "digits-0101-000000")
    assert read_baselines() == {}


@pytest.mark.parametrize("text", ["", "[]", '{"digits": 3}', '{"digits": "../x"}', "{", "null"])
def test_whatever_else_is_in_the_file_is_no_baseline(text: str) -> None:
    runs_folder().mkdir(exist_ok=True)
    (runs_folder() / BASELINES_FILE).write_text(text)
    assert read_baselines() == {}


def test_of_several_that_are_pinned_at_once_none_is_lost() -> None:
    made = {
        name: runs.create_run(EnsembleConfig(dataset=name)).id
        for name in ("digits", "mnist", "kmnist", "fashion_mnist")
    }
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_baseline, made, made.values()))
    assert json.loads((runs_folder() / BASELINES_FILE).read_text()) == made


def test_a_disk_that_refuses_gives_a_sentence() -> None:
    run = runs.create_run(EnsembleConfig())
    (runs_folder() / BASELINES_FILE).mkdir()  # refused to an administrator, too
    with pytest.raises(RunError, match="The baseline could not be saved"):
        write_baseline("digits", run.id)
    (runs_folder() / BASELINES_FILE).rmdir()
