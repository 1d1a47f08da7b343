"""What runs on a GPU, as far as a machine without one can tell: it is lowered for CUDA here.

`python -m benchmarks.speed.gpu` runs it on one.
"""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from ensemble.engine.forms import member_programs
from ensemble.engine.forms.member_loops import compute_log_probabilities, run_train_steps
from ensemble.engine.forms.member_programs import choose_execution, choose_training_execution, map_over_lanes
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.optimizer import Hyperparameters
from ensemble.engine.step import MemberState, SharedHyperparameters, StepInputs, StepSettings, create_blank_members
from tests.conftest import variant

LANES, STEPS, BATCH, IMAGES, CLASSES = 3, 2, 4, 8, 3


def shapes_of_training(network: Any) -> Any:
    """Members, what is each one's own, spans and what all share, as `map_over_lanes` takes them."""
    members: MemberState = create_blank_members(network, LANES)
    own = (
        np.zeros((LANES, STEPS, BATCH), np.int32),
        np.zeros((LANES, 2), np.uint32),
        Hyperparameters(np.zeros((LANES, STEPS), np.float32), *np.zeros((2, LANES), np.float32)),
    )
    spans = np.zeros(LANES, np.int32), np.full(LANES, STEPS, np.int32)
    shared = (
        np.zeros((IMAGES, *network.image_shape), np.uint8),
        np.zeros(IMAGES, np.int32),
        SharedHyperparameters(*[np.float32(0)] * len(SharedHyperparameters._fields)),
    )
    return members, own, spans, shared


def train_member_of(network: Any, arithmetic: Arithmetic) -> Any:
    settings = StepSettings(network, arithmetic=arithmetic)
    return lambda state, own, span, shared: run_train_steps(settings, STEPS, state, StepInputs(*own, *shared), *span)


@pytest.mark.parametrize("execution", ["patches", "grouped", "scan"])
@pytest.mark.parametrize(
    ("name", "precision"), [("cnn", "bfloat16"), variant("cnn", "float32"), variant("lenet5", "bfloat16")]
)
def test_every_form_is_lowered_for_cuda(name: str, precision: str, execution: str) -> None:
    network, arithmetic = bind_network(name, (12, 12, 1), CLASSES), Arithmetic(execution, precision)
    train = jax.jit(map_over_lanes(train_member_of(network, arithmetic), execution, shares_first=True))
    lowered = export.export(train, platforms=["cuda"])(*shapes_of_training(network))
    assert lowered.platforms == ("cuda",)
    convolutions = lowered.mlir_module().count("stablehlo.convolution")
    assert bool(convolutions) == (execution != "patches")

    def evaluate(log_p: Any, own: Any, span: Any, shared: Any) -> Any:
        return compute_log_probabilities(network, log_p, *own, *span, *shared, arithmetic=arithmetic), ()

    blocks = np.zeros((2, BATCH, *network.image_shape), np.uint8)
    log_p = np.zeros((LANES, 2, BATCH, CLASSES), np.float32)
    spans = np.zeros(LANES, np.int32), np.full(LANES, 2, np.int32)
    params = create_blank_members(network, LANES).params
    asked = jax.jit(map_over_lanes(evaluate, execution))
    assert export.export(asked, platforms=["cuda"])(log_p, (params,), spans, (blocks,))


def test_a_gpu_trains_by_patches_as_long_as_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Card:
        def memory_stats(self) -> dict[str, int]:
            return {"bytes_limit": 10 * 2**30}

    network = bind_network("cnn", (28, 28, 1), 10)
    # 9 numbers for each of 28·28 pixels, and 9·32 for each of 14·14.
    assert network.patch_numbers == 28 * 28 * 9 + 14 * 14 * 9 * 32
    monkeypatch.setattr(member_programs.jax, "default_backend", lambda: "gpu")
    assert choose_execution(network) == "patches"
    assert choose_training_execution(network, 16, 128, cast(jax.Device, Card())) == "patches"
    assert choose_training_execution(network, 64, 4096, cast(jax.Device, Card())) == "grouped"


@pytest.mark.long
def test_members_that_share_an_order_learn_what_they_learn_with_orders_of_their_own() -> None:
    draw = np.random.default_rng(0)
    network = bind_network("cnn", (8, 8, 1), CLASSES)
    steps = train_member_of(network, Arithmetic("patches", "float32"))
    members, (order, keys, hyper), spans, shared = shapes_of_training(network)
    members = jax.tree.map(lambda leaf: np.float32(draw.normal(size=leaf.shape) * 0.1), members)
    order = np.broadcast_to(draw.integers(0, IMAGES, order.shape[1:], np.int32), order.shape)
    hyper = hyper._replace(rates=np.full((LANES, STEPS), 0.1, np.float32))
    images = draw.integers(0, 256, (IMAGES, 8, 8, 1)).astype(np.uint8)
    shared = images, draw.integers(0, CLASSES, IMAGES).astype(np.int32), shared[2]
    ways = [
        jax.jit(map_over_lanes(steps, "patches", shares_first=shares))(members, (order, keys, hyper), spans, shared)
        for shares in (False, True)
    ]
    for own, common in zip(*map(jax.tree.leaves, ways), strict=True):
        np.testing.assert_allclose(own, common, rtol=1e-5, atol=1e-6)
    assert float(jnp.abs(ways[0][1].loss).min()) > 0
