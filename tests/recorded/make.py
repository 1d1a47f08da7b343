"""Writes the recording anew: python -m tests.recorded.make FOLDER. It takes a minute.

Only for a version whose runs have to go on being opened by all later ones. The real program
writes every file. In the two trainings alone its members are pruned at the end of each epoch:
whole ones are 3.3 MB each, and as much again for their momentum, which no archive makes smaller.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.annotations.notes import write_run_note
from tests.recorded.recording import ARCHIVE, ARRAYS, DEVICES, FACTS, arrays, facts, machine, name_host, resume

CONFIG = {"members": 2, "batch_size": 128, "learning_rate": 0.05}
KEPT = 16_000  # so many numbers of each of a member's arrays stay
SOLVE = "--samples 100 --features 8 --classes 2 --iterations 5 --history 1"


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        places = {
            "ENSEMBLE_RUNS": "runs",
            "ENSEMBLE_DATA": "data",
            "TMPDIR": "tmp",
            "XDG_CACHE_HOME": "cache",
            "XDG_RUNTIME_DIR": "login",
            "JAX_COMPILATION_CACHE_DIR": "compiled",
        }
        for name in places.values():
            (root / name).mkdir()
        os.environ.update(DEVICES, **{key: str(root / name) for key, name in places.items()})
        prepare_jax()
        ids = record()
        pack(root, folder)
        resume(ids["stopped"])
        found = {"ids": ids, "machine": machine(), **facts(ids["stopped"])}
        (folder / FACTS).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        np.savez_compressed(folder / ARRAYS, **arrays(ids["stopped"]))  # type: ignore[arg-type]


def record() -> dict[str, str]:
    """Train, measure and solve; the ids of what lies among the runs."""
    prune_members()
    finished = runs.execute_run(runs.create_run(EnsembleConfig(**CONFIG, epochs=2)).id)
    runs.rename_run(finished.id, "Recorded & finished")
    write_run_note(finished.id, "Kept to see whether later versions can open it.")
    stopped = runs.create_run(EnsembleConfig(**CONFIG, epochs=3, seed=1))

    def stop_after_an_epoch(status: runs.Status) -> None:
        if status.epoch == 1 and status.state == "training":
            runs.request_run_stop(stopped.id)

    assert runs.execute_run(stopped.id, stop_after_an_epoch, synchronous=True).state == "stopped"
    program("stress", finished.id, "--limit", "40")
    program("lbfgs", *SOLVE.split())
    (solve,) = regression.list_regressions()
    return {"finished": finished.id, "stopped": stopped.id, "solve": solve.id}


def program(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "ensemble", *words], check=True)


def prune_members() -> None:
    """Have every training in this process prune its members as each epoch's steps end."""
    from ensemble.engine import Trainer

    train = Trainer.train

    def train_and_prune(self: Trainer, state: Any, epoch: int, start: int, count: int) -> Any:
        import jax

        state, figures = train(self, state, epoch, start, count)
        if start + count == self.steps_per_epoch:
            state = self.put(jax.tree.map(pruned, self.get(state)))
        return state, figures

    setattr(Trainer, "train", train_and_prune)  # noqa: B010  # mypy forbids the plain form


def pruned(leaf: np.ndarray) -> np.ndarray:
    """Each member's largest numbers, with 3 bits after the point instead of 23; else zero."""
    rounded = leaf.view(np.uint32) + np.uint32(0x80000) & np.uint32(0xFFF00000)
    found = rounded.view(np.float32)
    for member in found:
        if member.size > KEPT:
            size = np.abs(member)
            member[size < np.partition(size, -KEPT, axis=None)[-KEPT]] = 0
    return found


def pack(root: Path, folder: Path) -> None:
    """Pack the runs and the data folder into one archive, with nothing in it of who made it."""
    shutil.rmtree(root / "data" / "synthetic", ignore_errors=True)  # drawn anew where missing
    name_host(root, "a-machine")
    for path in root.glob("[rd]*/**/*"):
        if path.is_file() and str(root).encode() in (found := path.read_bytes()):
            # orbax tells where a checkpoint was committed, for people: nothing reads it.
            assert path.name == "commit_success.txt", f"A path of this machine stands in {path}."
            path.write_bytes(found.replace(str(root).encode(), b"/a/folder"))
    with tarfile.open(folder / ARCHIVE, "w:xz", preset=9) as archive:
        for name in ("runs", "data"):
            archive.add(root / name, name, filter=nobody)


def nobody(file: tarfile.TarInfo) -> tarfile.TarInfo:
    file.uid = file.gid = 0
    file.uname = file.gname = ""
    return file


if __name__ == "__main__":
    main(Path(sys.argv[1]))
