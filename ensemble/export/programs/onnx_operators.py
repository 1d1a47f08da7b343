"""What JAX's primitives are in ONNX, one by one.

`ELEMENTWISE` has those that ONNX knows by another word; `OPERATORS` has a function for each that
takes more: of the graph, the values that go in, the equation's parameters and the shape that comes
out.
"""

import string
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from ensemble.export.programs.onnx_graph import GraphBuilder, Value, is_open

_Operator = Callable[[GraphBuilder, list[Value], dict[str, Any], tuple[Any, ...]], Value]

ELEMENTWISE = {
    "abs": "Abs",
    "add": "Add",
    "add_any": "Add",
    "and": "And",
    "ceil": "Ceil",
    "cos": "Cos",
    "div": "Div",
    "eq": "Equal",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "le": "LessOrEqual",
    "log": "Log",
    "logistic": "Sigmoid",
    "lt": "Less",
    "max": "Max",
    "min": "Min",
    "mul": "Mul",
    "neg": "Neg",
    "not": "Not",
    "or": "Or",
    "pow": "Pow",
    "sign": "Sign",
    "sin": "Sin",
    "sqrt": "Sqrt",
    "sub": "Sub",
    "tanh": "Tanh",
}
UNCHANGED = ("copy", "copy_p", "stop_gradient")
_REDUCTIONS = {
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
}


class UnknownPrimitiveError(Exception):
    """ONNX has no word for this, or none that is written here; its text names it."""


def translate_elementwise(graph: GraphBuilder, name: str, values: list[Value], shape: tuple[Any, ...]) -> Value:
    """What is done number by number; ONNX spreads out what has a 1 somewhere."""
    content = graph.add_node(ELEMENTWISE[name], *values)
    return Value(content, shape, _is_spread_out(values, shape))


def _is_spread_out(values: list[Value], shape: tuple[Any, ...]) -> bool:
    return any(value.whole and value.shape == shape for value in values)


def _compose_elementwise(*steps: tuple[str, Any]) -> _Operator:
    """An operator in steps: each ONNX's word, and the number that is its second input or None."""

    def translate(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
        content: Any = values[0]
        for operator, number in steps:
            second = () if number is None else (np.array(number, np.float32),)
            content = graph.add_node(operator, content, *second)
        return Value(content, shape, values[0].whole)

    return translate


def _translate_square(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    return Value(graph.add_node("Mul", values[0], values[0]), shape, values[0].whole)


def _translate_power(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
    if params["y"] == 2:
        return _translate_square(graph, values, params, shape)
    exponent = np.array(params["y"], np.float32)
    return Value(graph.add_node("Pow", values[0], exponent), shape, values[0].whole)


def _translate_unequal(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    content = graph.add_node("Not", graph.add_node("Equal", *values))
    return Value(content, shape, _is_spread_out(values, shape))


def _translate_clamp(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
    low, x, high = values
    content = graph.add_node("Min", graph.add_node("Max", x, low), high)
    return Value(content, shape, _is_spread_out(values, shape))


def _translate_choice(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    if len(values) != 3:
        raise UnknownPrimitiveError(f"select_n of {len(values) - 1}")
    content = graph.add_node("Where", values[0], values[2], values[1])
    return Value(content, shape, _is_spread_out(values, shape))


def _translate_conversion(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(params["new_dtype"]))
    return Value(graph.add_node("Cast", values[0], to=kind), shape, values[0].whole)


def _translate_broadcast(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    """More axes, along which it is the same: each is a 1 until somebody needs the whole."""
    (value,), places = values, [int(axis) for axis in params["broadcast_dimensions"]]
    whole = value.whole and len(places) == len(shape) and value.shape == shape
    added = [axis for axis in range(len(shape)) if axis not in places]
    if isinstance(value.content, np.ndarray):
        array = np.expand_dims(value.content, tuple(added))
        return Value(array, shape, array.shape == shape)
    if not added:
        return Value(value.content, shape, whole)
    content = graph.add_node("Unsqueeze", value, np.array(added, np.int64))
    kept = value.whole and tuple(shape[axis] for axis in places) == value.shape
    return Value(content, shape, kept and all(shape[axis] == 1 for axis in added))


def _translate_reshape(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    if params.get("dimensions") is not None:
        raise UnknownPrimitiveError("reshape with dimensions")
    return graph.reshape(values[0], shape)


def _translate_squeeze(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    """Without axes of length 1."""
    axes = np.array([int(axis) for axis in params["dimensions"]], np.int64)
    return Value(graph.add_node("Squeeze", values[0], axes), shape, values[0].whole)


def _translate_transposition(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    return graph.transpose(values[0], tuple(int(axis) for axis in params["permutation"]))


def _build_reduction(operator: str) -> _Operator:
    def translate(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
        axes = np.array([int(axis) for axis in params["axes"]], np.int64)
        whole = graph.spread_out(values[0])
        return Value(graph.add_node(operator, whole, axes, keepdims=0), shape)

    return translate


def _translate_concatenation(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    parts = [graph.spread_out(value) for value in values]
    return Value(graph.add_node("Concat", *parts, axis=int(params["dimension"])), shape)


def _translate_stack(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
    axis = int(params["axis"])
    place = np.array([axis], np.int64)
    parts = [graph.add_node("Unsqueeze", graph.spread_out(value), place) for value in values]
    return Value(graph.add_node("Concat", *parts, axis=axis), shape)


def _translate_slice(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
    value = graph.spread_out(values[0])
    steps = params["strides"] or (1,) * len(shape)
    cut = [
        (axis, int(start), int(limit), int(step))
        for axis, (start, limit, step) in enumerate(
            zip(params["start_indices"], params["limit_indices"], steps, strict=True)
        )
        if not is_open(value.shape[axis]) and (start, limit, step) != (0, value.shape[axis], 1)
    ]
    if not cut:
        return value
    axes, starts, limits, strides = (np.array(each, np.int64) for each in zip(*cut, strict=True))
    return Value(graph.add_node("Slice", value, starts, limits, axes, strides), shape)


def _translate_padding(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    """A number around it; less than none cuts off."""
    value, edges = graph.spread_out(values[0]), params["padding_config"]
    if any(inside for _, _, inside in edges):
        raise UnknownPrimitiveError("pad between numbers")
    around = np.array([*(low for low, _, _ in edges), *(high for _, high, _ in edges)], np.int64)
    return Value(graph.add_node("Pad", value, around, values[1], mode="constant"), shape)


def _translate_product(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    (left_axes, right_axes), (left_batch, right_batch) = params["dimension_numbers"]
    left, right = (graph.spread_out(value) for value in values)
    if not left_batch and len(right.shape) == 2 and len(left_axes) == 1:
        if right_axes[0] == 1:
            right = graph.transpose(right, (1, 0))
        if left_axes[0] == len(left.shape) - 1 and len(left.shape) > 1:
            return Value(graph.add_node("MatMul", left, right), shape)
        right_axes = (0,)
    letters = iter(string.ascii_lowercase)
    left_word = [next(letters) for _ in left.shape]
    right_word = [next(letters) for _ in right.shape]
    pairs = zip((*left_axes, *left_batch), (*right_axes, *right_batch), strict=True)
    for left_axis, right_axis in pairs:
        right_word[right_axis] = left_word[left_axis]
    joint = [left_word[axis] for axis in left_batch]
    gone = {left_word[axis] for axis in left_axes}
    free = [each for each in [*left_word, *right_word] if each not in gone and each not in joint]
    words = (left_word, right_word, [*joint, *free])
    a, b, out = ("".join(word) for word in words)
    return Value(graph.add_node("Einsum", left, right, equation=f"{a},{b}->{out}"), shape)


def _translate_convolution(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]
) -> Value:
    """A convolution in any layout; ONNX has its channels before its places."""
    if params["batch_group_count"] != 1:
        raise UnknownPrimitiveError("conv_general_dilated in groups of images")
    layout = params["dimension_numbers"]
    x = graph.transpose(graph.spread_out(values[0]), tuple(layout.lhs_spec))
    kernel = graph.transpose(graph.spread_out(values[1]), tuple(layout.rhs_spec))
    x = _spread_places(graph, x, params["lhs_dilation"])
    padding = [(int(low), int(high)) for low, high in params["padding"]]
    if any(edge < 0 for pair in padding for edge in pair):
        around = [0, 0, *(low for low, _ in padding), 0, 0, *(high for _, high in padding)]
        dimensions = (n + low + high for n, (low, high) in zip(x.shape[2:], padding, strict=True))
        padded = graph.add_node("Pad", x, np.array(around, np.int64), mode="constant")
        x, padding = Value(padded, (*x.shape[:2], *dimensions)), [(0, 0)] * len(padding)
    content = graph.add_node(
        "Conv",
        x,
        kernel,
        strides=[int(step) for step in params["window_strides"]],
        dilations=[int(step) for step in params["rhs_dilation"]],
        pads=[*(low for low, _ in padding), *(high for _, high in padding)],
        group=int(params["feature_group_count"]),
    )
    ordered = tuple(shape[axis] for axis in layout.out_spec)
    back = tuple(int(axis) for axis in np.argsort(layout.out_spec))
    return graph.transpose(Value(content, ordered), back)


def _spread_places(graph: GraphBuilder, x: Value, steps: tuple[int, ...]) -> Value:
    """(N, C, …) with zeros between its places, as a convolution that is transposed takes it."""
    for axis, step in enumerate(steps, start=2):
        if step == 1:
            continue
        before, length, after = x.shape[:axis], int(x.shape[axis]), x.shape[axis + 1 :]
        apart = graph.reshape(x, (*before, length, 1, *after))
        edges = np.zeros((2, len(apart.shape)), np.int64)
        edges[1, axis + 1] = step - 1
        padded = graph.add_node("Pad", apart, edges.ravel(), mode="constant")
        joined = graph.reshape(Value(padded, (*before, length, step, *after)), (*before, length * step, *after))
        limits = (np.array([each], np.int64) for each in (0, (length - 1) * step + 1, axis))
        x = Value(graph.add_node("Slice", joined, *limits), (*before, (length - 1) * step + 1, *after))
    return x


def _build_pooling(operator: str) -> _Operator:
    """The operator of a maximum, or a sum, over windows; over at most three axes."""

    def translate(graph: GraphBuilder, values: list[Value], params: dict[str, Any], shape: tuple[Any, ...]) -> Value:
        sizes, steps = params["window_dimensions"], params["window_strides"]
        dilated = any(step != 1 for step in (*params["base_dilation"], *params["window_dilation"]))
        places = [
            axis
            for axis, each in enumerate(zip(sizes, steps, params["padding"], strict=True))
            if each != (1, 1, (0, 0))
        ]
        if dilated or not 1 <= len(places) <= 3:
            raise UnknownPrimitiveError("pooling over such windows")
        rest = [axis for axis in range(len(shape)) if axis not in places]
        order = (*rest, *places)
        x = graph.transpose(graph.spread_out(values[0]), order)
        inside = x.shape[len(rest) :]
        padding = [params["padding"][axis] for axis in places]
        flat = graph.add_node("Reshape", x, np.array([-1, 1, *inside], np.int64))
        counted = {} if operator == "MaxPool" else {"count_include_pad": 1}
        pooled: Any = graph.add_node(
            operator,
            flat,
            kernel_shape=[int(sizes[axis]) for axis in places],
            strides=[int(steps[axis]) for axis in places],
            pads=[*(int(low) for low, _ in padding), *(int(high) for _, high in padding)],
            **counted,
        )
        if operator != "MaxPool":  # ONNX has the mean, JAX the sum
            total = float(np.prod([sizes[axis] for axis in places]))
            pooled = graph.add_node("Mul", pooled, np.array(total, np.float32))
        ordered = tuple(shape[axis] for axis in order)
        target = np.array([-1 if is_open(each) else int(each) for each in ordered], np.int64)
        made = Value(graph.add_node("Reshape", pooled, target), ordered)
        return graph.transpose(made, tuple(int(axis) for axis in np.argsort(order)))

    return translate


def translate_split(
    graph: GraphBuilder, values: list[Value], params: dict[str, Any], shapes: list[tuple[Any, ...]]
) -> list[Value]:
    """Several parts along an axis, one after the other."""
    sizes = np.array([int(size) for size in params["sizes"]], np.int64)
    whole = graph.spread_out(values[0])
    names = graph.add_split_node("Split", len(sizes), whole, sizes, axis=int(params["axis"]))
    return [Value(name, shape) for name, shape in zip(names, shapes, strict=True)]


OPERATORS: dict[str, _Operator] = {
    "broadcast_in_dim": _translate_broadcast,
    "clamp": _translate_clamp,
    "concatenate": _translate_concatenation,
    "conv_general_dilated": _translate_convolution,
    "convert_element_type": _translate_conversion,
    "dot_general": _translate_product,
    "erfc": _compose_elementwise(("Erf", None), ("Neg", None), ("Add", 1.0)),
    "expm1": _compose_elementwise(("Exp", None), ("Sub", 1.0)),
    "integer_pow": _translate_power,
    "log1p": _compose_elementwise(("Add", 1.0), ("Log", None)),
    "ne": _translate_unequal,
    "pad": _translate_padding,
    "reduce_window_max": _build_pooling("MaxPool"),
    "reduce_window_sum": _build_pooling("AveragePool"),
    "reshape": _translate_reshape,
    "rsqrt": _compose_elementwise(("Sqrt", None), ("Reciprocal", None)),
    "select_n": _translate_choice,
    "slice": _translate_slice,
    "square": _translate_square,
    "squeeze": _translate_squeeze,
    "stack": _translate_stack,
    "transpose": _translate_transposition,
    **{name: _build_reduction(operator) for name, operator in _REDUCTIONS.items()},
}
