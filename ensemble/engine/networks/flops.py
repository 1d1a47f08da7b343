"""How many floating-point operations a program takes, counted in what JAX has traced.

Products and convolutions alone count, two operations for each multiplication and addition: as
papers count, and all but a few hundredths of what a network does.
"""

import math
from collections.abc import Callable
from typing import Any

import jax


def count(function: Callable[..., Any], *shapes: Any) -> int:
    """Operations of `function` for arguments of these shapes; nothing is compiled."""
    return _of(jax.make_jaxpr(function)(*shapes).jaxpr)


def _of(jaxpr: Any) -> int:
    return sum(_of_one(equation) for equation in jaxpr.eqns)


def _of_one(equation: Any) -> int:
    name, params = equation.primitive.name, equation.params
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        factor = equation.invars[0].aval.shape
        return _twice(equation) * math.prod(factor[axis] for axis in contracted)
    if name == "conv_general_dilated":
        kernel = equation.invars[1].aval.shape
        outputs = kernel[params["dimension_numbers"].rhs_spec[0]]
        return _twice(equation) * math.prod(kernel) // outputs
    inner = sum(_of(part) for value in params.values() for part in _jaxprs(value))
    return inner * params.get("length", 1) if name == "scan" else inner


def _twice(equation: Any) -> int:
    return 2 * math.prod(equation.outvars[0].aval.shape)


def _jaxprs(value: Any) -> list[Any]:
    """What of an equation's parameters is a program of its own."""
    if isinstance(value, tuple | list):
        return [part for one in value for part in _jaxprs(one)]
    inner = getattr(value, "jaxpr", value)
    return [inner] if hasattr(inner, "eqns") else []
