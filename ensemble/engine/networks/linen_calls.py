"""Calling a Linen module, whether or not it tells training from evaluation.

A module's `__call__` takes images, and may take a word that says which pass it is:
`apply_for_training`, `training` or `is_training`, else `deterministic`, which says the opposite.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax
from flax import core
from flax import linen as nn
from jax import Array

TRAINING_ARGUMENTS = ("train", "training", "is_training")
EVALUATION_ARGUMENTS = ("deterministic",)


def init_variables(module: nn.Module, key: Array, images: Array) -> dict[str, Any]:
    """All collections of a module before its first step: plain nested dicts."""
    variables = module.init(key, images, **build_mode_arguments(module, train=False))
    return core.unfreeze(nn.meta.unbox(variables))


def apply_for_evaluation(module: nn.Module, variables: Any, images: Array) -> Array:
    """The logits of a pass that changes nothing: BatchNorm by its running statistics."""
    return module.apply(variables, images, **build_mode_arguments(module, train=False))  # type: ignore[return-value]


def apply_for_training(
    module: nn.Module, variables: Any, images: Array, key: Array | None
) -> tuple[Array, dict[str, Any]]:
    """The logits of a training pass, and all collections but "params" after it."""
    rest = [name for name in variables if name != "params"]
    rngs = None if key is None else {"dropout": key, "params": jax.random.fold_in(key, 1)}
    mode_arguments = build_mode_arguments(module, train=True)
    if not rest:
        return module.apply(variables, images, rngs=rngs, **mode_arguments), {}  # type: ignore[return-value]
    logits, changed = module.apply(variables, images, rngs=rngs, mutable=rest, **mode_arguments)
    return logits, {name: core.unfreeze(changed[name]) for name in rest}  # type: ignore[return-value]


def build_mode_arguments(module: nn.Module, train: bool) -> dict[str, Any]:
    """What to say to a module's `__call__` of which pass it is; nothing where it does not ask."""
    parameters = inspect.signature(type(module).__call__).parameters
    arguments = {name: train for name in TRAINING_ARGUMENTS if name in parameters}
    return arguments | {name: not train for name in EVALUATION_ARGUMENTS if name in parameters}


@contextlib.contextmanager
def capture_dense_inputs(classes: int) -> Iterator[list[Array]]:
    """In here, the inputs of dense layers with so many outputs, in the order they are called."""
    inputs: list[Array] = []

    def capture_inputs(call: Callable[..., Any], args: Any, kwargs: Any, context: Any) -> Any:
        layer = context.module
        last = isinstance(layer, nn.Dense) and layer.features == classes
        if last and context.method_name == "__call__":
            inputs.append(args[0] if args else kwargs["inputs"])
        return call(*args, **kwargs)

    with nn.intercept_methods(capture_inputs):
        yield inputs
