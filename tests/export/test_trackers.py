"""Curves and figures for trackers of experiments, read back by their own readers."""

import importlib.util
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from ensemble import runs
from ensemble.export import export_members
from ensemble.export.tensorboard_events import FILE_NAME, create_free_folder
from ensemble.storage.folders import runs_folder
from tests.documents import REPO
from tests.export.drawn import create_drawn_run
from tests.export.elsewhere import assert_no_trace, call_export

PAGE = (REPO / "docs" / "take_it_away.md").read_text("utf-8")
MEMBERS = 3


def create_run_with_history() -> runs.Run:
    """A run of two epochs whose members have curves, one of them without a loss at first."""
    run = create_drawn_run("logistic", members=MEMBERS)
    lines = [
        {
            "kind": "epoch",
            "epoch": epoch,
            "progress": float(epoch),
            "step": 10 * epoch,
            "seconds": 2.0 * epoch,
            "train_loss": [1.5 / epoch, None if epoch == 1 else 0.5, 1.0],
            "train_accuracy": [0.5, 0.6, 0.7],
            "test_loss": [1.0 / epoch, 2.0 / epoch, 3.0],
            "test_accuracy": [0.25 * epoch, 0.125, 0.5],
            "ensemble_test_nll": 0.75 / epoch,
            "ensemble_test_accuracy": 0.25 * epoch,
        }
        for epoch in (1, 2)
    ]
    (run.path / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return runs.find_run(run.id)


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The steps and values of each tag, as TensorBoard itself reads them."""
    accumulator = EventAccumulator(str(folder)).Reload()
    return {
        tag: [(event.step, event.value) for event in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_reads_every_curve(tmp_path: Path) -> None:
    run = create_run_with_history()
    folder = tmp_path / "board"
    said = call_export(run.id, str(folder), "--to", "tensorboard")
    assert {one.name for one in folder.iterdir()} == {"ensemble", *(f"member-{m + 1}" for m in range(MEMBERS))}
    ensemble_scalars = read_scalars(folder / "ensemble")
    assert ensemble_scalars["test/nll"] == [(1, 0.75), (2, 0.375)]
    assert ensemble_scalars["test/accuracy"] == [(1, 0.25), (2, 0.5)]
    assert [step for step, _ in ensemble_scalars["test/ece"]] == [1, 2]
    assert read_scalars(folder / "member-1")["train/nll"] == [(1, 1.5), (2, 0.75)]
    assert read_scalars(folder / "member-2")["train/nll"] == [(2, 0.5)], "what is unknown is none"
    assert read_scalars(folder / "member-3")["test/nll"] == [(1, 3.0), (2, 3.0)]
    times = EventAccumulator(str(folder / "member-1")).Reload().Scalars("test/nll")
    assert times[1].wall_time - times[0].wall_time == pytest.approx(2)
    texts = EventAccumulator(str(folder / "ensemble")).Reload()
    (about,) = texts.Tensors("about/text_summary")
    assert b"| network | logistic |" in about.tensor_proto.string_val[0]
    # The last line has the figures of the files, and they are the run's.
    assert said["figures"]["ece"] == pytest.approx(ensemble_scalars["test/ece"][1][1])
    for name in ("brier", "ece"):
        assert said["figures"][name] == pytest.approx(said["run_figures"][name], abs=1e-6)
    assert said["difference"] is None
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {file.name for file in files} == {FILE_NAME}
    assert said["bytes"] == sum(file.stat().st_size for file in files)
    for file in files:
        assert_no_trace(file.read_bytes())


def test_events_replace_their_own_files_and_leave_the_others(tmp_path: Path) -> None:
    run = create_run_with_history()
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "notes.txt").write_text("mine")
    for _ in range(2):
        export_members(run.id, tmp_path / "board", "tensorboard", replace=True)
    assert (tmp_path / "board" / "notes.txt").read_text() == "mine"
    assert len(read_scalars(tmp_path / "board" / "member-1")["test/nll"]) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["board"]


def test_a_folder_of_events_shows_one_run_and_keeps_what_others_wrote(tmp_path: Path) -> None:
    board = tmp_path / "board"
    for folder in ("member-7", "member-8", "older/ensemble"):
        (board / folder).mkdir(parents=True)
        (board / folder / FILE_NAME).write_bytes(b"an export")
    (board / "member-8" / "events.out.tfevents.1.host").write_bytes(b"mine")
    (board / FILE_NAME).write_bytes(b"mine")
    export_members(create_run_with_history().id, board, "tensorboard", replace=True)
    left = {str(file.relative_to(board)) for file in board.rglob("*") if file.is_file() and file.stat().st_size < 10}
    assert left == {FILE_NAME, f"older/ensemble/{FILE_NAME}", "member-8/events.out.tfevents.1.host"}
    assert sorted(each.name for each in board.iterdir() if each.is_dir()) == [
        "ensemble",
        "member-1",
        "member-2",
        "member-3",
        "member-8",
        "older",
    ]


def test_names_that_are_spelt_alike_have_folders_of_their_own(tmp_path: Path) -> None:
    made = [create_free_folder(tmp_path, "rate-0-1").name for _ in range(3)]
    assert made == ["rate-0-1", "rate-0-1-2", "rate-0-1-3"]


def test_to_csv_is_format_csv(tmp_path: Path) -> None:
    run = create_run_with_history()
    said = [call_export(run.id, str(tmp_path / option), f"--{option}", "csv") for option in ("to", "format")]
    assert (tmp_path / "to").read_bytes() == (tmp_path / "format").read_bytes()
    assert said[0] == {**said[1], "file": said[0]["file"]}


def test_a_run_without_curves_says_what_it_is(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    exported = export_members(run.id, tmp_path / "board", "tensorboard")
    assert exported.figures == {}
    assert [one.name for one in (tmp_path / "board").iterdir()] == ["ensemble"]
    assert read_scalars(tmp_path / "board" / "ensemble") == {}


def check_wandb(folder: Path) -> None:
    (table,) = folder.glob("wandb/offline-run-*/files/media/table/members*.table.json")
    members = json.loads(table.read_text("utf-8"))
    assert members["columns"][:3] == ["member", "n", "accuracy"]
    assert [row[0] for row in members["data"]] == ["member 1", "member 2", "member 3"]
    (log,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    assert b"ensemble_test_accuracy" in log.read_bytes()


def check_mlflow(folder: Path) -> None:
    with sqlite3.connect(folder / "mlflow.db") as database:
        rows = database.execute(
            "select step, value from metrics where key = 'ensemble_test_accuracy' order by step"
        ).fetchall()
        figures = dict(database.execute("select key, value from metrics where step = 0"))
    database.close()
    assert rows == [(1, 0.25), (2, 0.5)]
    assert figures["n"] == 500
    (table,) = folder.glob("mlruns/*/*/artifacts/members.csv")
    assert [line.split(",")[0] for line in table.read_text("utf-8").splitlines()] == [
        "member",
        "member 1",
        "member 2",
        "member 3",
    ]


def check_trackio(folder: Path) -> None:
    with sqlite3.connect(folder / "trackio" / "ensembles.db") as database:
        rows = database.execute("select step, metrics from metrics order by step").fetchall()
    database.close()
    logged = [(step, json.loads(metrics)) for step, metrics in rows]
    curve = [(step, each["ensemble_test_accuracy"]) for step, each in logged if "ensemble_test_accuracy" in each]
    assert curve == [(1, 0.25), (2, 0.5)]
    (last,) = [each for _, each in logged if "members" in each]
    assert last["n"] == 500


# They ran with wandb 0.31.0, mlflow-skinny 3.17.2 and trackio 0.43.0, each in an environment of its
# own. None of them is required here: Trackio asks for an older Pillow, and each brings many others.
@pytest.mark.parametrize(
    ("package", "check"), [("wandb", check_wandb), ("mlflow", check_mlflow), ("trackio", check_trackio)]
)
def test_a_recipe_brings_a_run_to_a_tracker(package: str, check: Callable[[Path], None], tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)
    (recipe,) = [block for block in blocks if f"\nimport {package}\n" in block]
    assert len([line for line in recipe.splitlines() if line]) <= 11
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {package}")
    run = create_run_with_history()
    done = subprocess.run(
        [sys.executable, "-c", recipe.replace("RUN", run.id)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(REPO),
            "ENSEMBLE_RUNS": str(runs_folder()),
            "HOME": str(tmp_path / "home"),
            "TRACKIO_DIR": str(tmp_path / "trackio"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    check(tmp_path)
