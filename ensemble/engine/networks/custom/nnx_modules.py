"""Flax NNX modules, which Flax's own bridge makes Linen modules of.

A Linen module is told by a word of its call which pass it is; an NNX module by `train()` and
`eval()`, which set `deterministic` and `use_running_average` of all layers in it. NNX takes a while
to import: what is asked here of any network imports nothing.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import jax
from jax import Array

if TYPE_CHECKING:
    from flax import nnx
    from flax.nnx import bridge

_NNX_PACKAGE, _BRIDGE_PACKAGE = "flax.nnx", "flax.nnx.bridge"
RNG_ARGUMENT = "rngs"


def is_nnx_factory(factory: Any) -> bool:
    """Whether it makes an NNX module: a class of them, or a function that is given `rngs`."""
    if isinstance(factory, functools.partial):
        return is_nnx_factory(factory.func)
    if isinstance(factory, type):
        return _is_nnx_class(factory)
    return not is_nnx_module(factory) and RNG_ARGUMENT in list_parameters(factory)


def is_nnx_module(module: Any) -> bool:
    """Whether it is an NNX module with its parameters in it."""
    return _is_nnx_class(type(module))


def is_bridged_module(module: Any) -> "TypeGuard[bridge.ToLinen]":
    """Whether it is a Linen module that stands for an NNX module."""
    package = sys.modules.get(_BRIDGE_PACKAGE)  # else nobody can have made one
    return package is not None and isinstance(module, package.ToLinen)


def _is_nnx_class(kind: type) -> bool:
    package = sys.modules.get(_NNX_PACKAGE)
    return package is not None and issubclass(kind, package.Module)


def bridge_nnx_factory(factory: Callable[..., Any], arguments: Mapping[str, Any]) -> "bridge.ToLinen":
    """The Linen module of what `factory` makes with these arguments."""
    from flax.nnx import bridge

    takes_rngs = RNG_ARGUMENT in list_parameters(factory)
    return bridge.to_linen(factory, skip_rng=not takes_rngs, **arguments)


def list_parameters(factory: Any) -> Mapping[str, inspect.Parameter]:
    """A factory's parameters by name; none of one that does not say which it takes."""
    if isinstance(factory, functools.partial):
        parameters = list(list_parameters(factory.func).values())[len(factory.args) :]
        return {each.name: each for each in parameters if each.name not in factory.keywords}
    try:
        if isinstance(factory, type) and _is_nnx_class(factory):
            # Of the class itself Python sees no more than that its metaclass takes anything.
            _, *others = inspect.signature(
                factory.__init__  # type: ignore[misc]
            ).parameters.values()
            return {parameter.name: parameter for parameter in others}
        return inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}


def set_bridged_mode(module: "bridge.ToLinen", train: bool) -> "bridge.ToLinen":
    """The same module in training, or as it is judged."""
    create = functools.partial(_create_in_mode, module.nnx_class, train)
    return module.clone(nnx_class=create)


def _create_in_mode(nnx_class: "Callable[..., nnx.Module]", train: bool, *args: Any, **kwargs: Any) -> "nnx.Module":
    module = nnx_class(*args, **kwargs)
    module.train() if train else module.eval()
    return module


def find_bridged_call(module: "bridge.ToLinen") -> Any:
    """What is called with images: the `__call__` of a class; None of another factory."""
    return module.nnx_class.__call__ if isinstance(module.nnx_class, type) else None


def list_bridged_rngs(key: Array) -> dict[str, Array]:
    """Streams of random numbers for a module: one by any other name draws from "default"."""
    return {"params": key, "default": jax.random.fold_in(key, 1)}


def draws_random_numbers(module: "bridge.ToLinen") -> bool:
    """Whether the module keeps a stream of random numbers, as dropout does."""
    from flax import nnx

    def create_random_state(key: Array) -> Any:
        rngs = {} if module.skip_rng else {RNG_ARGUMENT: nnx.Rngs(key)}
        return nnx.state(module.nnx_class(*module.args, **module.kwargs, **rngs), nnx.RngState)

    return bool(jax.tree.leaves(jax.eval_shape(create_random_state, jax.random.key(0))))


def name_list_entries(tree: Any) -> Any:
    """A collection with text for every name: layers in a list are called "0", "1" and so on."""
    if not isinstance(tree, Mapping):
        return tree
    return {str(name): name_list_entries(value) for name, value in tree.items()}


def number_list_entries(tree: Any) -> Any:
    """The same with the numbers again, as NNX looks for them."""
    if not isinstance(tree, Mapping):
        return tree
    return {int(name) if name.isdecimal() else name: number_list_entries(value) for name, value in tree.items()}
