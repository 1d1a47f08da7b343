"""MNIST with the HOWTO's numbers, and the worker's memory: python -m benchmarks.training.mnist

Rate 0.1, momentum 0.9, batch 128. M = 4 for 3 epochs: test accuracy of every member and of
the ensemble at every epoch. M = 8 for 1 epoch: the most memory its process ever held.
"""

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks import common


def train(*words: str) -> tuple[dict[str, Any], float]:
    """The result of `ensemble train …`, and the peak memory of its process in MB."""
    child = subprocess.Popen(
        [sys.executable, "-m", "ensemble", "train", "--dataset", "mnist", *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=common.ROOT,
    )
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    kib = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return json.loads(output.splitlines()[-1]), kib / 1024


def main() -> None:
    common.isolated_folders()
    from ensemble import runs

    result, memory = train("--members", "4", "--epochs", "3")
    epochs = [
        {
            "ensemble": line["ensemble_test_accuracy"],
            "mean_of_members": round(sum(line["test_accuracy"]) / 4, 5),
            "members": line["test_accuracy"],
            "ensemble_nll": round(line["ensemble_test_nll"], 4),
            "mean_member_nll": round(line["ensemble_test_loss"], 4),
        }
        for line in runs.read_history(result["run_id"])
        if line["kind"] == "epoch"
    ]
    eight, memory_of_eight = train("--members", "8", "--epochs", "1")
    common.keep(
        "mnist",
        {
            "members_4": {
                "epochs": epochs,
                "ensemble_above_mean_at_every_epoch": all(
                    epoch["ensemble"] > epoch["mean_of_members"] for epoch in epochs
                ),
                "seconds": result["seconds"],
                "img_member_per_s": result["img_member_per_s"],
                "peak_memory_mb": round(memory),
            },
            "members_8": {
                "ensemble": eight["ensemble_test_accuracy"],
                "seconds": eight["seconds"],
                "img_member_per_s": eight["img_member_per_s"],
                "peak_memory_mb": round(memory_of_eight),
            },
        },
    )


if __name__ == "__main__":
    main()
