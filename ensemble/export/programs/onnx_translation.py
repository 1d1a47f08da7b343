"""A program that JAX has traced as nodes of an ONNX graph, equation by equation.

What depends on the parameters alone is reckoned here, by JAX, and stands in the graph as numbers.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ensemble.export.programs import onnx_operators
from ensemble.export.programs.onnx_graph import GraphBuilder, Value, is_open, make_known_value
from ensemble.export.programs.onnx_operators import UnknownPrimitiveError

# Equations that stand for a program of their own, and the parameter that it is.
CALLS = {
    "checkpoint": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat2": "jaxpr",
}
KINDS = ("float32", "float16", "float64", "int32", "int64", "int8", "uint8", "bool")


def translate_program(graph: GraphBuilder, program: Any, inputs: list[Value]) -> list[Value]:
    """Add what a traced program does to the graph; its outputs.

    Args:
      graph: to which nodes are added.
      program: as `jax.make_jaxpr` gives it.
      inputs: one for each of its arguments.

    Raises:
      UnknownPrimitiveError: there is something in it that is not written here.
    """
    constants = [make_known_value(np.asarray(each)) for each in program.consts]
    return _translate_equations(graph, program.jaxpr, [*constants, *inputs])


def _translate_equations(graph: GraphBuilder, jaxpr: Any, inputs: list[Value]) -> list[Value]:
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], inputs, strict=True))

    def read_variable(variable: Any) -> Value:
        if hasattr(variable, "val"):  # a number that stands in the equation itself
            return make_known_value(np.asarray(variable.val, variable.aval.dtype))
        return known[variable]

    for equation in _select_needed_equations(jaxpr):
        values = [read_variable(variable) for variable in equation.invars]
        results = _translate_equation(graph, equation, values)
        known.update(zip(equation.outvars, results, strict=True))
    return [read_variable(variable) for variable in jaxpr.outvars]


def _select_needed_equations(jaxpr: Any) -> list[Any]:
    """The equations on which the outputs depend, in order: NNX also draws weights for nobody."""
    needed, chosen = set(map(id, jaxpr.outvars)), []
    for equation in reversed(jaxpr.eqns):
        if any(id(variable) in needed for variable in equation.outvars):
            needed.update(map(id, equation.invars))
            chosen.append(equation)
    return chosen[::-1]


def _translate_equation(graph: GraphBuilder, equation: Any, values: list[Value]) -> list[Value]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        inner = params[CALLS[name]]
        if hasattr(inner, "consts"):
            return translate_program(graph, inner, values)
        return _translate_equations(graph, inner, values)
    shapes = [tuple(variable.aval.shape) for variable in equation.outvars]
    for variable in equation.outvars:
        if str(variable.aval.dtype) not in KINDS:
            raise UnknownPrimitiveError(f"numbers of type {variable.aval.dtype}")
    if folded := _compute_known(equation, values, shapes):
        return folded
    if name in onnx_operators.UNCHANGED:
        return [values[0]]
    if name in onnx_operators.ELEMENTWISE:
        return [onnx_operators.translate_elementwise(graph, name, values, shapes[0])]
    if name == "split":
        return onnx_operators.translate_split(graph, values, params, shapes)
    if name not in onnx_operators.OPERATORS:
        raise UnknownPrimitiveError(name)
    return [onnx_operators.OPERATORS[name](graph, values, params, shapes[0])]


def _compute_known(equation: Any, values: list[Value], shapes: list[tuple[Any, ...]]) -> list[Value]:
    """An equation's results where all that goes in is known; none where it is not."""
    if any(is_open(dimension) for shape in shapes for dimension in shape):
        return []
    if not all(value.is_known and value.whole for value in values):
        return []
    arrays = [jnp.asarray(value.content) for value in values]
    results = equation.primitive.bind(*arrays, **equation.params)
    each = results if equation.primitive.multiple_results else [results]
    return [make_known_value(np.asarray(result)) for result in each]
