"""Networks of a person's own through a whole training: what was kept is asked again."""

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.members import open_members


@pytest.mark.long_cases
@pytest.mark.parametrize("factory", ["Slashed", "Narrow", "Flattened"])
def test_members_are_opened_again_from_parameters_and_from_the_checkpoint(
    factory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = f"tests.runs.own_networks:{factory}"
    monkeypatch.setenv("ENSEMBLE_NETWORKS", network)
    config = EnsembleConfig(network=network, members=2, epochs=1, batch_size=500)
    run = runs.execute_run(runs.create_run(config).id)
    assert run.state == "finished", run.message
    from_parameters, from_checkpoint = open_members(run.id, 1), open_members(run.id)
    jax.tree.map(np.testing.assert_array_equal, from_parameters.params, from_checkpoint.params)
    images = runs.load_test_set(run).images
    assert images is not None
    for members in (from_parameters, from_checkpoint):
        answers = members.predict_probabilities(images[:50])
        kept = runs.read_run_predictions(run.id, 1)[:, :50]
        np.testing.assert_allclose(answers, kept, atol=1e-5)
