"""Greedy selection of members: Caruana et al. 2004, "Ensemble selection from libraries of models".

With it the members of many runs that differ in their settings become a hyper-deep ensemble
(Wenzel et al. 2020, "Hyperparameter ensembles for robustness and uncertainty quantification").
"""

import numpy as np
from numpy.typing import NDArray


def greedy(known: NDArray[np.floating], size: int, again: bool = False) -> tuple[int, ...]:
    """Members one after the other, each that with which the mean so far has the least NLL.

    It is chosen on these examples, so on others it will do worse than here.

    Args:
      known: (P, N), what each of P candidates gave the label, from `scores.at_label`.
      size: how many to choose.
      again: whether one may be chosen more than once: with replacement.

    Returns:
      Their numbers (size,) in the order in which they were chosen, the lowest of equals.

    Raises:
      ValueError: there are too few candidates, or no examples.
    """
    candidates, examples = known.shape
    if not examples or not 1 <= size <= (size if again and candidates else candidates):
        raise ValueError(f"{size} of {candidates} candidates, by {examples} examples")
    total = np.zeros(examples)
    chosen: list[int] = []
    for _ in range(size):
        loss = np.array([-np.log(total + one).sum() for one in known])
        if not again:
            loss[chosen] = np.inf
        chosen.append(int(loss.argmin()))
        total += known[chosen[-1]]
    return tuple(chosen)
