"""A network of a person's own: any Linen module, named `package.module:Factory`.

    class Leaves(nn.Module):
        classes: int

        @nn.compact
        def __call__(self, x, train):       # x (B, H, W, channels) in [0, 1]; `train` if it likes
            ...
            return nn.Dense(self.classes)(x)    # logits (B, C)

`Factory` may be such a class, a function that returns a module, or a module itself. It is given
the number of classes where it takes one argument, or one called `classes`. Importing runs the
module's code: only where `architectures.list_allowed_networks` names it.
"""

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble import architectures
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.network import ModuleFactory, Network
from ensemble.errors import ConfigError

CLASS_COUNT_ARGUMENTS = ("classes", "num_classes", "n_classes")
IGNORED_ARGUMENTS = ("parent", "name")  # which every Linen module has


def load_custom_network(name: str) -> ModuleFactory:
    """What makes the module of this name for (classes, width, arithmetic).

    Raises:
      ConfigError: it is not allowed here, cannot be imported, or is nothing that makes a module.
    """
    architectures.check_network_allowed(name)
    module, _, attribute = name.partition(":")
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"The network {name} cannot be imported: {describe_custom_code_error(error)}."
        ) from error

    def create_module(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
        return set_module_precision(name, create_custom_module(name, factory, classes), arithmetic)

    return create_module


def create_custom_module(name: str, factory: Any, classes: int) -> nn.Module:
    """The module that `factory` is, or makes for so many classes."""
    if isinstance(factory, nn.Module):
        return factory
    if not callable(factory):
        raise ConfigError(f"{name} is neither a Flax Linen module nor a function that returns one.")
    try:
        module = factory(**build_factory_arguments(name, factory, classes))
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"The network {name} cannot be created: {describe_custom_code_error(error)}."
        ) from error
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"{name} returns {type(module).__name__}: it has to return a flax.linen.Module."
        )
    return module


def build_factory_arguments(name: str, factory: Callable[..., Any], classes: int) -> dict[str, Any]:
    """The arguments to give to a factory: the number of classes where it takes one."""
    parameters = {
        key: parameter
        for key, parameter in inspect.signature(factory).parameters.items()
        if key not in IGNORED_ARGUMENTS
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    needed = [key for key, parameter in parameters.items() if parameter.default is parameter.empty]
    if len(needed) > 1:
        raise ConfigError(
            f"{name} needs {', '.join(needed)}: give every argument except the number of "
            "classes a default."
        )
    named = needed or [key for key in CLASS_COUNT_ARGUMENTS if key in parameters]
    return dict.fromkeys(named[:1], classes)


def set_module_precision(name: str, module: nn.Module, arithmetic: Arithmetic) -> nn.Module:
    """The module with its products in that precision."""
    if arithmetic.precision == "float32":
        return module
    if not hasattr(module, "dtype"):
        raise ConfigError(
            f"{name} has no field dtype to set bfloat16 with: give it one, or choose float32."
        )
    return module.clone(dtype=arithmetic.dtype)


def check_custom_network(network: Network) -> None:
    """See that a member can be made, learn and be asked; nothing is computed.

    Raises:
      ConfigError: its code fails; logits have another shape than (B, C); or it carries something
        that cannot be kept from step to step: one sentence each.
    """
    name, batch = network.name, 2
    images = jax.ShapeDtypeStruct((batch, *network.image_shape), jnp.float32)
    try:
        jax.eval_shape(
            lambda key: _check_leaves(name, network.init_variables(key)), jax.random.key(0)
        )
        params = jax.eval_shape(network.init, jax.random.key(0))
        _check_trained(network, params)
        logits = jax.eval_shape(network.apply, params, images)
        key = jax.random.key(0)

        def run_training_pass(params: Any, images: Array) -> Any:
            trained, rest = network.split_params(params)
            learnt, after = network.apply_in_training(trained, rest, images, key)
            return learnt, {**trained, **after}

        learnt, after = jax.eval_shape(run_training_pass, params, images)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        height, width, channels = network.image_shape
        raise ConfigError(
            f"The network {name} does not take images ({height}, {width}, {channels}): "
            f"{describe_custom_code_error(error)}."
        ) from error
    wanted = (batch, network.classes)
    for output in (logits, learnt):
        if getattr(output, "shape", None) != wanted:
            shape = getattr(output, "shape", type(output).__name__)
            raise ConfigError(
                f"The network {name} gives {shape} for {batch} images of {network.classes} "
                f"classes: it has to give logits {wanted}."
            )
    if _describe_leaves(after) != _describe_leaves(params):
        raise ConfigError(
            f"The network {name} carries something whose shape or type changes during a step: "
            "its collections have to keep their shapes and types."
        )


def _check_trained(network: Network, params: Any) -> None:
    name, (trained, _) = network.name, network.split_params(params)
    if not jax.tree.leaves(trained):
        raise ConfigError(f"The network {name} has no parameters: there is nothing to learn.")
    if not all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(trained)):
        raise ConfigError(
            f"The network {name} has parameters that are not floating-point numbers: keep "
            "those in a separate collection."
        )


def _check_leaves(name: str, variables: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(variables):
        where = "/".join(str(getattr(step, "key", step)) for step in path)
        named = all(isinstance(step, jax.tree_util.DictKey) for step in path)
        if not named or not hasattr(leaf, "dtype"):
            raise ConfigError(
                f"The network {name} carries {where}, which is not a named array: keep only "
                "arrays in its collections."
            )
        if jnp.issubdtype(leaf.dtype, jax.dtypes.extended):
            raise ConfigError(
                f"The network {name} carries a random key in {where}, which cannot be stored: "
                "draw it with make_rng instead."
            )


def _describe_leaves(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: (tuple(leaf.shape), str(leaf.dtype)), tree)


def describe_custom_code_error(error: BaseException) -> str:
    """An error of other people's code in one line: its kind, its first words, and where."""
    words = str(error).strip().split("\n")[0].rstrip(".")[:300]
    frames = traceback.extract_tb(error.__traceback__)
    custom_frames = [
        frame
        for frame in frames
        if "site-packages" not in frame.filename
        and os.path.dirname(__file__) not in frame.filename
        and "<frozen" not in frame.filename
    ]
    where = (
        f" ({os.path.basename(custom_frames[-1].filename)}, line {custom_frames[-1].lineno})"
        if custom_frames
        else ""
    )
    return f"{type(error).__name__}: {words}{where}" if words else f"{type(error).__name__}{where}"
