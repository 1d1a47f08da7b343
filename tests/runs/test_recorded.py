"""Runs that an earlier version left behind: listed, asked, and gone on with as it would have."""

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets, regression, runs, shift
from ensemble.cli.program import main
from ensemble.jobs.queue import list_queued_jobs
from ensemble.machine.bench_result import find_bench_speed, read_bench_results
from tests.recorded.recording import ARRAYS, FACTS, HERE, Recording, arrays, digests, facts, machine, resume, unpack

# The same training for other instructions (xla_cpu_max_isa of AVX and SSE4_2) was up to 2e-6 off.
# A relu whose input rounds to the other side of zero parts two right trainings further than that.
ELSEWHERE = 5e-3
ROUNDING = 1e-5  # of one pass forward, by any program
PLACES = b"/tmp/", b"/home/", b"/root/", b"/work/", b"/Users/", b"/var/"
EXPECTED = json.loads((HERE / FACTS).read_text("utf-8"))


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    found = unpack(tmp_path / "recorded")
    monkeypatch.setenv("ENSEMBLE_RUNS", str(found.runs))
    return found


def call(*words: str) -> Any:
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def expected_arrays() -> dict[str, Any]:
    with np.load(HERE / ARRAYS) as file:
        return {name: file[name] for name in file.files}


def test_all_of_them_are_listed_and_can_be_asked_and_nothing_is_changed(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(recording.data))
    before, ids = digests(recording.runs), recording.ids
    rows = map(json.loads, call("runs", "list", "--json").splitlines())
    listed = {one["run_id"]: one for one in rows}
    assert {name: one["state"] for name, one in listed.items()} == {
        ids["finished"]: "finished",
        ids["stopped"]: "stopped",
    }
    assert runs.list_unreadable_runs() == {}
    assert "Recorded & finished" in call("runs", "list")
    for name in ("finished", "stopped"):
        check_run(ids[name], listed[ids[name]], epochs=2 if name == "finished" else 1)
    check_stress(ids["finished"])
    check_solve(ids["solve"])
    check_race()
    assert digests(recording.runs) == before


def check_run(run_id: str, listed: dict[str, Any], epochs: int) -> None:
    """What is listed, the history, the predictions and the members tell of the same run."""
    dataset = datasets.load_dataset("digits")
    assert json.loads(call("runs", "show", run_id))["status"]["epoch"] == epochs
    assert runs.list_prediction_epochs(run_id) == list(runs.list_member_epochs(run_id))
    closed = [line for line in runs.read_history(run_id) if line["kind"] == "epoch"]
    assert [line["epoch"] for line in closed] == list(range(1, epochs + 1))
    for epoch, line in enumerate(closed, start=1):
        kept = runs.read_run_predictions(run_id, epoch)
        right = (kept.mean(axis=0).argmax(axis=-1) == dataset.test_labels).mean()
        assert line["ensemble_test_accuracy"] == pytest.approx(right)
        # By the parameters of every epoch, and for the last by the checkpoint as well.
        for asked in [epoch, None] if epoch == epochs else [epoch]:
            members = runs.open_members(run_id, asked)
            assert (members.epoch, members.steps_after) == (epoch, 0)
            made = members.predict_probabilities(dataset.test_images[:40])
            np.testing.assert_allclose(made, kept[:, :40], atol=ROUNDING)
    assert listed["ensemble_test_accuracy"] == pytest.approx(right)


def check_stress(run_id: str) -> None:
    """The job is finished, and what it found is whole."""
    stress = shift.read_stress(run_id)
    assert (stress.state, stress.is_outdated) == ("finished", False)
    found = stress.results
    labels = datasets.load_dataset("digits").test_labels[:40]
    right = runs.read_run_predictions(run_id, 2)[:, :40].mean(axis=0).argmax(axis=-1) == labels
    assert found.clean["ensemble_accuracy"] == pytest.approx(right.mean())
    assert 1 + len(found.steps) + len(found.ood) == stress.status.total
    for one in ("known", *(one["key"] for one in found.ood)):
        assert shift.read_ood_scores(stress.run.path, one, found.tick)["member_entropy"].shape == (2, 40)


def check_solve(solve_id: str) -> None:
    """The regression has both of its traces and its sweep."""
    (solve,) = regression.list_regressions()
    assert (solve.id, solve.state) == (solve_id, "finished")
    traces = regression.read_regression_traces(solve.path)
    assert len(traces.without.objective) == len(traces.with_pmap.objective) == 5
    assert traces.with_pmap.objective == pytest.approx(traces.without.objective, rel=1e-5)
    assert [devices for devices, _ in traces.scaling] == [1, 2]


def check_race() -> None:
    """Its speeds count as those of `ensemble bench`; its job, of a kind that is gone, is not listed."""
    (result,) = read_bench_results(socket.gethostname())
    assert (result.members, set(result.rates)) == (2, {"float32", "bfloat16"})
    found = find_bench_speed([result], "float32", 4, result.devices)
    assert found is not None
    assert found.rate == result.rates["float32"]
    assert list_queued_jobs() == []


def test_the_stopped_one_goes_on_to_what_it_would_have_become(recording: Recording, two_devices_a_worker: None) -> None:
    run_id = recording.ids["stopped"]
    others = {name: one for name, one in digests(recording.runs).items() if run_id not in name}
    resume(run_id)
    run = runs.find_run(run_id)
    assert (run.state, run.status.epoch, run.status.step) == ("finished", 3, 30)
    found, made, reference = facts(run_id), arrays(run_id), expected_arrays()
    # What later versions write down besides is left out.
    found["epochs"] = [
        {name: line[name] for name in expected}
        for line, expected in zip(found["epochs"], EXPECTED["epochs"], strict=True)
    ]
    if machine() == EXPECTED["machine"]:
        assert found["epochs"] == EXPECTED["epochs"]
        assert found["bits"] == EXPECTED["bits"]
    for line, expected in zip(found["epochs"], EXPECTED["epochs"], strict=True):
        for name in line.keys() - {"kind"}:
            # One image of the 500 may tip.
            bound = 0.01 if name.endswith("accuracy") else ELSEWHERE
            np.testing.assert_allclose(line[name], expected[name], atol=bound, err_msg=name)
    assert made.keys() == reference.keys()
    for name, array in made.items():
        np.testing.assert_allclose(array, reference[name], atol=ELSEWHERE, err_msg=name)
    now = {name: one for name, one in digests(recording.runs).items() if run_id not in name}
    assert now == others


def test_what_is_recorded_names_no_folder_of_the_machine_that_made_it(recording: Recording) -> None:
    for path in recording.runs.parent.rglob("*"):
        if path.is_file():
            found = path.read_bytes()
            assert not [place for place in PLACES if place in found], path
