"""Members that differ: one that diverges is set aside, the others go on, also after a stop."""

from dataclasses import replace

import numpy as np
import pytest

import ensemble
from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.exchange.prediction_export import collect_export_arrays
from ensemble.runs import Run, Status
from ensemble.runs.parameters import read_parameters

# The third member's parameters are multiplied by about -9 at each step: within the second epoch
# they leave float32's range.
CONFIG = EnsembleConfig(
    members=3,
    network="logistic",
    epochs=3,
    batch_size=50,
    devices=1,
    validation=0.1,
    momentum=0.0,
    vary="learning_rate=0.1,0.05,10 weight_decay=0,0,1",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run, without an interruption."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        return runs.execute_run(runs.create_run(CONFIG).id)


@pytest.fixture(autouse=True)
def beside_it(made: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(made.path.parent))


def test_the_others_go_on_to_the_end_and_it_is_said_who_was_set_aside(made: Run) -> None:
    assert made.state == "finished"
    ((place, step),) = made.status.set_aside.items()
    assert place == 2
    assert made.message == (
        f"Diverged (the loss is no longer a number): member 3 at step {step}; the other 2 continued."
    )
    lines = runs.read_history(made.id)
    ends = [line for line in lines if line["kind"] == "epoch"]
    assert [line["epoch"] for line in ends] == [1, 2, 3]
    assert "set_aside" not in ends[0]
    for line in ends[1:]:
        assert line["set_aside"] == [2]
        assert line["test_loss"][2] is None
        assert line["member_disagreement"][2] is None
        assert line["ensemble_test_loss"] == pytest.approx(np.mean(line["test_loss"][:2]))
        assert line["ensemble_validation_nll"] > 0
    assert made.status.member_test_accuracy[2] is None


def test_what_is_kept_is_the_ensemble_of_the_others(made: Run) -> None:
    found = runs.read_run_predictions(made.id, 3)
    labels = runs.load_test_set(made).labels
    assert len(found) == len(runs.read_validation_predictions(made.id, 3)) == 2
    right = (found.astype(np.float64).mean(axis=0).argmax(-1) == labels).mean()
    assert right == pytest.approx(made.status.ensemble_test_accuracy)
    images = runs.load_test_set(made).images
    asked = runs.open_members(made.id).predict_probabilities(images[:20])
    np.testing.assert_allclose(asked, found[:, :20], atol=1e-5)
    assert len(runs.open_members(made.id, 2).predict_probabilities(images[:2])) == 2
    assert len(runs.open_members(made.id, 1).predict_probabilities(images[:2])) == 3
    told = collect_export_arrays(made, (1, 3), stacked=True, images=False)
    assert told["probabilities"].shape[:2] == (2, 2)
    assert told["member_names"].tolist() == ["member 1", "member 2"]


def test_a_run_that_was_stopped_goes_on_without_them_to_the_same_bits(made: Run) -> None:
    again = runs.create_run(CONFIG)
    step = made.status.set_aside[2]

    def stop_after_it(status: Status) -> None:
        if status.step >= step and status.state == "training":
            runs.request_run_stop(again.id)

    stopped = runs.execute_run(again.id, stop_after_it, synchronous=True)
    assert stopped.state == "stopped"
    assert stopped.status.set_aside == {2: step}
    runs.requeue_run(again.id)
    ended = runs.execute_run(again.id)
    assert (ended.state, ended.status.set_aside) == ("finished", {2: step})
    np.testing.assert_array_equal(runs.read_run_predictions(again.id, 3), runs.read_run_predictions(made.id, 3))
    for name, array in read_parameters(again.id, 3)["Dense_0"].items():
        np.testing.assert_array_equal(array, read_parameters(made.id, 3)["Dense_0"][name])


def test_where_nobody_is_left_the_run_has_diverged() -> None:
    run = runs.execute_run(runs.create_run(replace(CONFIG, vary="learning_rate=9.5,10", weight_decay=1.0)).id)
    assert run.state == "diverged"
    last = max(run.status.set_aside.values())
    assert f"the last one failed at step {last}" in run.message
    assert run.status.step == last - 1


def test_members_that_are_alike_end_with_the_first_that_diverges() -> None:
    alike = replace(CONFIG, vary="", learning_rate=10.0, weight_decay=1.0)
    run = runs.execute_run(runs.create_run(alike).id)
    assert run.state == "diverged"
    assert run.status.set_aside == {}
    assert "try a third of it" in run.message


def test_a_notebook_has_the_best_value_and_the_members_names(made: Run) -> None:
    shown = ensemble.open_run(made.id)
    assert shown.predictions().member_names == ("member 1 · rate 0.1 · decay 0", "member 2 · rate 0.05 · decay 0")
    found = shown.best_value()
    assert found.values.tolist() == [0.05, 0.1]
    last = runs.read_history(made.id)[-1]
    assert sorted(found.loss) == pytest.approx(sorted(last["validation_loss"][:2]), rel=1e-4)
    with pytest.raises(ConfigError, match="choose learning_rate or weight_decay"):
        shown.best_value("momentum")
