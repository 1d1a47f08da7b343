"""Which axis of somebody's array is what: members, examples, classes; or what is to be turned."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import Shape

_AXIS_ORDER = "(members, examples, classes), with an axis of epochs in front if there are several"
_ROUNDED_SUM_TOLERANCE = 0.011  # of two numbers that were rounded to two digits
_BINARY_NOTE = "One number for each example was read as the {noun} of class 1; class 0 has the rest."


@dataclass(frozen=True)
class OutputAxes:
    """How an array of outputs is to be read, in C order.

    Attributes:
      shape: (E, M, N, C) of what comes of it.
      columns: numbers that the array has for an example: C, or 1 of a classifier of two classes.
    """

    shape: Shape
    columns: int

    def list_notes(self, kind: str) -> list[str]:
        """What is to be said of the reading; `kind` is "probabilities" or "logits"."""
        noun = "probability" if kind == "probabilities" else "logit"
        return [_BINARY_NOTE.format(noun=noun)] if self.columns < self.shape[3] else []

    def check_transposed(self, kind: str, shape: tuple[int, ...], own: NDArray[np.float32]) -> None:
        """Refuse (2, N) that was read as two members, where the two rows are two classes.

        Args:
          kind: "probabilities" or "logits", for the sentence.
          shape: of the array as it stood in the file.
          own: (1, 2, N, 2), what came of it.

        Raises:
          PredictionsError: each example's two numbers sum to 1.
        """
        if self.columns == 1 and len(shape) == 2 and shape[0] == 2:
            sums = own[0, :, :, 1].sum(axis=0)
            if (np.abs(sums - 1) <= _ROUNDED_SUM_TOLERANCE).all():
                raise PredictionsError(
                    f"`{kind}` looks like (classes, examples): its two rows sum to 1; give "
                    f"(examples, classes), {kind}.T."
                )


def parse_output_axes(kind: str, shape: tuple[int, ...], examples: int, two: bool, values: int = 0) -> OutputAxes:
    """The axes of an array of outputs.

    Args:
      kind: "probabilities" or "logits", for the sentence.
      shape: (M, N, C), (E, M, N, C), or (N, C) of one member. Of two classes the last axis may
        have one number, or be left out: (M, N), (N,).
      examples: N, as many as there are labels.
      two: whether all labels are 0 or 1.
      values: how many different labels there are, where they are numbers; 0 where they are text.

    Raises:
      PredictionsError: the shape does not fit the labels; the message names the fix.
    """
    if 0 in shape:
        raise PredictionsError(f"`{kind}` is empty: it has the shape {shape}.")
    full = _match_output_shape(shape, examples, two)
    if full is None and values > max(2, shape[0]) and examples == shape[-1] and len(shape) < 3:
        raise PredictionsError(
            f"`{kind}` has one number for each example (its shape is {shape}), and there are "
            f"{values:,} different labels: these look like numbers to predict (regression), not "
            "classes, or the axis of classes is missing: give (members, examples, classes)."
        )
    if full is None:
        raise PredictionsError(_describe_shape_mismatch(kind, shape, examples))
    epochs, members, _, columns = full
    return OutputAxes((epochs, members, examples, max(columns, 2)), columns)


def _match_output_shape(shape: tuple[int, ...], examples: int, two: bool) -> Shape | None:
    """(E, M, N, columns); None if the shape does not fit."""
    match shape:
        case (n,) if n == examples and two:
            return 1, 1, n, 1
        case n, c if n == examples:
            return 1, 1, n, c
        case m, n if n == examples and two:
            return 1, m, n, 1
        case m, n, c if n == examples:
            return 1, m, n, c
        case e, m, n, c if n == examples:
            return e, m, n, c
    return None


def _describe_shape_mismatch(kind: str, shape: tuple[int, ...], examples: int) -> str:
    if len(shape) > 4:
        return f"`{kind}` has {len(shape)} axes: give {_AXIS_ORDER}."
    text = f"`{kind}` has the shape {shape}"
    if examples not in shape:
        return f"{text}, but there are {examples:,} labels: one axis has to have that length."
    place = shape.index(examples)
    match len(shape), place:
        case (1, _) | (2, 1):
            fix = ".T" if len(shape) == 2 else "[:, None]"
            return (
                f"{text}, with the {examples:,} examples on axis {place}: "
                f"give (examples, classes) or {_AXIS_ORDER}" + (f", as {kind}{fix} may be." if len(shape) == 2 else ".")
            )
        case 3, 0:
            fix = f"{kind}.transpose(1, 0, 2)"
        case 3, 2:
            fix = f"{kind}.transpose(0, 2, 1)"
        case 4, _:
            fix = f"np.moveaxis({kind}, {place}, 2)"
    return f"{text}, with the {examples:,} examples on axis {place}: give {_AXIS_ORDER}: {fix}."
