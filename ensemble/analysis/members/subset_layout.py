"""The members' probabilities laid out so that the average of any subset is quickly judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.members.subsets import MAX_MEMBERS_ALL_SIZES
from ensemble.analysis.quality.averaging import Floats, Ints

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]

# A million times what rounding can move in a sum of 64 doubles, so it cannot turn a verdict.
_CLEAR_MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class SubsetLayout:
    """The members' probabilities, laid out so that the average of a subset is quickly judged.

    Of the N examples, in U all members say the same class by a clear margin, W of them wrongly;
    V are contested. A row holds, one after the other: the probability of that class (U, the
    wrong ones first), that of the label (W, then V), those of the label's rivals (R: of each
    contested example one after the other). From W on, N numbers in a row are thus the label's
    probability of every example. A class that no subset can say is no rival: of a thousand
    classes few are.

    Attributes:
      rows: (M, L), in double precision; with more than 64 members as the probabilities are.
      united: U.
      wrong: W.
      below: (R,), where a rival is a lower class than the label: in a tie it is said.
      first: (V,), where the rivals of each contested example begin; it has one at least.
      order: (N,), which example each of the label's probabilities is of.
      block: (N,), the block that each example is in, in that order.
      blocks: B.
      groups: (N,), the group of each example in that order; None where all are independent.
    """

    rows: Floats
    united: int
    wrong: int
    below: Bools
    first: Ints
    order: Ints
    block: Ints
    blocks: int
    groups: Ints | None = None

    @property
    def contested(self) -> int:
        """V."""
        return len(self.first)

    @property
    def examples(self) -> int:
        """N."""
        return self.united + self.contested


def arrange_probabilities(
    probabilities: Floats, labels: Ints, block: Ints | None = None, groups: Ints | None = None
) -> SubsetLayout:
    """Lay out the probabilities (M, N, C) of labelled examples (N,).

    Args:
      probabilities: (M, N, C).
      labels: (N,).
      block: (N,), the block of each example, from 0; None for one block.
      groups: (N,), the group of each example, from 0; None where all are independent.
    """
    block = np.zeros(len(labels), np.int64) if block is None else block
    by_block = np.argsort(block, kind="stable")
    top = probabilities[0].argmax(axis=-1)
    clear = np.logical_and.reduce([_has_clear_margin(member, top) for member in probabilities])
    wrong = by_block[(clear & (top != labels))[by_block]]
    right = by_block[(clear & (top == labels))[by_block]]
    contested = by_block[~clear[by_block]]
    united, label_rows = np.concatenate([wrong, right]), np.concatenate([wrong, contested])
    owner, rivals = _find_rival_classes(probabilities, labels, contested)
    kind = np.dtype(np.float64) if len(probabilities) <= MAX_MEMBERS_ALL_SIZES else probabilities.dtype
    rows = np.empty((len(probabilities), len(united) + len(label_rows) + len(rivals)), kind)
    for member, row in zip(probabilities, rows, strict=True):
        parts = [member[united, top[united]], member[label_rows, labels[label_rows]], member[contested[owner], rivals]]
        np.concatenate(parts, out=row)
    order = np.concatenate([right, wrong, contested])
    below, first = rivals < labels[contested[owner]], np.flatnonzero(np.diff(owner, prepend=-1))
    number = int(block.max()) + 1
    return SubsetLayout(
        rows=rows,
        united=len(united),
        wrong=len(wrong),
        below=below,
        first=first,
        order=order,
        block=block[order],
        blocks=number,
        groups=None if groups is None else groups[order],
    )


def _has_clear_margin(member: Floats, top: Ints) -> Bools:
    """(N,), where one member (N, C) says the class `top` by a clear margin."""
    is_clear = np.empty(len(top), bool)
    for rows in iterate_blocks(*member.shape):
        each, part = np.arange(len(top[rows])), member[rows]
        rival_probs = part.astype(np.float64)
        rival_probs[each, top[rows]] = -np.inf
        is_clear[rows] = part[each, top[rows]] - rival_probs.max(axis=-1) > _CLEAR_MARGIN
    return is_clear


def _find_rival_classes(probabilities: Floats, labels: Ints, contested: Ints) -> tuple[Ints, Ints]:
    """The classes other than the label that some subset may say, of each contested example.

    Every subset gives a class between the least and the most that a member gives it. One that
    has nowhere as much as another has everywhere is never said.

    Returns:
      (R,) and (R,): which contested example, rising from 0, and the class.
    """
    owner, rivals = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for rows in iterate_blocks(len(contested), probabilities[:, 0].size):
        numbers = contested[rows]
        part = probabilities[:, numbers].astype(np.float64)
        most, surely = part.max(axis=0), part.min(axis=0).max(axis=1)
        each, own = np.arange(len(numbers)), labels[numbers]
        likely = most >= surely[:, None] - _CLEAR_MARGIN
        most[each, own] = -np.inf
        likely[each, most.argmax(axis=1)] = True  # one at least
        likely[each, own] = False
        examples, classes = np.nonzero(likely)
        owner.append(examples + rows.start)
        rivals.append(classes)
    return np.concatenate(owner), np.concatenate(rivals)
