"""A run that went into a report and came out of it is the same run, to the bit."""

import errno
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import datasets, runs, shift
from ensemble.datasets.own import custom_registry
from ensemble.errors import NotPreparedError, PredictionsError, RunError
from ensemble.exchange import capsule
from ensemble.exchange.capsule import capsule_import, capsule_parts
from ensemble.jobs.status import write_status
from ensemble.runs.annotations.notes import read_run_note, write_run_note
from ensemble.runs.annotations.tags import write_tags
from ensemble.runs.parameters import read_parameters
from ensemble.shift.results import KNOWN_KEY, read_ood_scores
from ensemble.storage.records import line_thinning
from ensemble.storage.records.json_lines import append_line
from tests.conftest import REPO
from tests.exchange.capsule.pages import page_of, payload_of, taken_apart, there_and_back, written
from tests.pages import own_images, stressed
from tests.pages.ensembles import trained
from tests.pages.members import askable
from tests.runs.test_imported_run import imported

AT_REST = {"pid": None, "pid_created": None, "pid_ticks": None, "host": "", "seconds_left": None}


@pytest.fixture
def run() -> runs.Run:
    """A run with everything that a person may have said of it."""
    made = trained(members=2, epochs=2, name="Ours </script> <b>&amp;", validation=0.1, pid=4711)
    for epoch in (1, 2):
        append_line(
            made.path / "history.jsonl",
            {
                "kind": "epoch",
                "epoch": epoch,
                "step": epoch,
                "progress": float(epoch),
                "train_loss": [0.1 / 3, None],
                "test_loss": [0.3, 1e-17],
                "test_accuracy": [0.5, 1.0],
                "ensemble_test_accuracy": 0.75,
                "more": "ünknown",
            },
        )
    write_run_note(made.id, "A note,\n\n**bold** </script>")
    write_tags(made.id, ["for a paper", "</script>"])
    return runs.find_run(made.id)


def test_it_comes_back_to_the_bit(run: runs.Run, tmp_path: Path) -> None:
    again = there_and_back(tmp_path, run, all_epochs=True)
    assert (again.config, again.data, again.name, again.tags) == (run.config, run.data, run.name, run.tags)
    assert again.status == replace(run.status, **AT_REST)
    assert (again.state, read_run_note(again)) == (run.state, read_run_note(run))
    history = [(one.path / "history.jsonl").read_bytes() for one in (run, again)]
    assert history[0] == history[1]
    assert runs.list_prediction_epochs(again.id) == [1, 2]
    for read in (runs.read_run_predictions, runs.read_validation_predictions):
        for epoch in (1, 2):
            one, other = read(run.id, epoch), read(again.id, epoch)
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one.tobytes() == other.tobytes()
    assert runs.load_test_set(again).fingerprint == runs.load_test_set(run).fingerprint


def test_it_is_a_run_of_its_own_that_says_where_it_came_from(run: runs.Run, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in run.path.rglob("*")}
    first, second = there_and_back(tmp_path, run), there_and_back(tmp_path, run)
    assert len({run.id, first.id, second.id}) == 3
    assert (first.origin, second.origin, run.origin) == (run.id, run.id, "")
    assert runs.list_prediction_epochs(first.id) == [2]  # the last alone, but where all are asked for
    assert {path: path.stat().st_mtime_ns for path in run.path.rglob("*")} == before
    twice = there_and_back(tmp_path, first)
    assert twice.origin == first.id


def test_the_form_is_the_one_that_is_stated(run: runs.Run, tmp_path: Path) -> None:
    page = written(tmp_path, run).read_text("utf-8")
    payload = payload_of(page)
    assert f'data-sha256="{hashlib.sha256(payload).hexdigest()}"' in page
    assert page.count("</script>") == 1
    header, rest = taken_apart(payload)
    assert sum(part["length"] for part in header["parts"]) == len(rest)
    assert (header["form"], header["version"], header["id"]) == ("ensemble capsule", 1, run.id)
    (lines,) = re.findall(r"```python\n(.*?)```", (REPO / "docs" / "capsule.md").read_text(), re.S)
    found: dict[str, Any] = {}
    exec(lines.replace("report.html", str(tmp_path / "a.html")), found)
    for part in header["parts"]:
        raw = np.ascontiguousarray(found["arrays"][part["name"]])
        assert hashlib.sha256(raw).hexdigest() == part["sha256"]
    wanted = runs.read_run_predictions(run.id, 2)
    np.testing.assert_array_equal(found["arrays"]["predictions/epoch-0002"], wanted)
    text = found["arrays"]["history"].tobytes()
    assert text == (run.path / "history.jsonl").read_bytes()


def test_a_member_that_was_set_aside_stays_so(tmp_path: Path) -> None:
    made = trained(members=3, epochs=2, set_aside={1: 5})
    for epoch in (1, 2):
        with np.load(made.path / f"predictions/epoch-000{epoch}.npz") as file:
            found = file["probabilities"]
        found[1] = np.nan
        runs.history.write_predictions(made.path, epoch, found)
    again = there_and_back(tmp_path, runs.find_run(made.id))
    assert again.remaining_members() == (0, 2)
    assert runs.read_run_predictions(again.id, 2).tobytes() == runs.read_run_predictions(made.id, 2).tobytes()


def test_with_its_members_it_classifies_and_without_it_says_that_it_cannot(tmp_path: Path) -> None:
    made = askable(members=1, epochs=1, network="cnn")
    again = there_and_back(tmp_path, made, with_members=True)
    assert runs.list_member_epochs(again.id) == (1,)
    for name, found in read_parameters(made.id, 1)["Conv_0"].items():
        assert found.tobytes() == read_parameters(again.id, 1)["Conv_0"][name].tobytes()
    images = datasets.load_dataset("digits").test_images[:3]
    wanted = runs.open_members(made.id, 1).predict_probabilities(images)
    found = runs.open_members(again.id).predict_probabilities(images)
    assert found.tobytes() == wanted.tobytes()
    bare = there_and_back(tmp_path, made)
    assert runs.list_member_epochs(bare.id) == ()
    with pytest.raises(RunError, match=r"was imported from a report without its members.*--with-members"):
        runs.open_members(bare.id)
    with pytest.raises(RunError, match="does not store its members"):
        capsule.render_run_capsules([trained(members=1, epochs=1)], with_members=True)


def test_nobody_resumes_it_and_it_says_why(tmp_path: Path) -> None:
    made = trained(members=1, epochs=3, done=1, state="stopped")
    again = there_and_back(tmp_path, made)
    assert (again.state, again.can_resume, made.can_resume) == ("stopped", False, True)
    with pytest.raises(RunError, match=r"was imported from a report, which holds no checkpoints.*new one"):
        runs.requeue_run(again.id)


def test_one_that_trains_still_comes_as_far_as_it_was(tmp_path: Path) -> None:
    made = trained(members=1, epochs=3, done=1, state="training", working=True)
    again = there_and_back(tmp_path, made)
    assert (again.state, again.status.epoch) == ("stopped", 1)
    assert "written while this run was training" in again.message


def test_predictions_from_elsewhere_come_with_their_images_and_names(tmp_path: Path) -> None:
    made = imported()
    again = there_and_back(tmp_path, made)
    assert (again.state, again.config, again.data) == ("imported", made.config, made.data)
    assert (again.member_names, again.origin) == (made.member_names, made.id)
    np.testing.assert_array_equal(runs.load_test_set(again).images, runs.load_test_set(made).images)


def test_what_it_was_tested_on_comes_along_where_its_dataset_is_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    name = own_images.add("mine")
    made = trained(dataset=name, members=2, epochs=1)
    page, known = written(tmp_path, made), runs.load_test_set(made)
    (custom_registry.custom_datasets_folder() / name).rename(tmp_path / "gone")
    with pytest.raises(NotPreparedError):
        runs.load_test_set(runs.find_run(made.id))
    again = capsule.import_capsule(capsule.read_report_capsules(page)[0])
    found = runs.load_test_set(again)
    assert again.data == made.data
    np.testing.assert_array_equal(found.labels, known.labels)
    np.testing.assert_array_equal(found.images, known.images)
    assert runs.read_run_predictions(again.id, 1).shape == (2, 200, 10)


def test_what_was_measured_under_shift_comes_along(tmp_path: Path) -> None:
    made = trained(members=2)
    wanted = stressed.measured(made)
    again = there_and_back(tmp_path, made)
    found = shift.read_stress(again.id)
    assert (found.results, found.state, found.is_outdated) == (wanted, "finished", False)
    for key in (KNOWN_KEY, *stressed.OOD):
        before, after = (read_ood_scores(one.path, key, wanted.tick) for one in (made, again))
        assert before
        assert after
        assert {name: scores.tobytes() for name, scores in before.items()} == {
            name: scores.tobytes() for name, scores in after.items()
        }
    with pytest.raises(RunError, match="was imported from a report"):
        shift.queue_stress(again.id)


def test_scores_in_a_report_of_an_earlier_version_are_imported_by_their_new_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trained(members=2)
    wanted = stressed.measured(made)
    old_names = {"entropy": "entropy", "epistemic": "information", "aleatoric": "mean_member_entropy"}
    old_names["member_entropy"] = "member_entropy"

    def read_old_scores(folder: Path, key: str, tick: int) -> dict[str, np.ndarray]:
        scores = read_ood_scores(folder, key, tick)
        assert scores
        return {old: scores[name] for name, old in old_names.items()} | {"doubt": 1 - scores["confidence"]}

    monkeypatch.setattr(capsule_parts, "read_ood_scores", read_old_scores)
    again = there_and_back(tmp_path, made)
    before, after = (read_ood_scores(one.path, KNOWN_KEY, wanted.tick) for one in (made, again))
    assert before
    assert after
    assert after.keys() == {*old_names, "confidence"}
    for name, scores in after.items():
        np.testing.assert_allclose(scores, before[name], rtol=1e-6)


def test_several_runs_lie_in_one_file_in_their_order(run: runs.Run, tmp_path: Path) -> None:
    other = trained(members=1, epochs=1)
    found = capsule.read_report_capsules(written(tmp_path, other, run))
    assert [one.header.id for one in found] == [other.id, run.id]
    twice = tmp_path / "twice.html"
    twice.write_text(page_of(*capsule.render_run_capsules([run, run])))
    with pytest.raises(PredictionsError, match=rf"twice.html: .*{run.id} twice"):
        capsule.read_report_capsules(twice)


def test_a_run_without_an_epoch_is_kept_too(tmp_path: Path) -> None:
    made = trained(members=1, epochs=2, done=0, state="failed", message="Out of memory.")
    write_status(made.path, made.status)
    again = there_and_back(tmp_path, made)
    assert (again.state, again.message) == ("failed", "Out of memory.")
    assert runs.list_prediction_epochs(again.id) == []


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left"), PredictionsError("no"), KeyboardInterrupt("no")]
)
def test_where_it_cannot_be_written_nothing_is_left(
    run: runs.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    (found,) = capsule.read_report_capsules(written(tmp_path, run))

    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(capsule_import, "write_status", full)
    there = sorted(run.path.parent.iterdir())
    with pytest.raises((RunError, PredictionsError, KeyboardInterrupt), match=r"make room|no"):
        capsule.import_capsule(found)
    assert sorted(run.path.parent.iterdir()) == there


def test_a_long_history_goes_along_thinned_with_every_end_of_an_epoch(
    run: runs.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_thinning, "MOST_STEP_ROWS", 50)
    rows = [json.dumps({"kind": "steps", "step": step, "progress": step / 500}) for step in range(1, 1001)]
    history = run.path / "history.jsonl"
    history.write_text("\n".join(rows[:500]) + "\n" + history.read_text() + "\n".join(rows[500:]) + "\n")
    lines = runs.read_history(there_and_back(tmp_path, run).id)
    assert [line["epoch"] for line in lines if line["kind"] == "epoch"] == [1, 2]
    steps = [line["step"] for line in lines if line["kind"] == "steps"]
    assert len(steps) <= 51
    assert (steps[0], steps[-1]) == (1, 1000)
