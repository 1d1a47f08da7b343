"""What a run came to, read from its files by NumPy and JSON alone, and compared to the bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.soak.rows import expect

# What depends on the clock.
CLOCKS = ("seconds", "img_member_per_s")
SAID = (
    "state",
    "epoch",
    "step",
    "member_test_accuracy",
    "ensemble_test_accuracy",
    "ensemble_test_nll",
    "best_epoch",
    "best_ensemble_test_accuracy",
)

Line = dict[str, Any]


def lines(folder: Path, *without: str) -> list[Line]:
    """The history's lines without these names; each has to be whole."""
    path = folder / "history.jsonl"
    records = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
    return [{key: value for key, value in record.items() if key not in without} for record in records]


def same_run(candidate: Path, other: Path) -> None:
    """A loss unless both runs hold the same bits."""
    same_arrays(candidate, other, "predictions", "parameters")
    mine, true = ([line for line in lines(folder, *CLOCKS) if line["kind"] == "epoch"] for folder in (candidate, other))
    expect(mine == true, f"{candidate.name}: other epochs in the history: {mine} instead of {true}")
    # How many steps a line sums up is the clock's business: that none is twice is not.
    steps, last = [[line["step"] for line in lines(folder) if line["kind"] == "steps"] for folder in (candidate, other)]
    expect(steps == sorted(set(steps)) and steps[-1:] == last[-1:], f"steps of history: {steps}")
    status, truth = (json.loads((folder / "status.json").read_bytes()) for folder in (candidate, other))
    for name in SAID:
        expect(status[name] == truth[name], f"{name} is {status[name]!r}, not {truth[name]!r}")


def same_arrays(candidate: Path, other: Path, *folders: str) -> None:
    """A loss unless the .npz files in these folders of both hold the same names and bits."""
    for folder in folders:
        names = [sorted(path.name for path in (place / folder).glob("*.npz")) for place in (candidate, other)]
        expect(names[0] == names[1], f"{candidate.name}/{folder} holds {names[0]}, not {names[1]}")
        for name in names[0]:
            mine, true = arrays(candidate / folder / name), arrays(other / folder / name)
            expect(mine == true, f"other bits in {candidate.name}/{folder}/{name}")


def arrays(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Every array of an .npz: its type, shape and bytes."""
    with np.load(path, allow_pickle=False) as file:
        return {name: (str(file[name].dtype), file[name].shape, file[name].tobytes()) for name in file.files}


def same_stress(candidate: Path, other: Path) -> None:
    """A loss unless both runs have the same figures under shift."""
    mine, true = (json.loads((run / "stress" / "results.json").read_bytes()) for run in (candidate, other))
    expect(mine == true, f"other figures in {candidate.name}/stress/results.json")
    same_arrays(candidate, other, "stress")


def same_solve(candidate: Path, other: Path, whole: bool) -> None:
    """A loss unless a regression's iterations are the other's, or, if not whole, its first ones."""
    without = ("seconds", "compile_seconds")
    true = lines(other, *without)
    path = candidate / "history.jsonl"
    if not whole and path.exists():
        # A kill may cut the last line short, which readers leave out.
        path.write_bytes(path.read_bytes()[: path.read_bytes().rfind(b"\n") + 1])
    mine = lines(candidate, *without)
    expect(mine == (true if whole else true[: len(mine)]), f"other iterations in {candidate.name}")
