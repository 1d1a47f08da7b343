"""Runs that an earlier version of the program left behind: unpacked, and compared with.

`runs.tar.xz` holds a folder of runs and a data folder, as `make.py` had them written.
`reference.json` and `reference.npz` say what its stopped run became when that same version
resumed it.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs

HERE = Path(__file__).resolve().parent
ARCHIVE, FACTS, ARRAYS = "runs.tar.xz", "reference.json", "reference.npz"
CLOCKS = ("seconds", "img_member_per_s")
# Two devices, as in all tests with real workers: the stopped run goes on with as many.
DEVICES = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"}
HOST = re.compile(rb'("host": )"[^"]+"')
SAMPLED = 512  # numbers of each array of parameters that are compared one by one


@dataclass(frozen=True)
class Recording:
    """An unpacked copy.

    Attributes:
      runs: the folder of runs.
      data: the data folder.
      ids: of the runs "finished" and "stopped", and of the regression "solve".
    """

    runs: Path
    data: Path
    ids: dict[str, str]


def unpack(folder: Path) -> Recording:
    """A fresh copy in `folder`, as if it had been written on this machine."""
    with tarfile.open(HERE / ARCHIVE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Python 3.11.3
        archive.extractall(folder)
    name_host(folder, socket.gethostname())
    ids = json.loads((HERE / FACTS).read_text("utf-8"))["ids"]
    return Recording(folder / "runs", folder / "data", ids)


def name_host(folder: Path, host: str) -> None:
    """Write a machine's name wherever a file in `folder` has one."""
    for path in folder.rglob("*.json"):
        found = path.read_bytes()
        if (named := HOST.sub(rb'\1"' + host.encode() + b'"', found)) != found:
            path.write_bytes(named)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file in `folder`, by its path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def resume(run_id: str) -> None:
    """Bring a stopped run to its end, as a person does on the command line."""
    words = [sys.executable, "-m", "ensemble", "train", "--resume", run_id]
    done = subprocess.run(words, env={**os.environ, **DEVICES}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def facts(run_id: str) -> dict[str, Any]:
    """What a finished run says of itself, and digests of all its members' numbers."""
    lines = [line for line in runs.read_history(run_id) if line["kind"] == "epoch"]
    return {
        "epochs": [{k: v for k, v in line.items() if k not in CLOCKS} for line in lines],
        "bits": {
            str(epoch): [digest([runs.read_run_predictions(run_id, epoch)]), digest(params)]
            for epoch, params in members(run_id).items()
        },
    }


def arrays(run_id: str) -> dict[str, NDArray[np.float32]]:
    """Test probabilities (M, N, C) of every epoch, and some of the parameters, as they lie."""
    found = {
        f"probabilities-{epoch}": runs.read_run_predictions(run_id, epoch)
        for epoch in runs.list_prediction_epochs(run_id)
    }
    for epoch, params in members(run_id).items():
        picked = [leaf.ravel()[:: max(1, leaf.size // SAMPLED)] for leaf in params]
        found[f"parameters-{epoch}"] = np.concatenate(picked)
    return found


def members(run_id: str) -> dict[int, list[NDArray[np.float32]]]:
    """The parameters (M, …) at the end of every epoch, always in the same order."""
    import jax

    opened = {epoch: runs.open_members(run_id, epoch) for epoch in runs.list_member_epochs(run_id)}
    return {epoch: [np.asarray(leaf) for leaf in jax.tree.leaves(one.params)] for epoch, one in opened.items()}


def digest(found: list[NDArray[np.float32]]) -> str:
    """A word that differs where any bit in these arrays does."""
    return hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest()


def machine() -> dict[str, Any]:
    """What the last bits of a training depend on, beside the program.

    The compiler chooses instructions by the processor's flags, and some sums are split by the
    number of cores.
    """
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        text = ""
    known = re.findall(r"^(?:model name|flags|Features)\s*:.*$", text, re.M)
    return {
        "processor": hashlib.sha256("\n".join(sorted(set(known))).encode()).hexdigest(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": {name: importlib.metadata.version(name) for name in ("jax", "jaxlib")},
    }
