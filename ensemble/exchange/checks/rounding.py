"""How probabilities were rounded, told by their numbers: it says how far from 1 a row may sum."""

import numpy as np
from numpy.typing import NDArray

from ensemble.exchange.checks.limits import ROW_SUM_TOLERANCE

_MOST_DIGITS = 5  # of more, 2,000 classes sum to 1 within ROW_SUM_TOLERANCE
_MOST_TOLERANCE = 0.2  # however coarse: beyond it a row is no distribution
# Of a softmax that was computed and summed in these types: three roundings.
_TYPE_TOLERANCES = {"bfloat16": 3 * 2.0**-8, "float16": 3 * 2.0**-10}


class RoundingDetector:
    """Looks at blocks of probabilities for what all of their numbers have in common."""

    def __init__(self) -> None:
        self._digits: int | None = 1  # to which all are rounded so far; None for none
        self._types = set(_TYPE_TOLERANCES)

    def update(self, block: NDArray[np.floating]) -> None:
        """Look at more probabilities (R, C), finite."""
        while self._digits is not None and not _are_rounded(block, self._digits):
            self._digits = self._digits + 1 if self._digits < _MOST_DIGITS else None
        for name in [name for name in self._types if not _fit_type(block, name)]:
            self._types.remove(name)

    def compute_tolerance(self, classes: int) -> float:
        """How far from 1 rows of so many classes may sum."""
        return max([ROW_SUM_TOLERANCE, *self._list_tolerances(classes).values()])

    def describe(self, classes: int) -> str:
        """What was found to be rounded, as "rounded to 2 digits"; "" where nothing was."""
        tolerances = self._list_tolerances(classes)
        return max(tolerances, key=tolerances.__getitem__) if tolerances else ""

    def _list_tolerances(self, classes: int) -> dict[str, float]:
        found = {f"of the type {name}": _TYPE_TOLERANCES[name] for name in self._types}
        if self._digits is not None:
            unit = 0.5 * 10.0**-self._digits
            plural = "digit" if self._digits == 1 else "digits"
            found[f"rounded to {self._digits} {plural}"] = min(classes * unit, _MOST_TOLERANCE)
        return found


def _are_rounded(block: NDArray[np.floating], digits: int) -> bool:
    precision = max(float(np.finfo(block.dtype).eps), 1e-12) if block.dtype.kind == "f" else 0.0
    scaled = block.astype(np.float64) * 10**digits
    return bool((np.abs(scaled - np.rint(scaled)) <= 2 * precision * 10**digits).all())


def _fit_type(block: NDArray[np.floating], name: str) -> bool:
    if block.dtype.kind != "f":
        return False
    single = block.astype(np.float32)
    if block.dtype.itemsize > 4 and (single != block).any():
        return False
    if name == "float16":
        return bool((single.astype(np.float16) == single).all())
    return not (np.ascontiguousarray(single).view(np.uint32) & 0xFFFF).any()
