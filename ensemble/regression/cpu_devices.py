"""CPU devices for one solve: as many as it wants, and XLA's threads for just these.

XLA makes one pool of threads for all CPU devices, when it starts: one per core, or per device
where those are more. A device that waits in a collective keeps a thread; the last one to arrive
still has its own, and what it computes waits for nobody (`logistic_objective`: one collective at a
time, products that hand their parts over and go on). Threads beyond that cost: work moves between
them, and away from its cache. So each solve has XLA begin anew, with its own number of devices.
"""

import os
import sys

from ensemble.machine.jax_settings import DEVICE_COUNT_FLAG, is_cpu_only, prepare_jax, set_default_variable


def prepare_solver_devices(devices: int) -> bool:
    """Set how many devices a CPU is to JAX, and what else JAX needs; before it starts.

    Args:
      devices: how many there should be at least; more where the environment says so.

    Returns:
      Whether their number is this program's to choose, and `restart_cpu_devices` may change it: it
      is not on an accelerator, where the environment states it, or where JAX runs.
    """
    stated = "JAX_NUM_CPU_DEVICES" in os.environ or DEVICE_COUNT_FLAG in os.environ.get("XLA_FLAGS", "")
    is_adjustable = is_cpu_only() and not stated and "jax" not in sys.modules
    if is_cpu_only():
        set_default_variable("JAX_NUM_CPU_DEVICES", str(devices))
    prepare_jax()
    return is_adjustable


def restart_cpu_devices(devices: int) -> None:
    """Let go of JAX's CPU devices, and have as many new ones with the threads that these need.

    Arrays and programs of the devices before must not be used any more.
    """
    import jax
    from jax.extend.backend import clear_backends

    clear_backends()
    jax.config.update("jax_num_cpu_devices", devices)
