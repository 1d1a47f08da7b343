"""Every network's training speed beside the same network in plain JAX: this, M = 1 and 4.

`python -m benchmarks.training.layouts` prints a table and keeps it. The engine trains as its
worker does, as many CPU devices as cores; plain JAX as people write it: one `jax.jit` of a training
step (Flax, optax), called in a Python loop for one member after the other, batches gathered on
the host, JAX's own settings. Both are processes that take turns, on random images of the
network's size. `--json` prints the figures alone and keeps nothing.
"""

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any

from benchmarks import common
from benchmarks.speed.turns import Competitor, answer, ratio, take_turns

GREY, COLOUR = (28, 28, 1), (32, 32, 3)
SHAPES = {"logistic": GREY, "mlp": GREY, "cnn": GREY, "lenet5": GREY, "resnet": COLOUR, "resnet_groupnorm": COLOUR}
MEMBERS, BATCH, IMAGES, CLASSES = (1, 4), 128, 4096, 10
ROUNDS, SECONDS = 7, 1.5
# A busy machine gives whoever has more threads more of itself: there, count processor seconds.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
RATE, MOMENTUM = 0.01, 0.9


def images_of(name: str) -> Any:
    """Random images and labels of the size that the network is asked in."""
    import numpy as np

    from ensemble.datasets import Dataset

    draw = np.random.default_rng(0)
    images = draw.integers(0, 256, (IMAGES, *SHAPES[name]), np.uint8)
    labels = draw.integers(0, CLASSES, IMAGES).astype(np.int32)
    names = tuple(str(number) for number in range(CLASSES))
    few = slice(0, BATCH)
    return Dataset(
        name="digits",
        class_names=names,
        train_images=images,
        train_labels=labels,
        test_images=images[few],
        test_labels=labels[few],
        source="random",
    )


def engine(name: str, members: int, clock: str, form: str | None) -> None:
    """This project's engine, in calls of half a second."""
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig("digits", members=members, batch_size=BATCH, network=name)
    trainer = Trainer(config, images_of(name), execution=form)
    state = trainer.start()

    def train(count: int) -> float:
        nonlocal state
        state, _ = trainer.train(state, 1, 0, count)
        return members * BATCH * count

    train(1)
    began = time.perf_counter()
    train(2)
    count = max(1, min(trainer.steps_per_epoch, round(1.0 / (time.perf_counter() - began))))
    answer(lambda: train(count), CLOCKS[clock])


def plain(name: str, members: int, clock: str, _: str | None) -> None:
    """The same network in an eager loop: a compiled step a call, one member after the other."""
    import jax
    import numpy as np
    import optax

    from benchmarks.speed import howto_loop
    from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC
    from ensemble.engine.networks.custom import linen_calls
    from ensemble.engine.networks.registry import bind_network

    data = images_of(name)
    module = (
        howto_loop.CNN()
        if name == "cnn"
        else bind_network(name, SHAPES[name], CLASSES).create_module(CLASSES, 0, DEFAULT_ARITHMETIC)
    )
    optimizer = optax.sgd(RATE, MOMENTUM)

    @jax.jit
    def step(variables: Any, opt_state: Any, x: Any, y: Any) -> Any:
        def loss_of(params: Any) -> Any:
            logits, rest = linen_calls.apply_for_training(module, {**variables, "params": params}, x, None)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), rest

        (loss, rest), slope = jax.value_and_grad(loss_of, has_aux=True)(variables["params"])
        updates, opt_state = optimizer.update(slope, opt_state)
        params = optax.apply_updates(variables["params"], updates)
        return {**rest, "params": params}, opt_state, loss

    begin = np.zeros((1, *SHAPES[name]), np.float32)
    every = [linen_calls.init_variables(module, jax.random.key(m), begin) for m in range(members)]
    states = [(variables, optimizer.init(variables["params"])) for variables in every]
    draw = np.random.default_rng(1)

    def unit() -> float:
        batch = draw.integers(0, IMAGES, BATCH)
        x, y = np.float32(data.train_images[batch]) / 255.0, data.train_labels[batch]
        for m, (variables, opt_state) in enumerate(states):
            *moved, _ = step(variables, opt_state, x, y)
            states[m] = moved[0], moved[1]
        jax.block_until_ready(states)
        return members * BATCH

    answer(unit, CLOCKS[clock])


def beside(name: str, members: int, rounds: int, seconds: float, clock: str, form: str | None) -> dict[str, Any]:
    """Both on one network: speeds, how many times as fast the engine is, and the range of that."""
    words = ("benchmarks.training.layouts", "--be")
    rest = (name, str(members), clock, *([form] if form else []))
    engine_side, plain_side = both = [Competitor(who, who, (*words, who, *rest)) for who in ("engine", "plain")]
    take_turns(both, rounds, seconds)
    ratios = [a / b for a, b in zip(engine_side.slices, plain_side.slices, strict=True)]
    return {
        "network": name,
        "members": members,
        "engine_img_member_per_s": round(statistics.median(engine_side.slices)),
        "plain_img_member_per_s": round(statistics.median(plain_side.slices)),
        "ratio": round(ratio(engine_side, plain_side), 2),
        "ratio_least": round(min(ratios), 2),
        "ratio_most": round(max(ratios), 2),
    }


def table(lines: list[dict[str, Any]]) -> str:
    """The figures, a network and number of members a row."""
    head = f"{'network':<18}{'M':>3}{'engine':>9}{'plain':>9}{'ratio':>7}   least–most"
    rows = [
        f"{line['network']:<18}{line['members']:>3}{line['engine_img_member_per_s']:>9}"
        f"{line['plain_img_member_per_s']:>9}{line['ratio']:>7.2f}"
        f"   {line['ratio_least']:.2f}–{line['ratio_most']:.2f}"
        for line in lines
    ]
    return "\n".join([head, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--members", nargs="+", type=int, default=list(MEMBERS))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a turn")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="what a second is")
    parser.add_argument("--form", help="of the engine, where not its own choice; keeps nothing")
    parser.add_argument("--json", action="store_true", help="print the figures, keep nothing")
    parser.add_argument("--be", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.be:
        who, name, members, clock, *form = args.be
        {"engine": engine, "plain": plain}[who](name, int(members), clock, *(form or [None]))
        return
    common.isolated_folders()
    lines = []
    for name in args.networks:
        for members in args.members:
            lines.append(beside(name, members, args.rounds, args.seconds, args.clock, args.form))
            print(table(lines[-1:]).splitlines()[1], file=sys.stderr, flush=True)
    figures = {"batch": BATCH, "clock": args.clock, "rounds": args.rounds, "load": os.getloadavg()[0], "lines": lines}
    if args.json or args.form:
        print(json.dumps(figures, indent=1))
    else:
        common.keep("layouts", figures)
        print(table(lines))


if __name__ == "__main__":
    main()
