"""Runs with another optimizer, whose members differ: they stop, go on and are read like any."""

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.runs.checkpoints.members import read_progress
from tests.runs.groups.inline import arrays, timeless

CONFIG = EnsembleConfig(
    network="logistic",
    members=3,
    epochs=2,
    batch_size=256,
    optimizer="adamw",
    devices=2,
    label_smoothing=0.1,
    vary="learning_rate=0.001..0.1:log momentum=0.5,0.9 weight_decay=0..0.1",
)


class StopAt:
    """Asks to stop at its so-manieth look."""

    signalled = False

    def __init__(self, look: int) -> None:
        self._left = look

    def __call__(self) -> bool:
        self._left -= 1
        return self._left == 0

    def __enter__(self) -> "StopAt":
        return self

    def __exit__(self, *error: object) -> None:
        pass


@pytest.mark.long
def test_stopped_within_an_epoch_and_resumed_it_comes_to_the_same_bits_and_can_be_asked() -> None:
    straight = runs.execute_run(runs.create_run(CONFIG).id)
    cut = runs.execute_run(runs.create_run(CONFIG).id, stop=StopAt(2))
    assert cut.state == "stopped"
    place = read_progress(cut)
    assert place.step_in_epoch not in (0, place.steps_per_epoch)
    # What Adam remembers is kept: the steps it has done, for each member.
    assert place.state.opt_state[0].count.tolist() == [place.step] * 3
    cut = runs.execute_run(runs.requeue_run(cut.id).id)
    assert (straight.state, cut.state) == ("finished", "finished")
    for what in ("parameters", "predictions"):
        assert arrays(cut.path, what) == arrays(straight.path, what)
    ends = [[line for line in timeless(run) if line["kind"] == "epoch"] for run in (straight, cut)]
    assert ends[0] == ends[1]
    assert len({round(loss, 3) for loss in ends[0][-1]["train_loss"]}) == 3, "members differ"
    images = datasets.load_dataset("digits").test_images[:5]
    asked, kept = runs.open_members(cut.id), runs.read_run_predictions(cut.id, 2)
    np.testing.assert_allclose(asked.predict_probabilities(images), kept[:, :5], atol=1e-5)
