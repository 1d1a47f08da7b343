"""What a group's task costs besides its training: starting, compiling, checkpoints, files.

A task is a process that does what `ensemble work-group` does, and notes when it comes
to what, in seconds of the processor. The first has nothing compiled; those after it have what it
compiled, as all groups of a run have that share a data folder.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import common

EPOCHS, DATASET, NETWORK = 3, "digits", "cnn"
MEMBERS = (2, 4)  # of a group


def work(name: str) -> None:
    """Be the task of a group, and print what it took to come to each place."""
    stamps: dict[str, float] = {}
    counts = {"status_writes": 0, "checkpoints": 0}
    began = time.time()

    def at(place: str) -> None:
        stamps.setdefault(place, time.process_time())

    from ensemble.jobs.status import StatusWriter
    from ensemble.runs.groups import worker

    at("imported")
    update = StatusWriter.update

    def updated(self: Any, **changes: Any) -> None:
        counts["status_writes"] += 1
        if changes.get("state") == "training":
            at("training")
        elif str(changes.get("message", "")).startswith("Compiling"):
            at("ready to compile")
            watch_checkpoints()
        update(self, **changes)

    def watch_checkpoints() -> None:
        # Not before: it imports JAX, which a task tells first where compiled programs are kept.
        from ensemble.runs.checkpoints.manager import Checkpoints

        save = Checkpoints.save

        def saved(self: Any, *words: Any) -> None:
            counts["checkpoints"] += 1
            before = time.process_time()
            save(self, *words)
            which = "later checkpoint" if "first checkpoint" in stamps else "first checkpoint"
            stamps[which] = time.process_time() - before

        Checkpoints.save = saved  # type: ignore[method-assign, assignment]

    StatusWriter.update = updated  # type: ignore[method-assign]
    worker.execute_group(name)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                **stamps,
                **counts,
                "whole": time.process_time(),
                "wall": time.time() - began,
                "bytes": used.ru_maxrss * 1024,
            }
        )
    )


def task(name: str) -> dict[str, float]:
    """One task from its beginning to its end, kept to one core; seconds of each part."""
    command = [sys.executable, "-m", "benchmarks.scale.tasks", name]
    environment = {**os.environ, "ENSEMBLE_CORES": str(min(os.sched_getaffinity(0)))}
    done = subprocess.run(command, cwd=common.ROOT, check=True, capture_output=True, text=True, env=environment)
    timings = json.loads(done.stdout.splitlines()[-1])
    return {
        "imports": timings["imported"],
        "packages_and_data": timings["ready to compile"] - timings["imported"],
        "compile_and_first_steps": timings["training"] - timings["ready to compile"],
        "first_checkpoint": timings["first checkpoint"],
        "later_checkpoint": timings["later checkpoint"],
        **{name: timings[name] for name in ("status_writes", "checkpoints", "whole", "wall", "bytes")},
    }


def files_of(folder: Path) -> dict[str, int]:
    """How many files and folders lie in a folder, and their bytes: all, and of checkpoints."""
    every = list(folder.rglob("*"))
    kept = [path for path in every if "checkpoints" in path.relative_to(folder).parts]
    places = [path for path in kept if path.parent.name == "checkpoints" and path.name.isdecimal()]
    return {
        "entries": len(every) + 1,
        "bytes": sum(path.stat().st_size for path in every if path.is_file()),
        "checkpoint_entries": len(kept),
        "checkpoint_bytes": sum(path.stat().st_size for path in kept if path.is_file()),
        "checkpoints": len(places),
    }


def measured(repeats: int) -> dict[str, Any]:
    """Tasks of groups of two and of four: the first, and those after it, medians of some."""
    from ensemble.config import EnsembleConfig
    from ensemble.runs import store
    from ensemble.runs.groups.group import create_group_folders
    from ensemble.storage.folders import data_folder

    groups = []
    for members in MEMBERS:
        cold, warm, files, compiled = [], [], {}, []
        for _ in range(repeats):
            shutil.rmtree(data_folder() / "compiled", ignore_errors=True)
            run = store.create_run(
                EnsembleConfig(DATASET, network=NETWORK, members=2 * members, groups=2, epochs=EPOCHS)
            )
            first, second = create_group_folders(run)
            cold.append(task(first.id))
            compiled.append(files_of(data_folder() / "compiled"))
            warm.append(task(second.id))
            compiled.append(files_of(data_folder() / "compiled"))
            files = files_of(first.path)
            shutil.rmtree(run.path)
            print(json.dumps({"cold": cold[-1], "warm": warm[-1]}), file=sys.stderr, flush=True)
        groups.append(
            {
                "members": members,
                "epochs": EPOCHS,
                "cold": medians(cold),
                "warm": medians(warm),
                "files": files,
                "compiled_by_first": compiled[-2]["entries"],
                "compiled_by_second": compiled[-1]["entries"] - compiled[-2]["entries"],
                "compiled_bytes": compiled[-1]["bytes"],
            }
        )
    return {"repeats": repeats, "network": NETWORK, "dataset": DATASET, "groups": groups}


def medians(timings: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(timing[name] for timing in timings), 3) for name in timings[0]}


if __name__ == "__main__":
    work(sys.argv[1])
