"""What range an image's numbers have once a network has shifted and scaled them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import Literal

# What leaves every number as it is.
_MOVES = ("broadcast_in_dim", "convert_element_type", "copy", "expand_dims", "reshape", "rev", "squeeze", "transpose")
CALLS = ("pjit", "jit")
STEPS = ("add", "sub", "mul", "div")
_MAX_CONSTANT_SIZE = 1_000_000  # of means or deviations of every pixel


class _ImageRange(NamedTuple):
    """What numbers are made of pixels from 0 to 1.

    Attributes:
      low: the least of any pixel.
      high: the largest.
      spread: from least to largest of one pixel, where that is most.
    """

    low: float
    high: float
    spread: float


def trace_image_range(program: Any, image_shape: Sequence[int]) -> _ImageRange | None:
    """The range that numbers of an image in [0, 1] have by sums and products with constants alone.

    Args:
      program: a closed jaxpr of a forward pass, whose last argument is the images
        (B, H, W, channels).
      image_shape: (H, W, channels).

    Returns:
      The range with the least spread that is met before anything else is computed; None if there
      is no such step.
    """
    images = program.jaxpr.invars[-1]
    if tuple(images.aval.shape[1:]) != tuple(image_shape):
        return None
    met: list[_ImageRange] = []
    _follow_program(program.jaxpr, program.consts, {images: _ImageRange(0.0, 1.0, 1.0)}, met)
    return min(met, key=lambda place: place.spread, default=None)


def _follow_program(jaxpr: Any, constants: Sequence[Any], known: dict[Any, Any], met: list[_ImageRange]) -> list[Any]:
    """Carry ranges and constants through a program, as far as they are known.

    Args:
      jaxpr: the program.
      constants: what its `constvars` are.
      known: of its inputs those that are an `_ImageRange`, or a constant array.
      met: where each range that a step leaves is added.

    Returns:
      What is known of its outputs, in order; None of one of which nothing is.
    """
    known = {**dict(zip(jaxpr.constvars, constants, strict=False)), **known}

    def find_value(variable: Any) -> Any:
        return variable.val if isinstance(variable, Literal) else known.get(variable)

    for equation in jaxpr.eqns:
        name = equation.primitive.name
        inputs = [find_value(variable) for variable in equation.invars]
        outputs: list[Any] = []
        if name in _MOVES:
            outputs = inputs[:1]
        elif name in STEPS:
            outputs = [_apply_step(name, *inputs)]
            met.extend(output for output in outputs if isinstance(output, _ImageRange))
        elif name in CALLS and (inner := equation.params.get("jaxpr")) is not None:
            arguments = zip(inner.jaxpr.invars, inputs, strict=False)
            given = {variable: value for variable, value in arguments if value is not None}
            outputs = _follow_program(inner.jaxpr, inner.consts, given, met)
        known.update(
            (variable, output)
            for variable, output in zip(equation.outvars, outputs, strict=False)
            if output is not None
        )
    return [find_value(variable) for variable in jaxpr.outvars]


def _apply_step(name: str, left: Any, right: Any) -> Any:
    """A range after a step with a constant; None where it is no such step."""
    if isinstance(left, _ImageRange) == isinstance(right, _ImageRange):
        return None
    image = left if isinstance(left, _ImageRange) else right
    low, high = _measure_constant(right if image is left else left)
    if low is None or high is None or (name == "div" and (image is right or low <= 0 <= high)):
        return None
    ends = [(a, b) for a in image[:2] for b in (low, high)]
    if name in ("add", "sub"):
        sign = 1 if name == "add" or image is left else -1
        results = [a + b if name == "add" else sign * (a - b) for a, b in ends]
        return _ImageRange(min(results), max(results), image.spread)
    results = [a * b if name == "mul" else a / b for a, b in ends]
    scale = max(abs(low), abs(high)) if name == "mul" else 1 / min(abs(low), abs(high))
    return _ImageRange(min(results), max(results), image.spread * scale)


def _measure_constant(value: Any) -> tuple[float, float] | tuple[None, None]:
    """The least and the largest number of a constant; None twice where it is no such."""
    if value is None or isinstance(value, jax.core.Tracer):
        return None, None
    array = np.asarray(value)
    if not array.size or array.size > _MAX_CONSTANT_SIZE or array.dtype.kind not in "fiu":
        return None, None
    return float(array.min()), float(array.max())
