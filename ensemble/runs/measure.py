"""How fast this machine trains an ensemble, once it is under way."""

import resource
import statistics
import sys
import time
from typing import Any

from ensemble import data
from ensemble.config import EnsembleConfig
from ensemble.runs.environment import prepare_jax

CALLS = 5
CALL_SECONDS = 2.0


def measure(config: EnsembleConfig) -> dict[str, Any]:
    """Train for some seconds and look at the clock.

    Returns:
      `img_member_per_s` (median of 5 calls of about 2 s), `compile_seconds` (first
      parameters, training step and one step), `seconds_per_epoch` (training, without the
      test set), `peak_memory_mb` of this process, and what it ran on.
    """
    prepare_jax()
    from ensemble.engine import Trainer

    began = time.perf_counter()
    trainer = Trainer(config, data.load(config.dataset))
    state = trainer.start()
    state, _ = trainer.train(state, 1, 0, 1)
    compile_seconds = time.perf_counter() - began
    steps, per_call = trainer.steps_per_epoch, 1
    speeds: list[float] = []
    while len(speeds) < CALLS:
        count = min(per_call, steps)
        began = time.perf_counter()
        state, _ = trainer.train(state, 1, 0, count)
        seconds = time.perf_counter() - began
        if count == steps or seconds > CALL_SECONDS / 2:
            speeds.append(count * config.batch_size * config.members / seconds)
        per_call = max(1, int(count * min(4.0, CALL_SECONDS / seconds)))
    speed = statistics.median(speeds)
    images = steps * config.batch_size * config.members
    return {
        "img_member_per_s": round(speed, 1),
        "compile_seconds": round(compile_seconds, 2),
        "seconds_per_epoch": round(images / speed, 2),
        "peak_memory_mb": round(peak_memory_bytes() / 2**20),
        "members": config.members,
        "batch_size": config.batch_size,
        "devices": len(trainer.layout.devices),
        "dataset": config.dataset,
    }


def peak_memory_bytes() -> int:
    """The most memory that this process has held at once, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts in KiB.
