"""A finished run whose members are drawn, and whose predictions are what they really say."""

import math
from pathlib import Path

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.history import write_predictions
from ensemble.runs.parameters import load_run_network, write_parameters
from tests.pages.ensembles import after

IMAGES = 1024  # of a call


def create_drawn_run(network: str, dataset: str = "digits", members: int = 2, width: int = 0, validation: float = 0.0):
    """A run of two epochs; only after the second are parameters kept."""
    run = runs.create_run(
        EnsembleConfig(
            network=network,
            dataset=dataset,
            members=members,
            epochs=2,
            width=width,
            batch_size=32,
            validation=validation,
        )
    )
    bound, draws = load_run_network(run), np.random.default_rng(len(network))
    arrays = {name: draw_array(name, (members, *shape.shape), draws) for name, shape in bound.shapes.items()}
    params = bound.nest_arrays(arrays)
    write_parameters(run.path, 2, params, best=2)
    there = datasets.load_dataset(dataset)
    spoken = runs.Members(2, 0, params, bound)
    made = ask_members(spoken, there.test_images)
    if validation:
        held = select_validation_indices(run.config, there)
        write_predictions(run.path, 2, ask_members(spoken, there.train_images[held]), "validation")
    known = run.status
    for epoch in (1, 2):
        write_predictions(run.path, epoch, made)
        known = after(known, epoch, made, there.test_labels)
    write_status(run.path, known.__class__(**{**vars(known), "state": "finished"}))
    return runs.find_run(run.id)


def create_served_run(folder: Path) -> Run:
    """A drawn run in a folder of its own, apart from the runs of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return create_drawn_run("mlp", members=3)


def ask_members(members: runs.Members, images: np.ndarray) -> np.ndarray:
    """Every member's probabilities (M, N, C), some images at a time."""
    blocks = [
        members.predict_probabilities(np.asarray(images[at : at + IMAGES])) for at in range(0, len(images), IMAGES)
    ]
    return np.concatenate(blocks, axis=1)


def draw_array(name: str, shape: tuple[int, ...], draws: np.random.Generator) -> np.ndarray:
    """(M, …): kernels as He draws them, small biases, and variances above zero."""
    if name.endswith("/var"):
        return draws.uniform(0.5, 2, shape).astype(np.float32)
    if name.endswith("/scale"):
        return draws.uniform(0.8, 1.2, shape).astype(np.float32)
    fan_in = math.prod(shape[1:-1]) or 100
    return draws.normal(0, math.sqrt(2 / fan_in), shape).astype(np.float32)
