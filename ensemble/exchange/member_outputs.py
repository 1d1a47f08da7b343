"""What somebody's members say of labelled examples, once it has been read and checked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails

GROUPS_NOTE = "Examples of one group count together: "
ZERO_NOTE = "a probability of 0: each adds 87 nats to its NLL, which would otherwise be infinite."
UNCHANGED_NOTE = "(rounding) and are left unchanged."
FACTS = (GROUPS_NOTE, ZERO_NOTE, UNCHANGED_NOTE)  # parts of notes that assume nothing


@dataclass(frozen=True, eq=False)
class MemberOutputs:
    """What M members said of N labelled examples after each of E epochs.

    Attributes:
      probabilities: float32 (E, M, N, C), each row of C a distribution; float32 that came in is
        the same float32 here.
      labels: int32 (N,), class numbers in [0, C).
      class_names: C of them, no two alike.
      member_names: M of them, no two alike.
      images: uint8 (N, H, W, 1 or 3), or None if there are none.
      split: what the examples are of: "test", where the file does not say.
      notes: what was assumed or converted, a sentence each.
      groups: int64 (N,), numbers of the groups of examples that belong together, or None.
      repeats: int64 (N,), equal numbers for rows that are taken as copies of one example, or None.
      label_reading: how the labels were read where they fit several ways, one of
        `label_meanings.LABEL_READINGS`; else "".
      label_options: the ways in which they can be read.
      details: what the examples are called, and what else is known of each.
      noun: what one example is, in the singular; "" where nothing says it.
    """

    probabilities: NDArray[np.float32]
    labels: NDArray[np.int32]
    class_names: tuple[str, ...]
    member_names: tuple[str, ...]
    images: NDArray[np.uint8] | None = None
    split: str = "test"
    notes: tuple[str, ...] = ()
    groups: NDArray[np.int64] | None = None
    repeats: NDArray[np.int64] | None = None
    label_reading: str = ""
    label_options: tuple[str, ...] = ()
    details: ExampleDetails = NO_DETAILS
    noun: str = ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The notes of what could have been meant otherwise."""
        return tuple(note for note in self.notes if not any(fact in note for fact in FACTS))

    @property
    def epochs(self) -> int:
        """E."""
        return self.probabilities.shape[0]

    @property
    def members(self) -> int:
        """M."""
        return self.probabilities.shape[1]

    @property
    def examples(self) -> int:
        """N."""
        return self.probabilities.shape[2]

    @property
    def classes(self) -> int:
        """C."""
        return self.probabilities.shape[3]


@dataclass(frozen=True, eq=False)
class UnlabelledOutputs:
    """What M members say of N examples, whether these have labels or not.

    Attributes:
      probabilities: float32 (M, N, C), each row of C a distribution; of several epochs the last.
      class_names: C of them.
      example_names: N of them; () where the examples are numbered.
      notes: what was assumed or converted, a sentence each.
      has_labels: whether the files have labels, which nobody looked at.
    """

    probabilities: NDArray[np.float32]
    class_names: tuple[str, ...]
    example_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_labels: bool = False
