"""How many floating-point operations a program takes, counted in what JAX has traced.

Products and convolutions alone count, two operations for each multiplication and addition: as
papers count, and all but a few hundredths of what a network does.
"""

import math
from typing import Any

CONVOLUTION = "conv_general_dilated"


def count(jaxpr: Any) -> int:
    """Operations of a program, as `jax.make_jaxpr` gives it."""
    return sum(_of_one(equation) for equation in jaxpr.eqns)


def convolves(jaxpr: Any) -> bool:
    """Whether there is a convolution in it."""
    return any(
        one.primitive.name == CONVOLUTION
        or any(convolves(part) for value in one.params.values() for part in _jaxprs(value))
        for one in jaxpr.eqns
    )


def _of_one(equation: Any) -> int:
    name, params = equation.primitive.name, equation.params
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        factor = equation.invars[0].aval.shape
        return _twice(equation) * math.prod(factor[axis] for axis in contracted)
    if name == CONVOLUTION:
        kernel = equation.invars[1].aval.shape
        outputs = kernel[params["dimension_numbers"].rhs_spec[0]]
        return _twice(equation) * math.prod(kernel) // outputs
    inner = sum(count(part) for value in params.values() for part in _jaxprs(value))
    return inner * params.get("length", 1) if name == "scan" else inner


def _twice(equation: Any) -> int:
    return 2 * math.prod(equation.outvars[0].aval.shape)


def _jaxprs(value: Any) -> list[Any]:
    """What of an equation's parameters is a program of its own."""
    if isinstance(value, tuple | list):
        return [part for one in value for part in _jaxprs(one)]
    inner = getattr(value, "jaxpr", value)
    return [inner] if hasattr(inner, "eqns") else []
