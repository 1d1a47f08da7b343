"""However a run's members are shared out, they and what they predict are the same to the bit."""

from typing import Any

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer, choose_devices
from ensemble.runs import Run
from tests.runs.groups.inline import arrays, in_groups, timeless, trained


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def by_groups(folder: str) -> dict[int, Run]:
    """The same ensemble in one process, and in two and four groups, with images held out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", folder)
        return {count: trained(in_groups(count, validation=0.1)) for count in (1, 2, 4)}


@pytest.fixture(autouse=True)
def where_they_are(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", folder)


@pytest.mark.parametrize("what", ["predictions", "validation", "parameters"])
@pytest.mark.parametrize("groups", [2, 4])
def test_members_and_predictions_are_those_of_one_process(by_groups: dict[int, Run], groups: int, what: str) -> None:
    whole = arrays(by_groups[1].path, what)
    assert len(whole) >= 2
    assert arrays(by_groups[groups].path, what) == whole


def test_the_history_does_not_tell_how_many_groups_there_were(by_groups: dict[int, Run]) -> None:
    assert timeless(by_groups[2]) == timeless(by_groups[4])
    kinds = [line["kind"] for line in timeless(by_groups[2])]
    assert kinds == (["steps"] * 4 + ["epoch"]) * 2


def test_an_epoch_is_told_as_one_process_tells_it(by_groups: dict[int, Run]) -> None:
    def ends(run: Run) -> list[dict[str, Any]]:
        return [line for line in timeless(run) if line["kind"] == "epoch"]

    for alone, shared in zip(ends(by_groups[1]), ends(by_groups[4]), strict=True):
        assert alone.keys() == shared.keys()
        for name in alone.keys() - {"kind", "ensemble_train_nll", "ensemble_train_accuracy"}:
            np.testing.assert_allclose(shared[name], alone[name], rtol=1e-6)


def test_the_status_sums_the_groups_up(by_groups: dict[int, Run]) -> None:
    alone, shared = by_groups[1].status, by_groups[4].status
    assert shared.state == "finished"
    assert not shared.message
    assert (shared.epoch, shared.step, shared.steps) == (alone.epoch, alone.step, alone.steps)
    assert shared.member_test_accuracy == alone.member_test_accuracy
    assert (shared.best_epoch, shared.best_on) == (alone.best_epoch, "validation")
    assert shared.seconds > 0
    assert shared.img_member_per_s


def test_the_members_of_a_run_in_groups_can_be_asked(by_groups: dict[int, Run]) -> None:
    images = datasets.load_dataset("digits").test_images[:3]
    of_whole = runs.open_members(by_groups[1].id).predict_probabilities(images)
    members = runs.open_members(by_groups[2].id)
    assert members.epoch == 2
    assert members.steps_after == 0
    np.testing.assert_array_equal(members.predict_probabilities(images), of_whole)
    assert runs.list_member_epochs(by_groups[2].id) == (1, 2)


# With orders, draws and shifts of each member's own: engine/test_chosen_numbers.py.
@pytest.mark.long
def test_a_part_of_the_members_learns_what_it_learns_among_all() -> None:
    settings = EnsembleConfig(members=4, batch_size=16, devices=1)
    digits, devices = datasets.load_dataset("digits"), choose_devices(1)
    whole = Trainer(settings, digits, devices)
    part = Trainer(settings, digits, devices, numbers=range(2, 4))
    (all_of_them, wide), (two, narrow) = (one.train(one.start(), 1, 0, 2) for one in (whole, part))
    np.testing.assert_array_equal(narrow.loss, wide.loss[2:])
    learnt = part.get_params(two)["Conv_1"]["kernel"]
    np.testing.assert_array_equal(learnt, whole.get_params(all_of_them)["Conv_1"]["kernel"][2:])
