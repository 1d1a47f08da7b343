"""How many floating-point operations a program takes, counted in what JAX has traced.

Products and convolutions alone count, two operations for each multiplication and addition: as
papers count, and all but a few hundredths of what a network does.
"""

import math
from collections.abc import Callable
from typing import Any

_CONVOLUTION_PRIMITIVE = "conv_general_dilated"
_CUSTOM_GRADIENT_PRIMITIVE = "custom_vjp_call"  # stock_convolution.py
_COUNTED_PRIMITIVES = ("dot_general", _CONVOLUTION_PRIMITIVE)


def count_flops(jaxpr: Any) -> int:
    """Operations of a program, as `jax.make_jaxpr` gives it."""
    return _sum_over_equations(jaxpr, _count_equation_flops)


def count_outputs(jaxpr: Any) -> int:
    """Numbers that the products and convolutions of a program give, counted likewise."""
    return _sum_over_equations(jaxpr, _count_equation_outputs)


def count_patch_numbers(jaxpr: Any) -> int:
    """Numbers that all convolutions' outputs see, where those of one output are written out."""
    return _sum_over_equations(jaxpr, _count_equation_patch_numbers)


def has_stock_convolution(jaxpr: Any) -> bool:
    """Whether there is a convolution in it whose gradients are left to JAX."""
    return any(
        eqn.primitive.name == _CONVOLUTION_PRIMITIVE
        or any(has_stock_convolution(part) for value in eqn.params.values() for part in _find_inner_jaxprs(value))
        for eqn in jaxpr.eqns
        if eqn.primitive.name != _CUSTOM_GRADIENT_PRIMITIVE
    )


def _sum_over_equations(jaxpr: Any, cost: Callable[[Any], int]) -> int:
    return sum(_count_in_equation(equation, cost) for equation in jaxpr.eqns)


def _count_in_equation(equation: Any, cost: Callable[[Any], int]) -> int:
    name, params = equation.primitive.name, equation.params
    if name in _COUNTED_PRIMITIVES:
        return cost(equation)
    inner = sum(_sum_over_equations(part, cost) for value in params.values() for part in _find_inner_jaxprs(value))
    return inner * int(params.get("length", 1)) if name == "scan" else inner


def _count_equation_outputs(equation: Any) -> int:
    return math.prod(equation.outvars[0].aval.shape)


def _count_equation_patch_numbers(equation: Any) -> int:
    if equation.primitive.name != _CONVOLUTION_PRIMITIVE:
        return 0
    outputs = equation.invars[1].aval.shape[equation.params["dimension_numbers"].rhs_spec[0]]
    return _count_equation_flops(equation) // (2 * outputs)


def _count_equation_flops(equation: Any) -> int:
    params = equation.params
    if equation.primitive.name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        factor = equation.invars[0].aval.shape
        return 2 * _count_equation_outputs(equation) * math.prod(factor[axis] for axis in contracted)
    kernel = equation.invars[1].aval.shape
    outputs = kernel[params["dimension_numbers"].rhs_spec[0]]
    return 2 * _count_equation_outputs(equation) * math.prod(kernel) // outputs


def _find_inner_jaxprs(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [part for item in value for part in _find_inner_jaxprs(item)]
    inner = getattr(value, "jaxpr", value)
    return [inner] if hasattr(inner, "eqns") else []
