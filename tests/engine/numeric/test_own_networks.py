"""A person's own network learns numbers: told its two outputs, refused where it has others."""

import jax
import numpy as np
import pytest

from ensemble.engine import choose_devices
from ensemble.engine.numeric import NumericTrainer
from ensemble.errors import ConfigError
from tests.engine.numeric.test_plain_loop import build_config, draw_rows

MODULE = "tests.engine.numeric.own_networks"


def build_trainer(monkeypatch: pytest.MonkeyPatch, name: str) -> NumericTrainer:
    monkeypatch.setenv("ENSEMBLE_NETWORKS", f"{MODULE}:{name}")
    config = build_config(network=f"{MODULE}:{name}", members=2)
    return NumericTrainer(config, draw_rows(), choose_devices(1))


@pytest.mark.long
def test_it_learns_with_dropout_and_running_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = build_trainer(monkeypatch, "Residual")
    state = trainer.init_members()
    before = trainer.get(state).params["batch_stats"]
    losses = []
    for epoch in range(1, 16):
        state, metrics = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        losses.append(metrics.loss.mean())
    assert losses[-1] < losses[0] - 0.3
    params = trainer.get(state).params
    moved = jax.tree.map(lambda old, new: np.abs(new - old).max(), before, params["batch_stats"])
    assert min(jax.tree.leaves(moved)) > 0
    answer = trainer.predict(state, draw_rows().features)
    again = trainer.predict(state, draw_rows().features)
    assert answer is not None
    assert again is not None
    np.testing.assert_array_equal(answer[0], again[0])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("OneOutput", r"gives \(2, 1\) for 2 rows: it has to give \(2, 2\), a mean and what"),
        ("OfImages", "does not take rows of 3 numbers"),
    ],
)
def test_one_that_does_not_fit_is_refused_in_a_sentence(name: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=words):
        build_trainer(monkeypatch, name)
