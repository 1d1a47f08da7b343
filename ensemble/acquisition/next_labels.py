"""A batch of images to label next: chosen by what members say, and as many at random beside them.

The random arm is what tells afterwards whether choosing has paid: both arms are trained on as many
labels. Each arm draws from all images that it does not have yet, so that an image may be in both:
it is labelled once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.acquisition.image_choice import RANDOM, STRATEGIES, Strategy, choose_at_random
from ensemble.analysis.example_measures import Measures, MemberOutputs, compute_measures
from ensemble.analysis.quality.averaging import Floats
from ensemble.datasets.own.pools.pool_arms import BOTH_ARMS, CHOSEN_ARM, RANDOM_ARM
from ensemble.errors import ConfigError

DEFAULT_STRATEGY, DEFAULT_COUNT = "diversity", 20
MAX_COUNT = 10_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NextLabels:
    """What to label next of N images.

    Attributes:
      strategy: by which the first arm is chosen, one of `STRATEGIES`.
      seed: of what is drawn.
      members: M.
      chosen: numbers of the chosen images, the first to label first.
      at_random: numbers of the random arm's; none where it was not wanted.
      measures: (N,) each, every one of `EXAMPLE_MEASURES` by its name.
    """

    strategy: Strategy
    seed: int
    members: int
    chosen: Numbers
    at_random: Numbers
    measures: Measures

    @property
    def images(self) -> int:
        """N."""
        return len(self.measures["entropy"])

    @property
    def numbers(self) -> Numbers:
        """Every image of either arm once, the chosen ones first."""
        return np.array(list(dict.fromkeys([*self.chosen, *self.at_random])), np.int64)

    def find_arm(self, number: int) -> str:
        """The arm of an image: "chosen", "random", or "both"."""
        if number not in self.chosen:
            return RANDOM_ARM
        return BOTH_ARMS if number in self.at_random else CHOSEN_ARM


def choose_next_labels(
    probabilities: Floats,
    strategy: str = DEFAULT_STRATEGY,
    count: int = DEFAULT_COUNT,
    seed: int = 0,
    *,
    random_arm: bool = True,
    has_chosen: NDArray[np.bool_] | None = None,
    has_random: NDArray[np.bool_] | None = None,
) -> NextLabels:
    """The images to label next in each arm.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      strategy: one of `STRATEGIES`.
      count: how many in each arm; fewer where there are no more.
      seed: of what is drawn; from 0.
      random_arm: whether there is one.
      has_chosen: (N,), which images the first arm has already; None for none.
      has_random: (N,), likewise of the random arm.

    Raises:
      ConfigError: there is no such strategy, the count or the seed is out of its range, or one
        member alone cannot disagree.
    """
    found = STRATEGIES.get(strategy)
    if found is None:
        raise ConfigError(f"by is {strategy!r:.40}: it has to be one of {', '.join(STRATEGIES)}.")
    if not 1 <= count <= MAX_COUNT:
        raise ConfigError(f"count is {count}: it has to be a whole number from 1 to {MAX_COUNT:,}.")
    if not 0 <= seed < 2**31:
        raise ConfigError(f"seed is {seed}: it has to be a whole number from 0 to 2,147,483,647.")
    members, images = probabilities.shape[:2]
    if members == 1 and found.needs_members:
        raise ConfigError(
            f"One member alone cannot disagree with others, which “{strategy}” goes by: choose "
            "“entropy”, or give several members."
        )
    every = np.arange(images)
    left = every if has_chosen is None else np.flatnonzero(~has_chosen)
    left_random = every if has_random is None else np.flatnonzero(~has_random)
    chosen = left[found.choose(probabilities[:, left], count, seed)] if len(left) else left
    at_random = left_random[choose_at_random(probabilities[:, left_random], count, seed)]
    return NextLabels(
        strategy=found,
        seed=seed,
        members=members,
        chosen=chosen,
        at_random=at_random if random_arm and strategy != RANDOM else at_random[:0],
        measures=compute_measures(MemberOutputs(probabilities)),
    )
