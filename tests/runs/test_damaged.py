"""Predictions and parameters that are not what was written: one sentence, and never other numbers.

What is written here is read by NumPy's own functions, or made by them.
"""

import contextlib
import errno
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.engine.step import create_blank_members
from ensemble.errors import RunError
from ensemble.runs.history import write_predictions
from ensemble.runs.parameters import read_parameters, write_parameters
from ensemble.runs.store import Run
from tests.networks import CNN

FLIPS = 100  # of each of the two files
READ: dict[str, Callable[[str, int], Any]] = {"predictions": runs.read_run_predictions, "parameters": read_parameters}
WHAT = sorted(READ)


@pytest.fixture(scope="module")
def params() -> dict[str, Any]:
    rng, blank = np.random.default_rng(1), create_blank_members(CNN, 2).params
    found: dict[str, Any] = jax.tree.map(lambda leaf: rng.standard_normal(leaf.shape, np.float32), blank)
    return found


@pytest.fixture
def run(params: dict[str, Any]) -> Run:
    made = runs.create_run(EnsembleConfig(members=2))
    rng = np.random.default_rng(0)
    write_predictions(made.path, 1, rng.dirichlet(np.ones(10), (2, 500)).astype(np.float32))
    write_parameters(made.path, 1, params, best=1)
    return made


def file_of(run: Run, what: str) -> Path:
    return run.path / what / "epoch-0001.npz"


def arrays_in(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def bytes_read(run: Run, what: str) -> bytes:
    found = READ[what](run.id, 1)
    arrays = (
        found
        if what == "predictions"
        else np.concatenate([found[layer][kind].ravel() for layer in sorted(found) for kind in sorted(found[layer])])
    )
    return bytes(np.asarray(arrays).tobytes())


@pytest.mark.parametrize("what", WHAT)
def test_a_flipped_bit_is_never_read_as_other_numbers(run: Run, what: str) -> None:
    path, draw, noticed = file_of(run, what), random.Random(0), 0
    right, size = bytes_read(run, what), path.stat().st_size
    # Every second one where the zip's own records and the headers are dense.
    places = [
        draw.randrange(size) if one % 2 else draw.choice((draw.randrange(200), size - 1 - draw.randrange(150)))
        for one in range(FLIPS)
    ]
    for place in places:
        with path.open("r+b") as file:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1 << draw.randrange(8)]))
        with contextlib.suppress(RunError):
            assert bytes_read(run, what) == right, place
            noticed -= 1
        noticed += 1
        with path.open("r+b") as file:
            file.seek(place)
            file.write(byte)
    assert noticed > FLIPS // 2
    assert bytes_read(run, what) == right


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: one[:1], r"shape \(1, 500, 10\), not \(2, 500, 10\)"),
        (lambda one: one[:, :499], r"shape \(2, 499, 10\), not \(2, 500, 10\)"),
        (lambda one: one[..., :9], r"shape \(2, 500, 9\), not \(2, 500, 10\)"),
        (lambda one: one[0], r"shape \(500, 10\)"),
        (lambda one: one.astype(np.float16), "not float32"),
        (lambda one: np.where(np.arange(10) == 3, np.nan, one).astype("f4"), "between 0 and 1"),
        (lambda one: one + np.float32(0.9), "between 0 and 1"),
        (lambda one: -one, "between 0 and 1"),
    ],
)
def test_predictions_that_are_right_and_of_another_run_are_refused(run: Run, change: Any, why: str) -> None:
    path = file_of(run, "predictions")
    np.savez(path, probabilities=change(arrays_in(path)["probabilities"]))
    with pytest.raises(RunError, match=f"predictions of epoch 1 .*{why}.*choose another epoch"):
        runs.read_run_predictions(run.id, 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"Dense_1/bias": None}, "other names"),
        ({"Dense_2/bias": np.zeros((2, 10), np.float32)}, "other names"),
        ({"Dense_1/bias": np.zeros((2, 11), np.float32)}, r"Dense_1/bias has shape \(2, 11\)"),
        ({"Dense_1/bias": np.zeros((3, 10), np.float32)}, r"\(3, 10\), not \(2, 10\)"),
        ({"Dense_1/bias": np.zeros((2, 10))}, "Dense_1/bias is not float32"),
        ({"Dense_1/bias": np.full((2, 10), np.inf, np.float32)}, "Dense_1/bias .*not finite"),
        ({"Conv_0/bias": np.full((2, 32), np.nan, np.float32)}, "Conv_0/bias .*not finite"),
    ],
)
def test_parameters_of_another_network_are_refused_before_they_are_used(
    run: Run, change: dict[str, Any], why: str
) -> None:
    path = file_of(run, "parameters")
    arrays = {**arrays_in(path), **change}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    for ask in (read_parameters, runs.open_members):
        with pytest.raises(RunError, match=f"parameters of epoch 1 .*{why}.*choose another epoch"):
            ask(run.id, 1)


def test_a_file_of_an_earlier_version_has_no_checksum_and_is_read(run: Run) -> None:
    for what in WHAT:
        right, path = bytes_read(run, what), file_of(run, what)
        np.savez(path, **arrays_in(path))
        assert bytes_read(run, what) == right


@pytest.mark.parametrize("what", WHAT)
def test_a_file_that_cannot_be_read_is_not_called_damaged(run: Run, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    assert bytes_read(run, what)
    monkeypatch.setattr("ensemble.storage.arrays.npy.plain_file", refused)
    with pytest.raises(RunError, match=rf"{what} of .* cannot be read \(Permission denied\)"):
        READ[what](run.id, 1)
    assert file_of(run, what).exists()
