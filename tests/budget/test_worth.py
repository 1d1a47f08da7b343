"""Cheaper ensembles of a run, and how many independent members they are worth."""

import json
import math

import jax
import numpy as np
import pytest
from click.testing import CliRunner, Result
from flax import linen as nn

from ensemble import runs
from ensemble.analysis.planning.equivalents import MemberEquivalent
from ensemble.budget.cheap_ensembles import CheapEnsemble, iterate_cheap_ensembles
from ensemble.budget.worth import CheapEnsembleWorth, CheapEnsembleWorths, measure_cheap_ensembles
from ensemble.cli.program import main
from ensemble.datasets import load_dataset
from ensemble.engine import sample_probabilities
from ensemble.engine.networks.registry import bind_network
from ensemble.errors import ConfigError, RunError
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.history import write_predictions
from ensemble.wording.verdicts import cheaper_ensembles as words
from tests.comparison.drawn import finished, imported, probabilities

CYCLIC = {"members": 4, "epochs": 6, "schedule": "cyclic", "cycles": 3}


def call(*said: str) -> Result:
    return CliRunner().invoke(main, ["worth", *said], catch_exceptions=False)


def by_kind(run: runs.Run, passes: int = 0) -> dict[str, CheapEnsemble]:
    return {
        f"{one.kind} {one.networks}": one
        for one in iterate_cheap_ensembles(run, passes)
        if isinstance(one, CheapEnsemble)
    }


def test_snapshots_are_the_predictions_at_the_ends_of_cycles() -> None:
    run = finished(CYCLIC, epochs=6)
    found = by_kind(run)
    assert found["snapshots 3"].epochs == (2, 4, 6)
    each = [runs.read_run_predictions(run.id, epoch) for epoch in (2, 4, 6)]
    np.testing.assert_allclose(found["snapshots 3"].probabilities, np.mean(each, 0), atol=1e-7)
    last = [runs.read_run_predictions(run.id, epoch) for epoch in (4, 5, 6)]
    np.testing.assert_allclose(found["last 3"].probabilities, np.mean(last, 0), atol=1e-7)
    assert sorted(found) == ["last 2", "last 3", "last 5", "member 1", "snapshots 3"]
    locate_epoch_file(run.path, "predictions", 4).unlink()
    assert sorted(by_kind(run)) == ["last 2", "member 1", "snapshots 2"]


def test_a_member_is_worth_one_and_k_epochs_that_are_as_good_as_independent_are_worth_k() -> None:
    run, other = (finished({"members": 8}, 1, draw=draw) for draw in (1, 2))
    assert measure_cheap_ensembles(run).rows[0].equivalent.value == pytest.approx(1)
    for epoch in (2, 3):  # drawn anew, and no better: each epoch is another member
        write_predictions(run.path, epoch, probabilities(100 * epoch, 8))
    found = {one.networks: one.equivalent for one in measure_cheap_ensembles(run, other).rows}
    for asked in (1, 2, 3):
        assert found[asked].low <= asked <= found[asked].high
    for asked in (2, 3):
        assert found[asked].value == pytest.approx(asked, abs=0.35)


def test_the_command_says_it_in_a_sentence_and_as_json() -> None:
    run = finished(CYCLIC, epochs=6)
    said = call(run.id)
    assert said.exit_code == 0
    assert "3 snapshots" in said.stdout
    assert " is worth " in said.stdout or "cannot be told from these test images" in said.stdout
    assert "expect less on new ones" in said.stdout
    found = json.loads(call(run.id, "--json").stdout)
    assert (found["run_id"], found["against"], found["members"]) == (run.id, run.id, 4)
    assert found["rows"][0]["worth"] == pytest.approx(1)
    assert found["rows"][1]["epochs"] == [2, 4, 6]


def test_more_than_all_members_is_no_number_in_json() -> None:
    run, weak = finished(CYCLIC, epochs=6, skill=5), finished({"members": 2}, skill=0.5)
    row = json.loads(call(run.id, "--against", weak.id, "--json").stdout)["rows"][0]
    assert (row["worth"], row["high"]) == (None, None)
    found = measure_cheap_ensembles(run, weak).rows[0]
    assert math.isinf(found.equivalent.value)
    assert words.describe_ensemble_worth(found) == "One member as it is is worth more than 2 independent members."


def test_what_the_images_cannot_tell_is_said_to_be_so() -> None:
    def held(low: float, high: float) -> str:
        row = CheapEnsembleWorth("snapshots", (2, 4), 2, MemberEquivalent(1.7, low, high, 6))
        return words.describe_best_cheaper_ensemble(CheapEnsembleWorths((row,), "x", True, 6, 6, False, ()))

    assert held(1.4, 2.1) == ("This snapshot ensemble is worth 1.7 independent members (95 %: 1.4 to 2.1).")
    assert held(0.0, math.inf).startswith("Too few test images or members to say what cheaper ensembles are worth")
    assert "less than 1 to 2.1" in held(0.0, 2.1)


@pytest.mark.parametrize(("settings", "said"), [({"members": 1}, "has one member, and nothing says what a second is")])
def test_what_cannot_be_judged_is_said(settings: dict[str, int], said: str) -> None:
    assert said in call(finished(settings).id).stderr
    with pytest.raises(RunError, match="trained elsewhere"):
        measure_cheap_ensembles(imported())
    with pytest.raises(RunError, match="no predictions yet"):
        measure_cheap_ensembles(finished(epochs=1, settings={"members": 2}), runs.create_run(finished().config))


class Dropped(nn.Module):
    """Half of its inputs are left out as it learns."""

    classes: int

    @nn.compact
    def __call__(self, x: jax.Array, train: bool) -> jax.Array:
        x = nn.Dropout(0.5, deterministic=not train)(x.reshape(len(x), -1))
        return nn.Dense(self.classes)(x)


@pytest.mark.long
def test_dropout_is_sampled_with_draws_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_NETWORKS", f"{__name__}:Dropped")
    network = bind_network(f"{__name__}:Dropped", (28, 28, 1), 10)
    params = jax.vmap(network.init)(jax.random.split(jax.random.key(0), 2))
    images = load_dataset("digits").test_images[:80]
    found = sample_probabilities(network, params, images, passes=20)
    assert found.shape == (2, 80, 10)
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(found, sample_probabilities(network, params, images, 20))
    # Against masks drawn by NumPy: the same mean, to what 20 and 300 draws can tell.
    kernel, bias = (np.asarray(params["Dense_0"][name][1]) for name in ("kernel", "bias"))
    flat, draws = images.reshape(80, -1) / 255, np.random.default_rng(0)
    masks = draws.random((300, *flat.shape), np.float32) < 0.5
    logits = np.einsum("tnp,pc->tnc", masks * (2 * flat).astype(np.float32), kernel) + bias
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    wanted = powers / powers.sum(-1, keepdims=True)
    error = wanted.std(0) * math.sqrt(1 / 20 + 1 / 300)
    z = (found[1] - wanted.mean(0)) / np.maximum(error, 1e-6)
    assert abs(z.std() - 1) < 0.15, "as far apart as two sets of draws are"
    with pytest.raises(ConfigError, match="has no dropout: there is nothing to sample"):
        sample_probabilities(bind_network("mlp", (28, 28, 1), 10), params, images, 2)
