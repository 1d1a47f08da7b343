"""Every member learns as it would in the HOWTO's own loop.

On 96 of `digits`, to be quick; `python -m benchmarks.training.equality` compares on all of it.
"""

import numpy as np
import pytest

from benchmarks.speed import howto_loop
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from tests.conftest import variant
from tests.engine.conftest import devices, train_epochs

# At the HOWTO's rate of 0.1 training on so few digits is chaotic: rounding grows a
# thousandfold in 20 steps, on any two machines. Half that rate keeps the comparison sharp.
RATE = 0.05
BATCH = 16


@pytest.fixture(scope="module")
def reference(few, pytestconfig):
    losses, states = howto_loop.train_on_one_device(
        few.train_images,
        few.train_labels,
        members=8 if pytestconfig.getoption("--all") else 3,
        epochs=2,
        batch_size=BATCH,
        learning_rate=RATE,
    )
    return losses, states


# All nine pairs of 1, 3, 8 and 1, 2, 8: python -m benchmarks.training.equality
@pytest.mark.parametrize(("members", "device_count"), [(3, 2), variant(1, 1), variant(8, 8)])
def test_losses_equal_the_howto_loop(few, reference, members, device_count):
    config = EnsembleConfig(members=members, epochs=2, batch_size=BATCH, learning_rate=RATE)
    losses, _ = train_epochs(Trainer(config, few, devices(device_count)), 2)
    wanted = reference[0][:, :, :members]
    assert losses.shape == wanted.shape == (2, 6, members)
    np.testing.assert_allclose(losses, wanted, rtol=1e-3)


def test_parameters_equal_the_howto_loop(few, reference):
    import jax

    config = EnsembleConfig(members=3, epochs=2, batch_size=BATCH, learning_rate=RATE)
    trainer = Trainer(config, few, devices(2))
    _, state = train_epochs(trainer, 2)
    params = trainer.get(state).params
    for member in range(3):
        ours = jax.tree.map(lambda leaf, m=member: leaf[m], params)
        theirs = reference[1][member].params
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-4), ours, theirs)
