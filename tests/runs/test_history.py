"""History lines and kept predictions."""

import json

import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.runs import history
from ensemble.storage.records import json_lines as json_lines


@pytest.fixture
def run():
    return runs.create_run(EnsembleConfig(members=3))


def test_a_torn_last_line_is_left_out(run):
    path = run.path / "history.jsonl"
    for step in (1, 2):
        json_lines.append_line(path, {"kind": "steps", "step": step})
    with path.open("ab") as file:
        file.write(b'{"kind": "steps", "step": 3, "train_lo')
    assert [line["step"] for line in runs.read_history(run.id)] == [1, 2]


@pytest.mark.parametrize("junk", [b"\xff\xfe\n", b"null\n", b"[1]\n", b'{"step": 1}\n', b"\n\n"])
def test_junk_is_left_out(run, junk):
    (run.path / "history.jsonl").write_bytes(junk + b'{"kind": "steps", "step": 9}\n')
    assert [line["step"] for line in runs.read_history(run.id)] == [9]


def test_no_history_yet_is_an_empty_one(run):
    assert runs.read_history(run.id) == []


def test_what_is_no_number_is_written_as_null(run):
    path = run.path / "history.jsonl"
    line = {"kind": "steps", "step": np.int64(1), "a": np.array([1.0, np.nan]), "b": np.inf}
    json_lines.append_line(path, line)
    assert json.loads(path.read_text()) == {"kind": "steps", "step": 1, "a": [1.0, None], "b": None}


def test_lines_after_a_checkpoint_are_dropped(run):
    path = run.path / "history.jsonl"
    for step in range(5):
        json_lines.append_line(path, {"kind": "steps", "step": step, "loss": 0.1 * step})
    before = path.read_text().splitlines()[:3]
    json_lines.keep_matching_lines(path, lambda line: line["step"] < 3)
    assert path.read_text().splitlines() == before


def test_predictions_come_back_as_they_were(run):
    probabilities = np.random.default_rng(0).dirichlet(np.ones(10), (3, 500)).astype(np.float32)
    for epoch in (1, 2, 12):
        history.write_predictions(run.path, epoch, probabilities / epoch)
    assert runs.list_prediction_epochs(run.id) == [1, 2, 12]
    np.testing.assert_array_equal(runs.read_run_predictions(run.id, 12), probabilities / np.float32(12))
    history.drop_predictions(run.path, after=1)
    assert runs.list_prediction_epochs(run.id) == [1]


def test_missing_or_damaged_predictions_are_said(run):
    with pytest.raises(RunError, match="no predictions of epoch 4"):
        runs.read_run_predictions(run.id, 4)
    history.write_predictions(run.path, 1, np.ones((1, 2, 10)))
    file = run.path / "predictions" / "epoch-0001.npz"
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(RunError, match="choose another epoch"):
        runs.read_run_predictions(run.id, 1)
