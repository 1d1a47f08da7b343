"""Members of any network learn as in a plain loop of Flax and Optax, and go on after a stop."""

from dataclasses import replace

import flax
import jax
import numpy as np
import optax
import pytest

from benchmarks.speed.howto_loop import permute_epoch, split_howto_keys
from ensemble.datasets import Dataset
from ensemble.engine import Trainer, compute_activations, predict_probabilities
from ensemble.engine.draws import random_keys
from ensemble.engine.forward_pass import ForwardPass
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC
from ensemble.engine.networks.custom import linen_calls
from tests.conftest import variant
from tests.engine.conftest import devices, plainly_compiled, small_config, train_epochs
from tests.engine.networks import modules

MODULES = modules.__name__
OWN = [f"{MODULES}:{name}" for name in ("Careful", "small_resnet", "Transposed")]
# One with all that Flax knows beside layers that learn; of those that only learn plain loops are
# followed in test_howto.py and test_optimizers.py.
EVERY = [OWN[0], *map(variant, ["logistic", "lenet5", *OWN[1:]])]
MEMBERS, BATCH, RATE = 3, 8, 0.05


@pytest.fixture(scope="module")
def colour() -> Dataset:
    """Forty pictures of four kinds in colour, 13×14, to learn; ten to be tested on."""
    rng, labels = np.random.default_rng(0), np.arange(50, dtype=np.int32) % 4
    images = rng.integers(0, 120, (50, 13, 14, 3), dtype=np.uint8)
    for n, label in enumerate(labels):
        images[n, 3 * label : 3 * label + 3, :, label % 3] += 120
    return Dataset("bars", images[:40], labels[:40], images[40:], labels[40:], tuple("abcd"), "")


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_NETWORKS", ",".join(OWN))


def trainer(name: str, data: Dataset, **changes: object) -> Trainer:
    config = small_config(
        **{"network": name, "members": MEMBERS, "batch_size": BATCH, "learning_rate": RATE, **changes}
    )
    return Trainer(config, data, devices(2))


def plain_loop(name: str, data: Dataset, epochs: int) -> tuple[np.ndarray, list[dict]]:
    """Losses (epochs, S, M), and each member's variables, with nothing of the engine's."""
    module = trainer(name, data).network.create_module(4, 0, DEFAULT_ARITHMETIC)
    tx, said = optax.sgd(RATE, 0.9), linen_calls.build_mode_arguments(module, train=True)
    rng, own = split_howto_keys(0, MEMBERS)
    images = data.train_images.astype(np.float32) / 255
    still = linen_calls.build_mode_arguments(module, train=False)
    init = plainly_compiled(lambda key: module.init(key, images[:1], **still))
    states = [init(key) for key in own]
    opts = [tx.init(one["params"]) for one in states]

    @plainly_compiled
    def step(variables, opt, x, y, key):
        rest = [one for one in variables if one != "params"]

        def loss_fn(params):
            logits, after = module.apply(
                {**variables, "params": params}, x, rngs={"dropout": key}, mutable=rest, **said
            )
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), after

        (loss, after), grads = jax.value_and_grad(loss_fn, has_aux=True)(variables["params"])
        updates, opt = tx.update(grads, opt)
        return {**after, "params": optax.apply_updates(variables["params"], updates)}, opt, loss

    losses = []
    for _ in range(epochs):
        rng, input_rng = jax.random.split(rng)
        drawn = jax.random.fold_in(input_rng, random_keys.AUGMENTATION)
        for s, perm in enumerate(np.asarray(permute_epoch(input_rng, len(images), BATCH))):
            for m in range(MEMBERS):
                key = jax.random.fold_in(jax.random.fold_in(drawn, m), s)
                states[m], opts[m], loss = step(
                    states[m],
                    opts[m],
                    images[perm],
                    data.train_labels[perm],
                    jax.random.fold_in(key, random_keys.DROPOUT),
                )
                losses.append(float(loss))
    return np.reshape(losses, (epochs, -1, MEMBERS)), states


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY, ids=lambda name: name.split(":")[-1])
def test_a_member_learns_as_in_a_plain_loop_and_is_asked_as_flax_asks_it(name, colour):
    wanted, states = plain_loop(name, colour, 2)
    ours = trainer(name, colour)
    losses, state = train_epochs(ours, 2)
    np.testing.assert_allclose(losses, wanted, rtol=1e-3)
    params, network = ours.get_params(state), ours.network
    module = network.create_module(4, 0, DEFAULT_ARITHMETIC)
    images = colour.test_images.astype(np.float32) / 255
    judged, still = ours.evaluate(state), linen_calls.build_mode_arguments(module, train=False)
    ask = plainly_compiled(lambda one: jax.nn.softmax(module.apply(one, images, **still)))
    for m, variables in enumerate(states):
        # Flax's own tree, whose other collections stand beside the layers.
        flat = {**variables["params"], **{k: v for k, v in variables.items() if k != "params"}}
        for path, leaf in flax.traverse_util.flatten_dict(flat, sep="/").items():
            found = flax.traverse_util.flatten_dict(params, sep="/")[path][m]
            np.testing.assert_allclose(found, leaf, rtol=1e-2, atol=2e-4, err_msg=path)
        np.testing.assert_allclose(judged.probabilities[m], ask(variables), atol=2e-3)
    if name not in ("lenet5", *OWN[:1]):
        return
    asked = {
        "predict": predict_probabilities(network, params, colour.test_images),
        "activations": compute_activations(network, params, colour.test_images).probabilities,
        "forward": ForwardPass(network, params, 10, devices(2))(colour.test_images),
    }
    for way, found in asked.items():
        np.testing.assert_allclose(found, judged.probabilities, atol=1e-5, err_msg=way)
    mean = judged.probabilities.mean(0, dtype=np.float64)
    nll = -np.log(mean[np.arange(10), colour.test_labels]).mean()
    assert judged.ensemble_nll == pytest.approx(nll, rel=1e-5)
    assert judged.ensemble_accuracy == (mean.argmax(-1) == colour.test_labels).mean()


@pytest.mark.parametrize("name", [EVERY[0], *EVERY[2:]], ids=lambda name: name.split(":")[-1])
def test_a_stopped_one_goes_on_to_the_same_bits(name, colour):
    made = trainer(name, colour)
    straight, end = train_epochs(made, 2)
    state, _ = made.train(made.start(), 1, 0, 3)
    again = trainer(name, colour)  # as another process has it
    state = again.start(made.get(state))
    state, last = again.train(state, 1, 3, 2)
    np.testing.assert_array_equal(last.loss, straight[0, 3:].T)
    for at in range(5):  # A call a step: how steps are cut into calls changes nothing.
        state, figures = again.train(state, 2, at, 1)
        np.testing.assert_array_equal(figures.loss[:, 0], straight[1, at])
    jax.tree.map(np.testing.assert_array_equal, made.get(end), again.get(state))


@pytest.mark.long
@pytest.mark.parametrize("name", ["logistic", variant(f"{MODULES}:Transposed")])
def test_many_classes_are_learnt_and_judged_in_shares_with_the_same_figures(name, colour, monkeypatch):
    """With room for less than an epoch, or all images, at once: figures of each step and image."""
    from ensemble.engine.forms import looped_execution, stepwise_execution

    many = replace(
        colour, test_images=np.tile(colour.test_images, (13, 1, 1, 1)), test_labels=np.tile(colour.test_labels, 13)
    )
    whole = trainer(name, many)
    end, figures = whole.train(whole.start(), 1, 0, 5)
    for module, steps in ((looped_execution, 2), (stepwise_execution, 3)):
        monkeypatch.setattr(module, "PROBABILITY_BUFFER_BYTES", 4 * 4 * BATCH * 2 * steps)
    monkeypatch.setattr(looped_execution, "STEP_BUFFER_BYTES", 4 * 4 * BATCH * 2 * 2)
    tight = trainer(name, many)
    assert tight._execution.max_steps_per_call < 5
    other_end, others = tight.train(tight.start(), 1, 0, 5)
    for field, values in vars(figures).items():
        np.testing.assert_array_equal(getattr(others, field), values, err_msg=field)
    found, wanted = tight.evaluate(other_end), whole.evaluate(end)
    assert found.active is wanted.active is None
    for field, values in vars(wanted).items():
        if field != "active":
            np.testing.assert_allclose(getattr(found, field), values, rtol=1e-6, err_msg=field)


def test_bfloat16_learns_nearly_what_float32_learns(colour):
    losses = {}
    for precision in ("float32", "bfloat16"):
        made = trainer("logistic", colour, precision=precision, members=1)
        losses[precision] = made.train(made.start(), 1, 0, 2)[1].loss
    assert not np.array_equal(losses["bfloat16"], losses["float32"])
    np.testing.assert_allclose(losses["bfloat16"], losses["float32"], rtol=0.03)
