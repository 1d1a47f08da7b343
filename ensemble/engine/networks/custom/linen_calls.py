"""Calling a Linen module, whether or not it tells training from evaluation.

A module's `__call__` takes images, and may take an argument for training or evaluation:
`train`, `training` or `is_training`, else `deterministic`, which says the opposite.
One that stands for an NNX module is set to its pass (nnx_modules.py).
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax
from flax import core
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.custom import nnx_modules

TRAINING_ARGUMENTS = ("train", "training", "is_training", "is_train")
EVALUATION_ARGUMENTS = ("deterministic", "use_running_average", "inference")


def init_variables(module: nn.Module, key: Array, images: Array) -> dict[str, Any]:
    """All collections of a module before its first step: plain nested dicts."""
    if nnx_modules.is_bridged_module(module):
        mode_arguments = build_mode_arguments(module, train=False)
        module = nnx_modules.set_bridged_mode(module, train=False)
        variables = module.init(nnx_modules.list_bridged_rngs(key), images, **mode_arguments)
        return nnx_modules.name_list_entries(core.unfreeze(nn.meta.unbox(variables)))
    variables = module.init(key, images, **build_mode_arguments(module, train=False))
    return core.unfreeze(nn.meta.unbox(variables))


def apply_for_evaluation(module: nn.Module, variables: Any, images: Array) -> Any:
    """What a pass gives that changes nothing: BatchNorm by its running statistics."""
    mode_arguments = build_mode_arguments(module, train=False)
    if nnx_modules.is_bridged_module(module):
        module = nnx_modules.set_bridged_mode(module, train=False)
        variables = nnx_modules.number_list_entries(variables)
    return module.apply(variables, images, **mode_arguments)


def apply_for_training(
    module: nn.Module, variables: Any, images: Array, key: Array | None
) -> tuple[Any, dict[str, Any]]:
    """What a training pass gives, and all collections but "params" after it."""
    rest = [name for name in variables if name != "params"]
    rngs = None if key is None else {"dropout": key, "params": jax.random.fold_in(key, 1)}
    mode_arguments = build_mode_arguments(module, train=True)
    is_bridged = nnx_modules.is_bridged_module(module)
    if nnx_modules.is_bridged_module(module):
        module = nnx_modules.set_bridged_mode(module, train=True)
        variables = nnx_modules.number_list_entries(variables)
        rngs = None if key is None else {**(rngs or {}), "default": jax.random.fold_in(key, 2)}
    if not rest:
        return module.apply(variables, images, rngs=rngs, **mode_arguments), {}
    logits, changed = module.apply(variables, images, rngs=rngs, mutable=rest, **mode_arguments)
    after = {name: core.unfreeze(changed[name]) for name in rest}
    return logits, nnx_modules.name_list_entries(after) if is_bridged else after


def build_mode_arguments(module: nn.Module, train: bool) -> dict[str, Any]:
    """What to say to a module's `__call__` of which pass it is; nothing where it does not ask."""
    parameters = list_call_parameters(module)
    arguments = {name: train for name in TRAINING_ARGUMENTS if name in parameters}
    return arguments | {name: not train for name in EVALUATION_ARGUMENTS if name in parameters}


def list_call_parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    """What a module's `__call__` takes, by name, itself and the images among it."""
    if nnx_modules.is_bridged_module(module):
        return dict(nnx_modules.list_parameters(nnx_modules.find_bridged_call(module)))
    return dict(nnx_modules.list_parameters(type(module).__call__))


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
