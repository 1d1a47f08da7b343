"""Every member against the HOWTO's loop, all of `digits`: python -m benchmarks.training.equality

Two epochs, batch 128, momentum 0.9, at the HOWTO's rate of 0.1 and at half of it, for
M = 1, 3, 8 on 1, 2 and 8 CPU devices; the engine as a worker runs it, the loop as anybody would.
Prints the largest relative difference of a loss, and what to hold it against, since rounding grows
from step to step: how far the loop comes from itself when it takes each batch's images in reversed
order, which changes nothing but the rounding of sums; and how far the gradients of one member, at
each step of the loop at 0.1, are from float64's: the engine's, and the stock layers'.
"""

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common

RATES, MEMBERS, DEVICES, EPOCHS = (0.1, 0.05), (1, 3, 8), (1, 2, 8), 2
Tree = Any


def by_the_howto(file: Path) -> None:
    """Losses (epochs, S, M) of the HOWTO's loop at each rate, in order and reversed, to a file."""
    from benchmarks.speed import howto_loop
    from ensemble import datasets

    digits, in_order = datasets.load_dataset("digits"), howto_loop.permute_epoch

    def losses(rate: float, step: int) -> np.ndarray:
        howto_loop.permute_epoch = lambda *drawn: in_order(*drawn)[:, ::step]
        return howto_loop.train_on_one_device(
            digits.train_images,
            digits.train_labels,
            members=max(MEMBERS),
            epochs=EPOCHS,
            batch_size=128,
            learning_rate=rate,
        )[0]

    np.save(file, [[losses(rate, step) for step in (1, -1)] for rate in RATES])


def by_the_engine(rate: float, members: int, devices: int) -> np.ndarray:
    """Losses (epochs, S, M) of the engine."""
    import jax

    from ensemble import datasets
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig(members=members, epochs=EPOCHS, learning_rate=rate)
    trainer = Trainer(config, datasets.load_dataset("digits"), jax.devices()[:devices])
    state, losses = trainer.start(), []
    for epoch in range(1, EPOCHS + 1):
        state, figures = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        losses.append(figures.loss.T)
    return np.stack(losses)


def gradients(rate: float) -> dict[str, list[float]]:
    """How far from float64 the gradients of the first member are, at each step of the loop.

    Relative to the largest entry of a tensor; of all tensors the worst.
    """
    import jax
    import optax

    from benchmarks.speed import howto_loop
    from ensemble import datasets
    from ensemble.engine.networks.arithmetic import Arithmetic
    from ensemble.engine.networks.registry import bind_network

    digits = datasets.load_dataset("digits")
    images, labels = digits.train_images.astype(np.float32) / 255, digits.train_labels

    def derivative(network: Callable[[Tree, Any], Any]) -> Callable[[Tree, Any, Any], Tree]:
        def loss(params: Tree, x: Any, y: Any) -> Any:
            logits = network(params, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        return jax.jit(jax.grad(loss))

    cnn = bind_network("cnn", (28, 28, 1), 10)
    stock = derivative(lambda params, x: howto_loop.CNN().apply({"params": params}, x))
    engine_gradient = derivative(functools.partial(cnn.apply, arithmetic=Arithmetic("tower")))
    rng, keys = howto_loop.split_howto_keys(0, max(MEMBERS))
    state = howto_loop.create_train_state(keys[0], rate, 0.9)
    errors: dict[str, list[float]] = {"engine": [], "stock": []}
    for _ in range(EPOCHS):
        rng, input_rng = jax.random.split(rng)
        for batch in np.asarray(howto_loop.permute_epoch(input_rng, len(images), 128)):
            x, y = images[batch], labels[batch]
            with jax.enable_x64(True):
                exact = stock(jax.tree.map(np.float64, state.params), x.astype(np.float64), y)
            got = {"engine": engine_gradient(state.params, x, y), "stock": stock(state.params, x, y)}
            for name, grads in got.items():
                errors[name].append(float(f"{worst(grads, exact):.1e}"))
            state = state.apply_gradients(grads=got["stock"])
    return errors


def worst(grads: Tree, exact: Tree) -> float:
    """The largest difference from `exact`, relative to the largest entry of its tensor."""
    import jax

    pairs = zip(jax.tree.leaves(grads), jax.tree.leaves(exact), strict=True)
    return max(float(np.abs(np.asarray(a) - b).max() / np.abs(b).max()) for a, b in pairs)


def main() -> None:
    os.environ["JAX_NUM_CPU_DEVICES"] = str(max(DEVICES))
    if len(sys.argv) > 1:
        by_the_howto(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "howto.npy"
        command = [sys.executable, "-m", "benchmarks.training.equality", str(file)]
        subprocess.run(command, cwd=common.ROOT, check=True)
        losses = np.load(file)

    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    differences, itself = {}, {}
    for rate, (in_order, reverse) in zip(RATES, losses, strict=True):
        for members in MEMBERS:
            howto_losses = in_order[:, :, :members]
            off = np.abs(reverse[:, :, :members] / howto_losses - 1).max()
            itself[f"rate {rate}, M = {members}"] = float(f"{off:.1e}")
            for devices in DEVICES:
                off = np.abs(by_the_engine(rate, members, devices) / howto_losses - 1).max()
                differences[f"rate {rate}, M = {members}, D = {devices}"] = float(f"{off:.1e}")
    common.keep(
        "equality",
        {
            "largest_relative_difference_of_a_loss": differences,
            "of_the_howto_to_itself": itself,
            "gradients_from_float64": gradients(RATES[0]),
        },
    )


if __name__ == "__main__":
    main()
