"""A network bound to the images that it takes and the classes that it tells apart."""

import contextlib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import errors as flax_errors
from flax import linen as nn
from jax import Array

from ensemble import architectures
from ensemble.engine.networks import flops
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic
from ensemble.engine.networks.custom import linen_calls, nnx_modules
from ensemble.engine.networks.patch_convolution import convolve_by_patches
from ensemble.engine.networks.stock_convolution import use_convolution, use_fast_convolutions
from ensemble.errors import ConfigError

Params = dict[str, Any]
ModuleFactory = Callable[[int, int, Arithmetic], nn.Module]


@dataclass(frozen=True)
class Network:
    """One architecture for images of one shape; hashable, so that programs are made once for it.

    A member's `params` are one nested dict of arrays: Flax's collection "params" as it is, and
    every other collection (BatchNorm's running statistics in "batch_stats") beside its layers,
    under the collection's name.

    Attributes:
      name: its word in settings, or `package.module:Factory`.
      image_shape: of one image, (H, W, channels).
      classes: C, how many classes it tells apart.
      width: how wide its layers are; 0 is its own width.
      create_module: a Linen module for (classes, width, arithmetic).
      tower: whether its convolutions are by sums of its own (conv_tower.py).
    """

    name: str
    image_shape: tuple[int, ...]
    classes: int
    width: int = 0
    create_module: ModuleFactory = field(compare=False, repr=False, kw_only=True)
    tower: bool = field(default=False, compare=False, repr=False, kw_only=True)

    @property
    def is_custom(self) -> bool:
        """Whether its code is a person's own, not this package's."""
        return architectures.is_custom_network(self.name)

    @property
    def input_words(self) -> str:
        """What it takes, for sentences."""
        return f"images ({', '.join(map(str, self.image_shape))})"

    def describe_wrong_output(self, shape: tuple[int, ...], batch: int) -> str:
        """What to say where its outputs have this shape for so many images."""
        remedy = ""
        if self.is_custom and len(shape) == 2:
            remedy = " Give its class an argument num_classes, and let its last layer have so many outputs."
        elif self.is_custom and len(shape) > 2:
            remedy = " Flatten the images before its last layer: x.reshape(len(x), -1)."
        return (
            f"The network {self.name} gives {shape} for {batch} images of {self.classes} classes: "
            f"it has to give logits {(batch, self.classes)}.{remedy}"
        )

    def init(self, key: Array) -> Params:
        """One member's parameters, drawn as `module.init(key, images)` draws them.

        Those of fewer bits are kept in float32: a step is mostly too small for bfloat16.
        """
        variables = self.init_variables(key)
        trained = jax.tree.map(_widen_parameter, variables.pop("params", {}))
        if both := sorted(set(trained) & set(variables)):
            raise ConfigError(f"The network {self.name} has a layer and a collection called {both[0]}: rename one.")
        return {**trained, **variables}

    def apply(self, params: Params, images: Array, arithmetic: Arithmetic = DEFAULT_ARITHMETIC) -> Array:
        """One member's logits (B, C) for images (B, H, W, channels) in [0, 1], as it is judged."""
        with _choose_convolutions(arithmetic.execution, training=False):
            logits = linen_calls.apply_for_evaluation(
                self._build_module(arithmetic), self._pack_variables(params), images
            )
        return _convert_logits(self.name, logits)

    def apply_in_training(
        self,
        trained: Params,
        rest: Params,
        images: Array,
        key: Array | None,
        arithmetic: Arithmetic = DEFAULT_ARITHMETIC,
    ) -> tuple[Array, Params]:
        """Logits (B, C) of the training pass, and the other collections after it.

        Args:
          trained: what the optimizer moves; with `rest` as `split_params` gives them.
          rest: the other collections.
          images: (B, H, W, channels) in [0, 1].
          key: what dropout and the like draw from; None only where `is_stochastic` is False.
          arithmetic: how the sums are done.
        """
        with _choose_convolutions(arithmetic.execution, training=True):
            logits, rest = linen_calls.apply_for_training(
                self._build_module(arithmetic), {"params": trained, **rest}, images, key
            )
        return _convert_logits(self.name, logits), rest

    def compute_features(self, params: Params, images: Array) -> tuple[Array, Array]:
        """Logits (B, C), and what the last dense layer sees of each image, (B, F).

        Where the last thing that a network does is no dense layer, its logits are its features.
        """
        with linen_calls.capture_dense_inputs(self.classes) as dense_inputs:
            logits = self.apply(params, images)
        features = dense_inputs[-1] if dense_inputs else logits
        return logits, features.reshape(len(images), -1).astype(jnp.float32)

    def split_params(self, params: Params) -> tuple[Params, Params]:
        """What the optimizer moves, and the other collections."""
        rest = {name: params[name] for name in self.collections}
        return {name: tree for name, tree in params.items() if name not in rest}, rest

    @functools.cached_property
    def collections(self) -> tuple[str, ...]:
        """The collections that it has beside "params"."""
        variables = jax.eval_shape(lambda: self.init_variables(jax.random.key(0)))
        return tuple(sorted(set(variables) - {"params"}))

    @functools.cached_property
    def is_stochastic(self) -> bool:
        """Whether its training pass draws random numbers, as dropout does."""
        module = self._build_module(DEFAULT_ARITHMETIC)
        if nnx_modules.is_bridged_module(module):  # which draws without a key, the same each time
            return nnx_modules.draws_random_numbers(module)
        params = self._abstract_params
        images = jax.ShapeDtypeStruct((2, *self.image_shape), jnp.float32)
        try:
            jax.eval_shape(lambda p, x: self.apply_in_training(*self.split_params(p), x, None), params, images)
        except flax_errors.InvalidRngError:
            return True
        return False

    @functools.cached_property
    def shapes(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape and type of each of a member's arrays by its path: `Conv_0/kernel`.

        A layer's own name may have a `/` in it (`nn.WeightNorm`): only `nest_arrays` knows where
        a path is divided.
        """
        return {join_tree_path(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(self._abstract_params)}

    def nest_arrays(self, arrays: Mapping[str, Any]) -> Params:
        """One member's parameters, or (M, …) of several, from their arrays by path as in `shapes`.

        Raises:
          KeyError: one of them is not there.
        """

        def find_array(path: Any, leaf: Any) -> Any:
            return arrays[join_tree_path(path)]

        params: Params = jax.tree_util.tree_map_with_path(find_array, self._abstract_params)
        return params

    @functools.cached_property
    def _abstract_params(self) -> Any:
        """What `init` gives, without the numbers: no device is started for them."""
        return jax.eval_shape(lambda: self.init(jax.random.key(0)))

    @functools.cached_property
    def parameters(self) -> int:
        """How many numbers the optimizer moves in one member."""
        prefixes = tuple(f"{name}/" for name in self.collections)
        counted = [shape for path, shape in self.shapes.items() if not path.startswith(prefixes)]
        return sum(int(np.prod(leaf.shape)) for leaf in counted)

    @functools.cached_property
    def flops(self) -> int:
        """Floating-point operations of one image's forward pass, in products and convolutions."""
        return flops.count_flops(self._forward_jaxpr)

    @functools.cached_property
    def outputs(self) -> int:
        """Numbers that the products and convolutions of one image's forward pass give."""
        return flops.count_outputs(self._forward_jaxpr)

    @functools.cached_property
    def patch_numbers(self) -> int:
        """Numbers in the patches of one image's convolutions (patch_convolution.py)."""
        return flops.count_patch_numbers(self._forward_jaxpr)

    @property
    def training_flops(self) -> int:
        """Of one image's training step: as usual taken for three times the forward pass."""
        return 3 * self.flops

    @functools.cached_property
    def is_fast_in_loops(self) -> bool:
        """Whether it is quick in a compiled loop on a CPU: all its convolutions are made so."""
        if self.tower:
            return True
        with use_fast_convolutions():
            return not flops.has_stock_convolution(self.trace_forward().jaxpr)

    @functools.cached_property
    def _forward_jaxpr(self) -> Any:
        return self.trace_forward().jaxpr

    def trace_forward(self) -> Any:
        """What JAX traces of one image's logits by stock layers: of parameters, then the image."""
        params = self._abstract_params
        image = jax.ShapeDtypeStruct((1, *self.image_shape), jnp.float32)
        stock = Arithmetic("grouped")
        return jax.make_jaxpr(lambda p, x: self.apply(p, x, stock))(params, image)

    def _build_module(self, arithmetic: Arithmetic) -> nn.Module:
        return self.create_module(self.classes, self.width, arithmetic)

    def init_variables(self, key: Array) -> Params:
        """All of one member's collections by name, as Flax has them."""
        return linen_calls.init_variables(self._build_module(DEFAULT_ARITHMETIC), key, jnp.ones((1, *self.image_shape)))

    def _pack_variables(self, params: Params) -> Params:
        trained, rest = self.split_params(params)
        return {"params": trained, **rest}


def _convert_logits(name: str, output: Any) -> Array:
    """What a network's call gives, as float32 logits.

    Raises:
      ConfigError: it is no array of floating-point numbers.
    """
    if not hasattr(output, "dtype") or not hasattr(output, "astype"):
        raise ConfigError(
            f"The network {name} gives {_describe_output(output)}: its __call__ has to return the "
            "logits alone, an array (B, C)."
        )
    if not jnp.issubdtype(output.dtype, jnp.floating):
        raise ConfigError(
            f"The network {name} gives numbers of type {output.dtype}: it has to give logits, "
            "floating-point numbers (B, C), not the class that it chooses."
        )
    logits: Array = output.astype(jnp.float32)
    return logits


def _describe_output(output: Any) -> str:
    """What something is that is no array: "a dict with logits"."""
    if output is None:
        return "None"
    kind = type(output).__name__
    if isinstance(output, Mapping):
        return f"a {kind} with {', '.join(map(str, output)):.80}"
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return f"a {kind} with {', '.join(output._fields):.80}"
    if isinstance(output, tuple | list):
        return f"a {kind} of {len(output)} things"
    return f"a {kind}"


def join_tree_path(path: Any) -> str:
    """The path of an array in nested dicts: `Conv_0/kernel`."""
    return "/".join(str(getattr(step, "key", step)) for step in path)


def _widen_parameter(parameter: Array) -> Array:
    is_narrow = jnp.issubdtype(parameter.dtype, jnp.floating) and parameter.dtype.itemsize < 4
    return parameter.astype(jnp.float32) if is_narrow else parameter


def _choose_convolutions(execution: str, training: bool) -> contextlib.AbstractContextManager[None]:
    """In here, convolutions of `nn.Conv` are as they are fast in an execution."""
    if execution == "patches":
        return use_convolution(convolve_by_patches)
    if execution == "scan" and training:
        return use_fast_convolutions()
    return contextlib.nullcontext()
