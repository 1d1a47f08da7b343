"""A folder with every kind of file that the program reads, as an earlier version left them."""

import json
import shutil
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.ui.devices.probe import collect_probe_circumstances
from tests.recorded.recording import Recording, unpack


def recorded(folder: Path) -> Recording:
    """Runs, regressions and measured speeds as an earlier version left them, and all else that is read."""
    found = unpack(folder)
    solve = found.runs / found.ids["solve"]
    shutil.copytree(solve, solve.with_name(f"{solve.name[:-1]}9"))
    machine = {"platform": "cpu", "devices": [{"id": 0, "kind": "cpu"}], "cores": 2}
    put(found.data / "devices.json", {"answer": machine, "for": collect_probe_circumstances()})
    status = json.loads((solve / "status.json").read_text())
    fetch = {**status, "state": "stopped", "fraction": 0.25}
    put(found.data / "fetching" / "mnist.json", fetch)
    nothing = zlib.crc32(bytes(70_000))
    array = found.data / "prepared" / "mnist.npy"
    array.parent.mkdir(exist_ok=True)
    length = 70_000 * 785
    with array.open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + length)
    note = {"format": 1, "bytes": array.stat().st_size, "labels_crc32": nothing, "source": "none"}
    put(found.data / "prepared" / "mnist.json", note)
    return found


def put(path: Path, value: Any) -> None:
    """Write JSON into a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def interesting(path: Path, ids: dict[str, str]) -> bool:
    """Whether a file is one that is read: not a lock, a request to stop or an earlier epoch."""
    last = "epoch-0002" if ids["finished"] in path.parts else "epoch-0001"
    if path.suffix == ".npz" and path.name.startswith("epoch"):
        return path.stem == last
    if "checkpoints" in path.parts:
        return path.parts[path.parts.index("checkpoints") + 1] == "22" and path.name in (
            "_METADATA",
            "manifest.ocdbt",
            "_CHECKPOINT_METADATA",
        )
    return path.suffix in (".json", ".jsonl", ".txt", ".md", ".npz") and ids["other"] not in path.parts
