"""The nodes, constants and edges of an ONNX graph as it grows, with the shapes that JAX knows.

An array that is the same along an axis is kept with a 1 there as long as whoever takes it spreads
it out by itself, as ONNX's sums and products do (`Value.whole`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

OPSET, IR_VERSION = 18, 8  # of December 2022: whatever reads ONNX today reads these
_SHARED_SIZE = 64  # numbers of a constant that is looked for among those that are there


@dataclass(frozen=True, eq=False)
class Value:
    """An array of the program: an edge of the graph by its name, or known numbers.

    Attributes:
      content: the edge's name, or the numbers.
      shape: as JAX has it; a dimension that is no int is the number of images.
      whole: whether the array has this shape; else 1 in place of some of its dimensions.
    """

    content: str | NDArray[Any]
    shape: tuple[Any, ...]
    whole: bool = True

    @property
    def is_known(self) -> bool:
        """Whether its numbers are known, all of them."""
        return isinstance(self.content, np.ndarray)


def is_open(dimension: Any) -> bool:
    return not isinstance(dimension, int | np.integer)


def make_known_value(array: NDArray[Any]) -> Value:
    return Value(array, array.shape)


class GraphBuilder:
    """An ONNX graph that grows node by node.

    Args:
      images: the name of the graph's input, whose first dimension is the number of images.
    """

    def __init__(self, images: str) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._images = images
        self._count = 0
        self._shared: dict[tuple[Any, ...], str] = {}
        self._batch = ""

    def add_node(self, operator: str, *inputs: Value | NDArray[Any] | str, **attributes: Any) -> str:
        """Add a node with one output; the name of that.

        Args:
          operator: ONNX's word for what it does.
          inputs: edges by name, numbers, or values as they are, spread out or not.
          attributes: those of the operator.
        """
        (name,) = self.add_split_node(operator, 1, *inputs, **attributes)
        return name

    def add_split_node(
        self, operator: str, outputs: int, *inputs: Value | NDArray[Any] | str, **attributes: Any
    ) -> list[str]:
        """The same with several outputs."""
        made = [self._make_name(operator.lower()) for _ in range(outputs)]
        self._append_node(operator, made, inputs, attributes)
        return made

    def add_named_node(
        self, operator: str, output: str, *inputs: Value | NDArray[Any] | str, **attributes: Any
    ) -> None:
        """The same with one output, whose name the graph's outputs have."""
        self._append_node(operator, [output], inputs, attributes)

    def name_input(self, each: Value | NDArray[Any] | str) -> str:
        """The edge that a node takes: numbers become a constant of the graph."""
        content = each.content if isinstance(each, Value) else each
        return content if isinstance(content, str) else self.add_constant(content)

    def add_constant(self, array: NDArray[Any]) -> str:
        """The name of a constant with these numbers; of few numbers there is one constant."""
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= _SHARED_SIZE else None
        if key is not None and key in self._shared:
            return self._shared[key]
        name = self._make_name("constant")
        # Not `ascontiguousarray`, which makes a vector of a single number.
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        if key is not None:
            self._shared[key] = name
        return name

    def add_dimensions(self, shape: tuple[Any, ...]) -> str:
        """The edge with a shape as numbers, the number of images among them."""
        if not any(map(is_open, shape)):
            return self.add_constant(np.array(shape, np.int64))
        if not self._batch:
            self._batch = self.add_node("Shape", self._images, start=0, end=1)
        parts = [self._batch if is_open(each) else np.array([each], np.int64) for each in shape]
        return self.add_node("Concat", *parts, axis=0)

    def spread_out(self, value: Value) -> Value:
        """The value with its whole shape."""
        if value.whole:
            return value
        if isinstance(value.content, np.ndarray) and not any(map(is_open, value.shape)):
            return make_known_value(np.broadcast_to(value.content, value.shape))
        name = self.add_node("Expand", value, self.add_dimensions(value.shape))
        return Value(name, value.shape)

    def reshape(self, value: Value, shape: tuple[Any, ...]) -> Value:
        """The value in another shape of as many numbers."""
        whole = self.spread_out(value)
        if isinstance(whole.content, np.ndarray):
            return make_known_value(whole.content.reshape(shape))
        if whole.shape == shape:
            return whole
        # 0 is the dimension in the same place, which also a batch without images has.
        target = [
            (0 if whole.shape[n : n + 1] == (each,) else -1) if is_open(each) else int(each)
            for n, each in enumerate(shape)
        ]
        return Value(self.add_node("Reshape", whole, np.array(target, np.int64)), shape)

    def transpose(self, value: Value, order: tuple[int, ...]) -> Value:
        """The value with its axes in another order."""
        shape = tuple(value.shape[axis] for axis in order)
        if order == tuple(range(len(order))):
            return value
        if isinstance(value.content, np.ndarray):
            return Value(np.transpose(value.content, order), shape, value.whole)
        return Value(self.add_node("Transpose", value, perm=list(order)), shape, value.whole)

    def _append_node(
        self, operator: str, outputs: list[str], inputs: Iterable[Any], attributes: dict[str, Any]
    ) -> None:
        names = [self.name_input(each) for each in inputs]
        self.nodes.append(helper.make_node(operator, names, outputs, outputs[0], **attributes))

    def _make_name(self, word: str) -> str:
        self._count += 1
        return f"{word}_{self._count}"
