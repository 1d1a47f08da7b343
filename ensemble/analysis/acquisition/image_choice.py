"""Which of many images without labels to label next, by what the members say of each.

Pure functions of the members' probabilities, and a seed where a choice is drawn: the same numbers
give the same choice. Of images that are equal the first comes first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.acquisition.uniform_draws import draw_uniform_numbers, shuffle_numbers
from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.example_measures import EXAMPLE_MEASURES, ExampleMeasure, MemberOutputs
from ensemble.analysis.quality.averaging import Floats, average_probabilities

RANDOM = "random"
_POWER_STREAM, _DIVERSITY_STREAM, _RANDOM_STREAM = 1, 2, 3  # so that no two choices draw alike
Choose = Callable[[Floats, int, int], NDArray[np.int64]]


@dataclass(frozen=True)
class Strategy:
    """A way to choose images.

    Attributes:
      name: its word in options.
      choose: gives the numbers (K,) of the images to label, the first one first, of
        probabilities (M, N, C), K and a seed.
      needs_members: whether one member alone has nothing to choose by.
    """

    name: str
    choose: Choose
    needs_members: bool


def _choose_least_sure(measure: ExampleMeasure, probabilities: Floats, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The images of which a measure is least sure, the least sure first.

    Args:
      measure: one of `EXAMPLE_MEASURES`. Epistemic uncertainty gives BALD, entropy, margin and
        confidence give uncertainty sampling, the pairwise votes query by committee.
      probabilities: (M, N, C), each row of C a distribution.
      count: how many, at most N are given.
      seed: nothing is drawn.

    Source: N. Houlsby and others, "Bayesian active learning for classification and preference
    learning" (2011), arXiv:1112.5745; Y. Gal, R. Islam and Z. Ghahramani, "Deep Bayesian active
    learning with image data", ICML 2017; of ensembles W. H. Beluch and others, "The power of
    ensembles for active learning in image classification", CVPR 2018.
    """
    return _take_highest(measure.score_uncertainty(MemberOutputs(probabilities)), count)


def choose_by_power(probabilities: Floats, count: int, seed: int = 0, power: float = 1.0) -> NDArray[np.int64]:
    """Images drawn without replacement, each with a probability ∝ its epistemic uncertainty ^ β.

    The K highest of β ln s + g, with g of the Gumbel distribution. The K highest images
    are often K times nearly the same one; a draw spreads them at no cost.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      count: how many, at most N are given.
      seed: of the draws.
      power: β; 0 draws at random, ∞ would take the highest.

    Source: A. Kirsch, S. Farquhar, P. Atighehchian, A. Jesson, F. Branchaud-Charron and Y. Gal,
    "Stochastic batch acquisition: a simple baseline for deep active learning", TMLR 2023
    (PowerBALD).
    """
    scores = np.maximum(MemberOutputs(probabilities).epistemic, np.finfo(np.float64).tiny)
    gumbel = -np.log(-np.log(draw_uniform_numbers(len(scores), _POWER_STREAM, seed)))
    return _take_highest(power * np.log(scores) + gumbel, count)


def choose_diverse(probabilities: Floats, count: int, seed: int = 0) -> NDArray[np.int64]:
    """Images on which members differ, and differ each time in another way.

    k-means++ seeding on what each member says besides the average, v = (p_m − p̄)_m ∈ R^{M·C}: the
    first image has the longest v, each further one is drawn with a probability ∝ its squared
    distance to the nearest of those chosen and of 0. |v|² / M is the members' variance: images on
    which all agree lie near 0, and are not drawn.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      count: how many, at most N are given.
      seed: of the draws.

    Source: J. T. Ash, C. Zhang, A. Krishnamurthy, J. Langford and A. Agarwal, "Deep batch active
    learning by diverse, uncertain gradient lower bounds", ICLR 2020 (BADGE: k-means++ seeding on
    a gradient whose length is the uncertainty; here members stand in the gradient's place, and 0
    counts as chosen, as in scikit-activeml);
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    count = min(count, probabilities.shape[1])
    draws = draw_uniform_numbers(count, _DIVERSITY_STREAM, seed)[1:]
    return seed_k_means(probabilities, draws, count)


def seed_k_means(probabilities: Floats, draws: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """What `choose_diverse` chooses, by these draws (count − 1,) in (0, 1).

    Where the last images are all like chosen ones, they come in their order.
    """
    chosen = list[int]()
    distances = _measure_squared_deviations(probabilities, None)
    while len(chosen) < count:
        taken = np.zeros(len(distances), bool)
        taken[chosen] = True
        if not chosen:
            place = int(distances.argmax())
        elif distances.any():
            cumulated = np.cumsum(distances / distances.sum())
            wanted = draws[len(chosen) - 1] * cumulated[-1]
            place = int(np.searchsorted(cumulated, wanted, side="right"))
        else:
            place = int(np.flatnonzero(~taken)[0])
        chosen.append(place)
        distances = np.minimum(distances, _measure_squared_deviations(probabilities, place))
        distances[chosen] = 0.0
    return np.array(chosen, np.int64)


def choose_at_random(probabilities: Floats, count: int, seed: int = 0) -> NDArray[np.int64]:
    """Images drawn at random, whatever members say of them.

    Args:
      probabilities: (M, N, C), of which N alone counts.
      count: how many, at most N are given.
      seed: of the draws.
    """
    return shuffle_numbers(probabilities.shape[1], _RANDOM_STREAM, seed)[:count]


_RENAMED_STRATEGIES = {"information": "epistemic"}  # as in commands and files of earlier versions

STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        *(
            Strategy(measure.name, partial(_choose_least_sure, measure), measure.needs_members)
            for measure in EXAMPLE_MEASURES.values()
        ),
        Strategy("power", choose_by_power, needs_members=True),
        Strategy("diversity", choose_diverse, needs_members=True),
        Strategy(RANDOM, choose_at_random, needs_members=False),
    )
}


def translate_strategy(name: str) -> str:
    """Return today's name of a strategy that earlier versions called otherwise."""
    return _RENAMED_STRATEGIES.get(name, name)


def _take_highest(scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")[:count]


def _measure_squared_deviations(probabilities: Floats, place: int | None) -> NDArray[np.float64]:
    """(N,), squared distances of what members say besides the average to that of an image, or to 0.

    A block of images at a time: nothing as large as all probabilities is made.
    """
    distances = np.empty(probabilities.shape[1])
    center = None if place is None else _subtract_average(probabilities[:, place : place + 1])
    members, _, classes = probabilities.shape
    for rows in iterate_blocks(probabilities.shape[1], members * classes):
        apart = _subtract_average(probabilities[:, rows])
        if center is not None:
            apart -= center
        distances[rows] = np.einsum("mnc,mnc->n", apart, apart)
    return distances


def _subtract_average(probabilities: Floats) -> NDArray[np.float64]:
    each = np.asarray(probabilities, np.float64)
    return each - average_probabilities(each)
