"""Files that were damaged, or made to do harm: each is refused in a sentence or read as numbers."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import exchange
from tests.conftest import REPO
from tests.exchange.given import LABELS, PROBABILITIES, saved
from tests.storage.arrays import hostile
from tests.storage.arrays.archives import bomb, npy, packed

BOMBED = """
import resource, sys
from pathlib import Path
from ensemble import exchange
from ensemble.errors import PredictionsError
exchange.read_prediction_files([Path(sys.argv[1])])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for bomb in sys.argv[2:]:
    try:
        exchange.read_prediction_files([Path(bomb)])
    except PredictionsError as error:
        print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"


def arrays_of(path: Path) -> dict[str, NDArray[Any]]:
    found = exchange.read_prediction_files([path])
    return {"probabilities": found.probabilities, "labels": found.labels, "class_names": np.array(found.class_names)}


def test_eight_hundred_bad_files_are_refused_or_read(tmp_path: Path) -> None:
    arrays = {"probabilities": PROBABILITIES[:, :5], "labels": LABELS[:5] % 4, "class_names": list("abcd")}
    originals = {"plain": saved(tmp_path, **arrays).read_bytes()}
    np.savez_compressed(tmp_path / "b.npz", **arrays)
    originals["deflated"] = (tmp_path / "b.npz").read_bytes()
    found = hostile.attack(arrays_of, originals, tmp_path, 800)
    assert {outcome for _, outcome in found} <= {"PredictionsError", "same", "other"}, found
    assert sum(count for (_, one), count in found.items() if one == "PredictionsError") > 400


def test_a_bomb_takes_no_memory_of_its_own(tmp_path: Path) -> None:
    right = saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS)
    labels = npy("{'descr': '<i8', 'fortran_order': False, 'shape': (50000,), }", bytes(400_000))
    vast = npy(HEADER % "64, 50000, 1000000", b"")
    wide = npy(HEADER % "999, 64, 50000, 1000", b"")
    honest = npy(HEADER % "536870912,", b"")
    bombs = {
        "honest": bomb(2**31, 2**31 + len(honest), honest),
        "short": packed({"probabilities.npy": vast, "labels.npy": labels}),
        "long": packed({"probabilities.npy": wide, "labels.npy": labels}),
    }
    bombs["labels"] = bombs["honest"].replace(b"probabilities", b"labels" + bytes(7))
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in (right.name, *bombs)]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BOMBED, *paths], cwd=REPO, capture_output=True, text=True, check=True
    )
    *said, megabytes = done.stdout.splitlines()
    assert len(said) == len(bombs), said
    assert int(megabytes) < 16
