"""How much memory a run takes, and what Train says of it: python -m benchmarks.training.memory

One epoch of `digits` on this machine's processor, in a process of its own, for networks, widths,
batches and numbers of members: the most memory that it held, beside what was reckoned before.
"""

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from benchmarks import common
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find_dataset_entry
from ensemble.machine import network_cost, run_estimate
from ensemble.machine.jax_settings import count_cpu_devices

MEASURED: tuple[dict[str, Any], ...] = (
    {"members": 1},
    {"members": 1, "dataset": "mnist"},
    {"members": 16},
    {"members": 2, "batch_size": 1024},
    {"members": 2, "width": 128},
    {"members": 8, "network": "mlp", "width": 1024},
    {"members": 32, "network": "mlp", "width": 1024},
    {"members": 32, "network": "mlp", "width": 1024, "optimizer": "adamw"},
    {"members": 2, "network": "lenet5", "width": 48, "batch_size": 1024},
    {"members": 1, "network": "resnet"},
    {"members": 2, "network": "resnet", "batch_size": 512},
    {"members": 2, "network": "resnet_groupnorm", "batch_size": 512},
    {"members": 2, "network": "resnet", "width": 32, "batch_size": 512},
)


def held(chosen: dict[str, Any]) -> int:
    """Bytes that a run held at most."""
    words = [word for name, value in chosen.items() for word in (f"--{name.replace('_', '-')}", value)]
    command = [sys.executable, "-m", "ensemble", "train", "--epochs", "1", *map(str, words)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, command
    return 1024 * used.ru_maxrss


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    common.isolated_folders()
    measurements = []
    for chosen in MEASURED:
        config, data = (EnsembleConfig(epochs=1, **chosen), find_dataset_entry(chosen.get("dataset", "digits")))
        cost = network_cost.compute_network_cost(config.network, data.image_shape, 10, config.width)
        assert cost is not None
        reckoned = run_estimate.estimate_memory_bytes(config, cost, data.nbytes_prepared, count_cpu_devices() or 1)
        measured = held(chosen)
        measurements.append(
            {
                **chosen,
                "measured_mb": round(measured / 1e6),
                "reckoned_mb": round(reckoned / 1e6),
                "ratio": round(reckoned / measured, 2),
            }
        )
        print(json.dumps(measurements[-1]), flush=True)
    common.keep("memory", {"devices": count_cpu_devices(), "runs": measurements})


if __name__ == "__main__":
    main()
