"""Whether a batch is no more than what a member learns from."""

from typing import Protocol

from ensemble.datasets.partition.folds import FoldSettings, count_images_per_member
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import ConfigError


class _BatchSettings(FoldSettings, Protocol):
    """The settings of a run that say how many images a member sees, and how many at once."""

    @property
    def dataset(self) -> str:
        """The dataset's name."""

    @property
    def batch_size(self) -> int:
        """Images in one step."""


def check_batch_setting(config: _BatchSettings, batch_size: int | None = None) -> None:
    """Whether the run's dataset has a whole batch for each member, without loading it.

    Args:
      config: the run's.
      batch_size: the largest of several in place of the run's own.

    Raises:
      ConfigError: it has not, or there is no such dataset.
    """
    size = find_dataset_entry(config.dataset).train_size
    held_out = count_holdout_images(size, config.validation)
    check_batch_size(batch_size or config.batch_size, size - held_out, held_out, config.folds)


def check_batch_size(batch_size: int, learnt: int, held_out: int = 0, folds: int = 0) -> None:
    """Whether a member sees a whole batch in an epoch.

    Args:
      batch_size: B.
      learnt: training images without those of validation.
      held_out: training images that are kept for validation, for the sentence.
      folds: K; 0 where no member leaves anything out.

    Raises:
      ConfigError: a batch of more images than a member learns from.
    """
    size = count_images_per_member(learnt, folds)
    if batch_size <= size:
        return
    beside = f" beside the {held_out:,} of validation" if held_out else ""
    beside += f" beside the {learnt - size:,} that each member leaves out" if folds else ""
    raise ConfigError(
        f"A batch of {batch_size:,} is more than the {size:,} training images{beside}: choose {size:,} or fewer."
    )
