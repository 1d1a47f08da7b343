"""Claims that a member or an ensemble only guesses, on votes with a known skill.

Without a true loss all votes have exactly the skill that a claim has to rule out, with an accuracy
above or below the share of the most frequent class: each claim is wrong. With a loss all votes
tell nothing about the labels, and the share of draws with a claim is the power.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verdicts.trials import Setting, Told, Trial
from ensemble.analysis.inference.chance_level import MAX_CHANCE_SKILL, is_at_chance
from ensemble.analysis.members.broken_members import find_guessing_members
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.exchange.checks.repeated_rows import find_repeated_rows

Ints = NDArray[np.integer[Any]]
# Of the most frequent class; the other classes share the rest evenly.
SHARES, CLASSES = (0.1, 0.5, 0.7, 0.9, 0.95), (2, 3, 10)
KINDS = {"random votes": (0, 1), "votes for one class": (2, 3)}
COPIES = 5


def only_guesses(kind: str, share: float, setting: Setting, rng: np.random.Generator) -> Told:
    """An ensemble only guesses."""
    guessing = is_at_chance(*draw_votes(share, setting.n, setting.loss, rng, kinds=KINDS[kind]))
    return Told(guessing, guessing and not setting.loss)


def members_only_guess(share: float, setting: Setting, rng: np.random.Generator) -> Told:
    """Some members only guess, next to one that is always right, so that they can be named."""
    votes, labels = draw_votes(share, setting.n, setting.loss, rng, setting.members - 1)
    said = np.eye(max(CLASSES), dtype=np.float32)[np.concatenate([votes, labels[None]])]
    guessing = bool(find_guessing_members(evaluate_predictions(said, labels)))
    return Told(guessing, guessing and not setting.loss)


def copies_only_guess(share: float, setting: Setting, rng: np.random.Generator) -> Told:
    """As `only_guesses`, of predictions without images that repeat each example five times."""
    votes, labels = draw_votes(share, -(-setting.n // COPIES), setting.loss, rng)
    said = rng.dirichlet(np.ones(3), len(labels)).astype(np.float32)
    places = np.tile(np.arange(len(labels)), COPIES)
    groups = find_repeated_rows(said[None, None, places], labels[places].astype(np.int32))
    guessing = is_at_chance(votes[places], labels[places], groups)
    return Told(guessing, guessing and not setting.loss)


def draw_votes(
    share: float, n: int, loss: float, rng: np.random.Generator, members: int = 0, kinds: tuple[int, ...] = (0, 1, 2, 3)
) -> tuple[Ints, Ints]:
    """Return votes (n,), or (members, n), and labels (n,).

    Votes are guesses (of a kind drawn from: random, in the labels' shares, all for the most or all
    for the least frequent class), but without a loss a share s of them is right. Right votes add
    s (1 − Σ p_c²) to the numerator of the Peirce skill score and guesses nothing, so s is the true
    skill.
    """
    classes = rng.choice([count for count in CLASSES if share * count >= 1])
    shares = np.array([share, *[(1 - share) / (classes - 1)] * (classes - 1)])
    labels, shape = rng.choice(classes, n, p=shares), (members, n) if members else n
    guesses = (
        rng.integers(classes, size=shape),
        rng.choice(classes, shape, p=shares),
        np.zeros(shape, int),
        np.full(shape, classes - 1),
    )[rng.choice(kinds)]
    right = rng.random(shape) < (0 if loss else MAX_CHANCE_SKILL)
    return np.where(right, labels, guesses), labels


CHANCE_VERDICTS: dict[str, tuple[Trial, tuple[float, ...]]] = {
    f"{name}, commonest class {share:.0%}": (partial(trial, share), (0, 2))
    for name, trial in (
        *((f"only guesses, {kind}", partial(only_guesses, kind)) for kind in KINDS),
        ("members only guess", members_only_guess),
        ("only guesses, rows in copies", copies_only_guess),
    )
    for share in SHARES
}
