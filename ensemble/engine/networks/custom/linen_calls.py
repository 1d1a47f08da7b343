"""Calling a Linen module, whether or not it tells training from evaluation.

A module's `__call__` takes images, and may take an argument for training or evaluation:
`train`, `training` or `is_training`, else `deterministic`, which says the opposite. Without one, a
field of the module by such a name is set for each pass. A module that stands for an NNX module is
set to its pass (nnx_modules.py).
"""

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
from flax import core
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.custom import nnx_modules

_TRAINING_ARGUMENTS = ("train", "training", "is_training", "is_train")
_EVALUATION_ARGUMENTS = ("deterministic", "use_running_average", "inference", "is_eval")
MODE_ARGUMENTS = (*_TRAINING_ARGUMENTS, *_EVALUATION_ARGUMENTS)


def init_variables(module: nn.Module, key: Array, images: Array) -> dict[str, Any]:
    """All collections of a module before its first step: plain nested dicts."""
    prepared, arguments = _prepare_pass(module, train=False)
    if nnx_modules.is_bridged_module(module):
        variables = prepared.init(nnx_modules.list_bridged_rngs(key), images, **arguments)
        return nnx_modules.name_list_entries(core.unfreeze(nn.meta.unbox(variables)))
    return core.unfreeze(nn.meta.unbox(prepared.init(key, images, **arguments)))


def apply_for_evaluation(module: nn.Module, variables: Any, images: Array) -> Any:
    """What a pass gives that changes nothing: BatchNorm by its running statistics."""
    prepared, arguments = _prepare_pass(module, train=False)
    if nnx_modules.is_bridged_module(module):
        variables = nnx_modules.number_list_entries(variables)
    return prepared.apply(variables, images, **arguments)


def apply_for_training(
    module: nn.Module, variables: Any, images: Array, key: Array | None
) -> tuple[Any, dict[str, Any]]:
    """What a training pass gives, and all collections but "params" after it."""
    rest = [name for name in variables if name != "params"]
    rngs = None if key is None else {"dropout": key, "params": jax.random.fold_in(key, 1)}
    prepared, arguments = _prepare_pass(module, train=True, key=key)
    is_bridged = nnx_modules.is_bridged_module(module)
    if is_bridged:
        variables = nnx_modules.number_list_entries(variables)
        rngs = None if key is None else {**(rngs or {}), "default": jax.random.fold_in(key, 2)}
    if not rest:
        return prepared.apply(variables, images, rngs=rngs, **arguments), {}
    logits, changed = prepared.apply(variables, images, rngs=rngs, mutable=rest, **arguments)
    after = {name: core.unfreeze(changed[name]) for name in rest}
    return logits, nnx_modules.name_list_entries(after) if is_bridged else after


def _prepare_pass(module: nn.Module, train: bool, key: Array | None = None) -> tuple[nn.Module, dict[str, Any]]:
    """The module as this pass needs it, and the arguments of the call besides the images."""
    arguments = build_mode_arguments(module, train)
    if nnx_modules.is_bridged_module(module):
        created_with = _build_mode_values(nnx_modules.list_free_parameters(module), train)
        if nnx_modules.needs_call_rngs(module):
            arguments["nnx_method"] = nnx_modules.build_call_with_rngs(key)
        return nnx_modules.set_bridged_mode(module, train, created_with), arguments
    fields: dict[str, Any] = {**_build_mode_values(list_mode_fields(type(module)), train)}
    return module.clone(**fields) if fields else module, arguments


def build_mode_arguments(module: nn.Module, train: bool) -> dict[str, Any]:
    """What to say to a module's `__call__` of which pass it is; nothing where it does not ask."""
    return _build_mode_values(list_call_parameters(module), train)


def list_mode_fields(kind: type[nn.Module]) -> tuple[str, ...]:
    """The fields of a Linen module that choose the pass; none if an argument of its `__call__` does."""
    if _build_mode_values(nnx_modules.list_parameters(kind.__call__), train=True):
        return ()
    return tuple(_build_mode_values([field.name for field in dataclasses.fields(kind)], train=True))


def _build_mode_values(names: Iterable[str], train: bool) -> dict[str, bool]:
    """The value of each of these names that chooses the pass."""
    values = {name: train for name in _TRAINING_ARGUMENTS if name in names}
    return values | {name: not train for name in _EVALUATION_ARGUMENTS if name in names}


def list_call_parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    """What a module's `__call__` takes, by name, itself and the images among it."""
    kind = nnx_modules.find_bridged_class(module) if nnx_modules.is_bridged_module(module) else type(module)
    return dict(nnx_modules.list_parameters(kind.__call__))


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
