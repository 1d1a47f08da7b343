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

from ensemble.errors import ConfigError

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


def set_bridged_mode(module: "bridge.ToLinen", train: bool, created_with: Mapping[str, bool]) -> "bridge.ToLinen":
    """Return the same module set to training or evaluation, created with these further arguments."""
    create = functools.partial(_create_in_mode, module.nnx_class, train, created_with)
    return module.clone(nnx_class=create)


def _create_in_mode(
    nnx_class: "Callable[..., nnx.Module]", train: bool, created_with: Mapping[str, bool], *args: Any, **kwargs: Any
) -> "nnx.Module":
    module = nnx_class(*args, **created_with, **kwargs)
    kind = type(module)
    for method in ("train", "eval"):
        if not callable(getattr(module, method)):
            raise ConfigError(
                f"{kind.__module__}:{kind.__qualname__} has an attribute {method}, which hides the method {method}() "
                "of nnx.Module that sets dropout and BatchNorm for each pass: rename it, such as to training."
            )
    module.train() if train else module.eval()
    return module


def list_free_parameters(module: "bridge.ToLinen") -> Mapping[str, inspect.Parameter]:
    """List the arguments of the module's class that have no value yet."""
    return list_parameters(functools.partial(module.nnx_class, *module.args, **module.kwargs))


def find_bridged_class(module: "bridge.ToLinen") -> type:
    """Return the class of the NNX module that is called with images."""
    if isinstance(module.nnx_class, type):
        return module.nnx_class
    kinds: list[type] = []
    _trace_created_module(module, lambda created: kinds.append(type(created)))
    return kinds[0]


def needs_call_rngs(module: "bridge.ToLinen") -> bool:
    """Whether `__call__` has to be given random numbers.

    It takes `rngs`, and has no default for it, or a layer was made without (`nnx.Dropout(0.1)`), or the
    module is not one of Flax's own and keeps no random numbers.
    """
    call: Any = find_bridged_class(module).__call__
    taken = list_parameters(call).get(RNG_ARGUMENT)
    if taken is None or taken.default is taken.empty:
        return taken is not None
    from flax import nnx

    layers_without: list[bool] = []

    def find_layers(created: nnx.Module) -> None:
        layers_without.extend(getattr(layer, RNG_ARGUMENT, layer) is None for _, layer in nnx.iter_modules(created))

    _trace_created_module(module, find_layers)
    is_flax = call.__module__.startswith(_NNX_PACKAGE)
    return any(layers_without) or (not is_flax and not _keeps_random_numbers(module))


def build_call_with_rngs(key: Array | None) -> Callable[..., Any]:
    """Build a call of an NNX module that passes it `rngs` of this key.

    Without a key, as in evaluation, `rngs` is left at its default; without a default it has a fixed seed.
    """

    def call(module: "nnx.Module", *args: Any, **kwargs: Any) -> Any:
        from flax import nnx

        kind: Any = type(module)
        taken = list_parameters(kind.__call__)[RNG_ARGUMENT]
        if key is not None or taken.default is taken.empty:
            kwargs[RNG_ARGUMENT] = nnx.Rngs(0 if key is None else jax.random.fold_in(key, 3))
        return kind.__call__(module, *args, **kwargs)

    return call


def list_bridged_rngs(key: Array) -> dict[str, Array]:
    """Streams of random numbers for a module: one by any other name draws from "default"."""
    return {"params": key, "default": jax.random.fold_in(key, 1)}


def draws_random_numbers(module: "bridge.ToLinen") -> bool:
    """Whether the module keeps a stream of random numbers, as dropout does, or is given one."""
    return _keeps_random_numbers(module) or needs_call_rngs(module)


def _keeps_random_numbers(module: "bridge.ToLinen") -> bool:
    from flax import nnx

    return bool(jax.tree.leaves(_trace_created_module(module, lambda created: nnx.state(created, nnx.RngState))))


def _trace_created_module(module: "bridge.ToLinen", read: "Callable[[nnx.Module], Any]") -> Any:
    """Return what `read` returns for the NNX module, as shapes: nothing is computed."""
    from flax import nnx

    missing = {
        name: False
        for name, parameter in list_free_parameters(module).items()
        if name != RNG_ARGUMENT and parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }

    def create(key: Array) -> Any:
        rngs = {} if module.skip_rng else {RNG_ARGUMENT: nnx.Rngs(key)}
        return read(module.nnx_class(*module.args, **module.kwargs, **missing, **rngs))

    return jax.eval_shape(create, jax.random.key(0))


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
