"""Averaged parameters: the plain mean of the epochs', kept with what they answer."""

import jax
import numpy as np
import pytest
from flax import linen as nn

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.datasets import load_dataset
from ensemble.engine import predict_probabilities
from ensemble.errors import ConfigError, RunError
from ensemble.runs.parameters import load_run_network, read_parameters
from ensemble.runs.training import weight_averages
from tests.runs.groups.inline import arrays, trained

CONFIG = EnsembleConfig(
    network="logistic", members=2, epochs=4, batch_size=256, swa_epochs=3, devices=1, validation=0.1
)


@pytest.fixture
def run() -> runs.Run:
    return trained(CONFIG)


def test_averaged_parameters_are_the_plain_mean_of_the_epochs(run: runs.Run) -> None:
    each = [read_parameters(run.id, epoch) for epoch in (2, 3, 4)]
    wanted = jax.tree.map(lambda *leaves: np.mean(np.stack(leaves), 0, np.float64), *each)
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-6),
        weight_averages.average_run_parameters(run),
        wanted,
    )
    with np.load(run.path / "average" / "parameters.npz") as file:
        kept = {name: file[name] for name in file.files}
    np.testing.assert_allclose(kept["Dense_0/kernel"], wanted["Dense_0"]["kernel"], rtol=1e-6)


def test_they_are_asked_at_the_end_of_the_run(run: runs.Run) -> None:
    found = predict_probabilities(
        load_run_network(run), weight_averages.average_run_parameters(run), load_dataset("digits").test_images
    )
    np.testing.assert_allclose(weight_averages.load_averaged_predictions(run), found, atol=1e-6)
    with np.load(run.path / "average" / "validation.npz") as file:
        assert file["probabilities"].shape == runs.read_validation_predictions(run.id, 4).shape


def test_a_run_that_averages_is_otherwise_the_same_to_the_bit(run: runs.Run) -> None:
    settings = {**CONFIG.as_dict(), "swa_epochs": 0}
    plain = trained(EnsembleConfig(**settings))
    for what in ("parameters", "predictions"):
        assert arrays(run.path, what) == arrays(plain.path, what)
    assert not (plain.path / "average").exists()
    with pytest.raises(RunError, match="averages no parameters: launch one with swa_epochs above"):
        weight_averages.average_run_parameters(plain)


@pytest.mark.long
def test_epochs_that_are_averaged_are_never_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ensemble.runs.parameters.MAX_BYTES", 1)
    run = trained(EnsembleConfig(**{**CONFIG.as_dict(), "epochs": 7}))
    assert {5, 6, 7} <= set(runs.list_member_epochs(run.id))
    assert weight_averages.load_averaged_predictions(run).shape == (2, 500, 10)


@pytest.mark.long
def test_of_a_run_in_groups_whoever_asks_makes_it(run: runs.Run) -> None:
    grouped = trained(EnsembleConfig(**{**CONFIG.as_dict(), "members": 4, "groups": 2}))
    assert grouped.state == "finished"
    assert weight_averages.load_averaged_predictions(grouped).shape == (4, 500, 10)


class Counted(nn.Module):
    """Carries what is no parameter."""

    classes: int

    @nn.compact
    def __call__(self, x: jax.Array, train: bool) -> jax.Array:
        x = nn.BatchNorm(use_running_average=not train)(x.reshape(len(x), -1))
        return nn.Dense(self.classes)(x)


def test_statistics_of_batches_are_not_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_NETWORKS", f"{__name__}:Counted")
    with pytest.raises(ConfigError, match="set swa_epochs to 0, or choose another network"):
        EnsembleConfig(network="resnet", swa_epochs=2)
    run = trained(EnsembleConfig(network=f"{__name__}:Counted", members=1, swa_epochs=2))
    assert run.state == "failed"
    assert "which cannot be averaged along with the parameters" in run.message
    with pytest.raises(ConfigError, match="set one of them to 0"):
        EnsembleConfig(swa_epochs=2, patience=1, validation=0.1)
    with pytest.raises(ConfigError, match="more than the run's 4 epochs"):
        EnsembleConfig(swa_epochs=5, epochs=4)
