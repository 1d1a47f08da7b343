"""How fast this machine trains an ensemble in either precision, once it is under way."""

import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from ensemble import datasets
from ensemble.config import PRECISIONS, EnsembleConfig
from ensemble.engine.forms.bfloat16_planning import remeasure_bfloat16_plan
from ensemble.engine.forms.member_programs import choose_execution
from ensemble.engine.matrix_product import MatrixProduct
from ensemble.engine.networks.registry import build_network
from ensemble.engine.trainer import Trainer
from ensemble.machine.machine_info import read_machine_info

_MEASURED_CALLS = 5
CALL_SECONDS = 2.0
PRODUCT_SIZE = 1536
EMULATED_NOTE = "This processor has no units for bfloat16 and emulates it: a little slower than float32."


def measure_training_speed(config: EnsembleConfig, seconds: float = _MEASURED_CALLS * CALL_SECONDS) -> dict[str, Any]:
    """Train for some seconds in each precision and look at the clock.

    Args:
      config: what to train. Its precision is measured first, and is the one meant by figures
        that do not name theirs.
      seconds: of training in each precision, about; an epoch's steps at most in each of 5 calls.

    Returns:
      `precision`; `img_member_per_s` in it, and in each precision under its own name (medians
      of 5 calls); `compile_seconds` (first parameters, training step and one step);
      `seconds_per_epoch` (training, without the test set); `peak_memory_mb` of this process
      when that had been measured; `matrix_product_gflop_per_s`, the speed of float32 matrix
      products on the same devices, in turn with the training, and `share_of_matrix_product`,
      what of it the training's operations per image make, in [0, 1]; `bfloat16_emulated`; and
      what it ran on.
    """
    digits = datasets.load_dataset(config.dataset)
    main_precision, *others = sorted(PRECISIONS, key=lambda name: name != config.precision)
    network = build_network(config, digits.train_images.shape[1:], len(digits.class_names))
    planned = {}
    if choose_execution(network) == "tower":
        planned["bfloat16_products"] = asdict(remeasure_bfloat16_plan(network))
    began = time.perf_counter()
    trainer = Trainer(config, digits)
    train = _build_train_function(trainer)
    train(1)
    compile_seconds = time.perf_counter() - began
    product = MatrixProduct(trainer.layout.devices, PRODUCT_SIZE)
    products: list[float] = []
    steps = trainer.steps_per_epoch
    call = seconds / _MEASURED_CALLS
    rate = _measure_step_rate(train, steps, call, lambda: products.append(product.measure_flop_rate(call / 5)))
    peak = _read_peak_memory()
    rates = {main_precision: rate}
    for other in others:
        rates[other] = _measure_step_rate(
            _build_train_function(Trainer(replace(config, precision=other), digits)), steps, call
        )
    per_step = config.batch_size * config.members
    flop, flop_per_s = trainer.network.training_flops, statistics.median(products)
    return {
        "precision": main_precision,
        "img_member_per_s": round(rate * per_step, 1),
        **{f"img_member_per_s_{name}": round(rates[name] * per_step, 1) for name in PRECISIONS},
        "bfloat16_emulated": trainer.layout.devices[0].platform == "cpu" and not read_machine_info().fast_bfloat16,
        **planned,
        "compile_seconds": round(compile_seconds, 2),
        "seconds_per_epoch": round(steps / rate, 2),
        "peak_memory_mb": round(peak / 2**20),
        "matrix_product_gflop_per_s": round(flop_per_s / 1e9, 1),
        "share_of_matrix_product": round(flop * rate * per_step / flop_per_s, 3),
        "members": config.members,
        "batch_size": config.batch_size,
        "devices": len(trainer.layout.devices),
        "dataset": config.dataset,
    }


def _build_train_function(trainer: Any) -> Callable[[int], None]:
    state = trainer.start()

    def train_steps(count: int) -> None:
        nonlocal state
        state, _ = trainer.train(state, 1, 0, count)

    return train_steps


def _measure_step_rate(
    train: Callable[[int], None], most: int, call_seconds: float, between: Callable[[], None] = lambda: None
) -> float:
    """Steps per second: the median of 5 calls of about `call_seconds` or of `most` steps."""
    train(1)
    count, rates = 1, list[float]()
    while len(rates) < _MEASURED_CALLS:
        began = time.perf_counter()
        train(count)
        took = time.perf_counter() - began
        if count == most or took > call_seconds / 2:
            rates.append(count / took)
            between()
        count = max(1, min(most, int(count * min(4.0, call_seconds / took))))
    return statistics.median(rates)


def _read_peak_memory() -> int:
    """The most memory that this process has held at once, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts in KiB.
