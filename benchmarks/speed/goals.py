"""What a person waits for, in `python -m benchmarks.speed`: seconds to 99 %, and a worker's memory.

Both are of `ensemble train` on MNIST, a process of its own from start to end.
"""

import os
import shutil
import time
from pathlib import Path
from typing import Any

from benchmarks.training.mnist import train

GOAL = 0.99
# The rate rises for a fifth of an epoch and falls to nothing, and each member has an order of its
# own: as high as 99 % in fewer epochs than at a constant rate and in one order for all.
SCHEDULE = ("--epochs", "2", "--schedule", "cosine", "--warmup-epochs", "0.2", "--shuffle-per-member")


def seconds_to_accuracy(precision: str) -> dict[str, Any]:
    """Train 4 members with nothing compiled before; seconds of the whole process."""
    shutil.rmtree(Path(os.environ["ENSEMBLE_DATA"]) / "compiled", ignore_errors=True)
    began = time.perf_counter()
    result, _ = train("--members", "4", "--precision", precision, *SCHEDULE)
    seconds = time.perf_counter() - began
    accuracy = result["ensemble_test_accuracy"]
    return {
        "options": " ".join(SCHEDULE),
        "seconds": round(seconds, 1),
        "ensemble_test_accuracy": accuracy,
        "reached_99": accuracy >= GOAL,
        "img_member_per_s": result["img_member_per_s"],
    }


def memory_of_eight() -> dict[str, Any]:
    """Train 8 members for an epoch, test set included."""
    result, memory = train("--members", "8", "--epochs", "1")
    return {"peak_memory_mb": round(memory), "img_member_per_s": result["img_member_per_s"]}
