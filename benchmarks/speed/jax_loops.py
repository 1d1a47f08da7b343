"""Competitors in JAX: this engine, the HOWTO's loop, one member by one, and the matrix product.

`python -m benchmarks.speed.jax_loops engine float32 4`, `… howto 2`, `… one_by_one` and `… product`
are competitors of `python -m benchmarks.speed` and `python -m benchmarks.speed.members` (see
turns.py). Unless noted, each has as many CPU devices as cores.
"""

import os
import sys
import time

from benchmarks.speed.turns import answer

MEMBERS, BATCH = 4, 128
# Steps between two looks at the clock. The HOWTO's loop makes each of them a call of its own.
STEPS = 6


def engine(precision: str, members: str = str(MEMBERS)) -> None:
    """Train with this project's engine, as its worker sets it up, in calls of half a second."""
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble import datasets
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig("mnist", members=int(members), batch_size=BATCH, precision=precision)
    trainer = Trainer(config, datasets.load_dataset("mnist"))
    state = trainer.start()

    def train(count: int) -> float:
        nonlocal state
        state, _ = trainer.train(state, 1, 0, count)
        return config.members * BATCH * count

    train(1)
    began = time.perf_counter()
    train(2)
    count = max(1, min(trainer.steps_per_epoch, round(1.0 / (time.perf_counter() - began))))
    answer(lambda: train(count))


def one_by_one() -> None:
    """Train one member on one CPU device: so fast are any number of members one after another."""
    os.environ["JAX_NUM_CPU_DEVICES"] = "1"
    engine("float32", "1")


def howto(members: str = "") -> None:
    """Train with the HOWTO's loop, which needs one device per member.

    Args:
      members: number of members and CPU devices; "" for as many as cores, so that 4 members on 2
        cores train in two goes of 2.
    """
    from ensemble.machine.jax_settings import count_cpu_cores

    devices = int(members or count_cpu_cores())
    # Without a larger pool its pmean starves and XLA ends the process: devices that wait hold threads.
    os.environ.update(JAX_NUM_CPU_DEVICES=str(devices), NPROC=str(max(16, 4 * devices)))
    import jax
    import numpy as np

    from benchmarks.speed import howto_loop
    from ensemble import datasets

    digits = datasets.load_dataset("mnist")
    images = np.float32(digits.train_images[: BATCH * STEPS]) / 255.0
    labels = digits.train_labels[: BATCH * STEPS]
    create, apply, update = howto_loop.pmap_train_step()
    state = create(jax.random.split(jax.random.key(0), devices), 0.1, 0.9)
    key = jax.random.key(1)

    def unit() -> float:
        nonlocal state
        state, _, _ = howto_loop.train_epoch_on_devices(state, apply, update, images, labels, BATCH, key)
        jax.block_until_ready(state.params)
        return devices * BATCH * STEPS

    answer(unit)


def product() -> None:
    """Floating-point operations of float32 matrix products, in the size that is the fastest."""
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    import jax

    from ensemble.engine.matrix_product import MatrixProduct

    sizes = [MatrixProduct(jax.local_devices(), size) for size in (1024, 1536, 2048)]
    answer(max(sizes, key=MatrixProduct.measure_flop_rate).multiply)


if __name__ == "__main__":
    {"engine": engine, "howto": howto, "one_by_one": one_by_one, "product": product}[sys.argv[1]](*sys.argv[2:])
