"""A run's members asked about a pool: what to label next of it, kept as a batch where wanted."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.acquisition.next_labels import NextLabels, choose_next_labels
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from ensemble.datasets.own.pools.label_pool import LabelPool, list_dataset_pools
from ensemble.datasets.own.pools.pool_batches import LabelBatch, append_batch, find_pool_arms
from ensemble.datasets.own.pools.pool_labels import REJECTED_DECISIONS, list_pool_decisions
from ensemble.errors import DataError
from ensemble.recognition.member_process import MemberProcess
from ensemble.runs.store import Run, require_training_config


@dataclass(frozen=True, eq=False)
class _PoolAnswers:
    """What a run's members say of a pool's images.

    Attributes:
      run: whose members.
      epoch: after which epoch.
      probabilities: float32 (M, N, C).
    """

    run: Run
    epoch: int
    probabilities: NDArray[np.float32]


def ask_about_pool(pool: LabelPool, run: Run, epoch: int | None = None) -> _PoolAnswers:
    """What a run's members say of a pool, asked in a process of their own.

    Args:
      pool: of the run's dataset, or of one that this is a later version of.
      run: whose members.
      epoch: after which epoch; None is the one that pages show.

    Raises:
      DataError: the pool is of another dataset, or damaged.
      RunError: the run was trained elsewhere, or keeps no members of that epoch.
    """
    config = require_training_config(run)
    form = list(run.data.class_names), list(run.data.image_shape)
    if form != (pool.note.class_names, pool.note.image_shape):
        raise DataError(
            f"The pool {pool.name} was made for {pool.note.dataset}, and the run “{run.name}” was "
            f"trained on {config.dataset}: choose a run on {pool.note.dataset} or a later version."
        )
    with MemberProcess(run.id, epoch) as members:
        return _PoolAnswers(run, members.epoch, members.predict_probabilities(pool.images))


def choose_pool_batch(
    pool: LabelPool, answers: _PoolAnswers, strategy: str, count: int, seed: int = 0, *, random_arm: bool = True
) -> NextLabels:
    """What to label next of a pool: neither arm takes an image again, or one that is no image.

    Args:
      pool: whose images.
      answers: of the members that choose.
      strategy: one of `STRATEGIES`.
      count: how many in each arm.
      seed: of what is drawn.
      random_arm: whether there is one.

    Raises:
      ConfigError: as `choose_next_labels`.
      StorageError: what was decided cannot be read.
    """
    arms = find_pool_arms(pool)
    unusable = np.zeros(pool.note.images, bool)
    unusable[[decision.number for decision in list_pool_decisions(pool) if decision.decision in REJECTED_DECISIONS]] = (
        True
    )
    return choose_next_labels(
        answers.probabilities,
        strategy,
        count,
        seed,
        random_arm=random_arm,
        has_chosen=arms.chosen | unusable,
        has_random=arms.at_random | unusable,
    )


def keep_pool_batch(pool: LabelPool, answers: _PoolAnswers, found: NextLabels) -> LabelBatch:
    """Put what was chosen into the queue of the screen Labels.

    Raises:
      AccessError: whoever asks may change nothing.
      DataError: nothing was chosen.
      StorageError: it cannot be written.
    """
    if not len(found.numbers):
        raise DataError(
            f"Every image of the pool {pool.name} is labelled or waits for its label: there is none to choose."
        )
    batch = LabelBatch(
        by=found.strategy.name,
        run=answers.run.id,
        epoch=answers.epoch,
        seed=found.seed,
        chosen=found.chosen.tolist(),
        at_random=found.at_random.tolist(),
        members=found.members,
    )
    asked = answers.probabilities[:, batch.numbers]
    classes = most_likely_classes(average_probabilities(asked))
    votes = (most_likely_classes(asked) == classes).sum(axis=0)
    return append_batch(pool, replace(batch, answers=classes.tolist(), votes=votes.tolist()))


def list_run_pools(run: Run) -> list[LabelPool]:
    """The pools that a run's members can be asked about."""
    config = run.training_config
    return list_dataset_pools(config.dataset) if config else []
