"""XLA's threads for CPU devices that wait for each other: enough of them, and no more.

XLA makes one pool of threads for all CPU devices, when it starts: as many as `NPROC` says, else
one per core. A device that waits in a collective keeps one. With fewer threads than devices
nobody is left to compute what they wait for: after 40 s XLA ends the process. With as many, the
last device to arrive still has one, and what it computes waits for nobody (`engine.logreg`: one
collective at a time, products that hand their parts over and go on). Threads beyond that cost:
work moves between them, and away from its cache. So each solve has XLA begin anew, with a pool
for its own number of devices.
"""

import os
import sys

from ensemble.runs.environment import (
    DEVICE_COUNT,
    cpu_cores,
    only_cpu,
    prepare_jax,
    set_unless_given,
)


def threads_for(devices: int) -> int:
    """How many threads as many CPU devices need; at least one per core."""
    return max(cpu_cores(), devices)


def prepare_for_collectives(devices: int) -> bool:
    """Set what JAX needs so that devices of one CPU can wait for each other; before it starts.

    Args:
      devices: how many there should be at least; more where the environment says so.

    Returns:
      Whether number and threads are this program's to choose, and `begin_anew` may change them:
      they are not on an accelerator, where the environment states them, or where JAX runs.
    """
    stated = {"JAX_NUM_CPU_DEVICES", "NPROC"} & set(os.environ)
    by_flag = DEVICE_COUNT in os.environ.get("XLA_FLAGS", "")
    ours = only_cpu() and not stated and not by_flag and "jax" not in sys.modules
    if only_cpu():
        set_unless_given("JAX_NUM_CPU_DEVICES", str(devices))
        count = max(devices, int(os.environ["JAX_NUM_CPU_DEVICES"]))
        set_unless_given("NPROC", str(threads_for(count)))
    prepare_jax()
    return ours


def begin_anew(devices: int) -> None:
    """Let go of JAX's CPU devices, and have as many new ones with the threads that these need.

    Arrays and programs of the devices before must not be used any more.
    """
    import jax
    from jax.extend.backend import clear_backends

    clear_backends()
    os.environ["NPROC"] = str(threads_for(devices))  # XLA reads it whenever it starts.
    jax.config.update("jax_num_cpu_devices", devices)
