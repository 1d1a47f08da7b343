"""Groups that seem to have trained: folders and files by the functions that real ones use.

What is in the files is drawn at random; how many, how long and of what form they are is not.
"""

from dataclasses import replace

import numpy as np

from ensemble.config import EnsembleConfig
from ensemble.jobs.placement import Placement, write_placement
from ensemble.runs import store
from ensemble.runs.groups.group import Group, create_group_folders
from ensemble.runs.history import write_predictions
from ensemble.runs.parameters import write_parameters
from ensemble.runs.store import Run
from ensemble.storage.records.json_lines import Line, append_line

LINES_OF_AN_EPOCH = 20  # of steps, as a group's training writes them
CLASSES = 10
# The parameter arrays of a member; the first network's are those of the HOWTO.
SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "cnn": {
        "Conv_0/bias": (32,),
        "Conv_0/kernel": (3, 3, 1, 32),
        "Conv_1/bias": (64,),
        "Conv_1/kernel": (3, 3, 32, 64),
        "Dense_0/bias": (256,),
        "Dense_0/kernel": (3136, 256),
        "Dense_1/bias": (10,),
        "Dense_1/kernel": (256, 10),
    },
    "logistic": {"Dense_0/bias": (10,), "Dense_0/kernel": (784, 10)},
}


class Wide(EnsembleConfig):
    """Settings of a run that may have more members and groups than the program lets one have."""

    def check(self) -> None:
        """Take whatever it is given: the limits are what is being looked beyond."""


def parameter_bytes(network: str) -> int:
    """Bytes of a member's parameters, in float32."""
    return 4 * sum(int(np.prod(shape)) for shape in SHAPES[network].values())


def made(groups: int, members: int, dataset: str, network: str, epochs: int) -> Run:
    """A run in so many groups of so many members each, with their folders."""
    run = store.create_run(EnsembleConfig(dataset, network=network, members=4, groups=2, epochs=epochs))
    wide = Wide(dataset, network=network, members=groups * members, groups=groups, epochs=epochs)
    run = replace(run, config=wide)
    write_placement(run.path, Placement("slurm"))  # so that one group is one too
    create_group_folders(run)
    return run


def write_steps(groups: list[Group], first: int, count: int) -> None:
    """Lines of training, one of so many steps after the other, in every group's history."""
    draw = np.random.default_rng(first)
    for step in range(first, first + count):
        for group in groups:
            append_line(group.path / "history.jsonl", line("steps", step, len(group.member_numbers), draw))


def write_epoch(groups: list[Group], epoch: int, examples: int, network: str, steps: int = LINES_OF_AN_EPOCH) -> None:
    """An epoch of every group: its lines, its members' predictions and their parameters."""
    write_steps(groups, 1 + (epoch - 1) * steps, steps)
    draw = np.random.default_rng(epoch)
    for group in groups:
        count = len(group.member_numbers)
        exponentials = draw.standard_exponential((count, examples, CLASSES), np.float32)
        write_predictions(group.path, epoch, exponentials / exponentials.sum(-1, keepdims=True))
        params = {name: draw.standard_normal((count, *shape), np.float32) for name, shape in SHAPES[network].items()}
        write_parameters(group.path, epoch, params, best=None)
        figures = {name: draw.random(count) for name in ("test_loss", "test_accuracy")}
        closes = line("epoch", epoch * steps, count, draw) | {"epoch": epoch, **figures}
        append_line(group.path / "history.jsonl", closes)


def line(kind: str, step: int, members: int, draw: np.random.Generator) -> Line:
    """A line of a group's history, as its training writes it."""
    loss, accuracy = draw.random(members), draw.random(members)
    return {
        "kind": kind,
        "epoch": 1 + (step - 1) // LINES_OF_AN_EPOCH,
        "step": step,
        "progress": step / LINES_OF_AN_EPOCH,
        "train_loss": loss,
        "train_accuracy": accuracy,
        "ensemble_train_loss": loss.mean(),
        "ensemble_train_nll": draw.random(),
        "ensemble_train_accuracy": draw.random(),
        "seconds": step / 10,
        "img_member_per_s": 1000.0 + step,
    }
