"""A network of a person's own: a Flax module, Linen or NNX, named `package.module:Factory`.

    class Leaves(nn.Module):
        num_classes: int

        @nn.compact
        def __call__(self, x, train):       # x (B, H, W, channels) in [0, 1]; `train` if it likes
            ...
            return nn.Dense(self.num_classes)(x)    # logits (B, C)

`Factory` may be such a class, a function that returns a module, or a module itself. It is given
the number of classes by name (custom_factory.py). Importing runs the module's code: only where
`architectures.list_allowed_networks` names it.
"""

import importlib
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
from flax import errors as flax_errors
from flax import linen as nn
from jax import Array

from ensemble import architectures
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic
from ensemble.engine.networks.custom import linen_calls, nnx_modules
from ensemble.engine.networks.custom.custom_factory import (
    build_custom_module,
    describe_custom_code_error,
    name_framework,
)
from ensemble.engine.networks.custom.folder_finder import find_modules_in_working_folder
from ensemble.engine.networks.network import ModuleFactory, Network, join_tree_path
from ensemble.errors import ConfigError

_UNBOUND_AXIS_WORDS = "unbound axis name"
_BATCH_NORM_REMEDY = (
    " Let its __call__ take an argument train, and call BatchNorm(use_running_average=not train), so that the running "
    "statistics change in training only."
)
# What to change, by a part of Flax's own error.
_REMEDIES = {
    'collection "batch_stats" is immutable': _BATCH_NORM_REMEDY,
    '"use_running_average" must be passed': _BATCH_NORM_REMEDY,
    '"deterministic" must be passed': " Let its __call__ take an argument train, and call Dropout(rate, "
    "deterministic=not train).",
    "no `rngs` argument was provided": " Make it with its random numbers, nnx.Dropout(rate, rngs=rngs), or let "
    "__call__(self, x, rngs=None) take an argument of that name and pass it to the layer; draw only in training.",
}


def load_custom_network(name: str) -> ModuleFactory:
    """What makes the module of this name for (classes, width, arithmetic).

    Raises:
      ConfigError: it is not allowed here, cannot be imported, or is nothing that makes a module.
    """
    architectures.check_network_allowed(name)
    module, _, attribute = name.partition(":")
    find_modules_in_working_folder()
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and (framework := name_framework(error.name or "")):
            raise ConfigError(
                f"The network {name} cannot be imported: its file needs {framework}, which is not installed, and a "
                "Flax module is needed. Write it in Flax (Linen or NNX); if it is one, leave that import out."
            ) from error
        if isinstance(error, ModuleNotFoundError) and module.endswith(".py"):
            hint = f" Leave .py out: {module.removesuffix('.py')}:{attribute}."
        raise ConfigError(
            f"The network {name} cannot be imported: {describe_custom_code_error(error)}.{hint}"
        ) from error

    def create_module(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
        return build_custom_module(name, factory, classes, arithmetic)

    return create_module


def check_custom_network(network: Network) -> None:
    """See that a member can be made, learn and be asked; nothing is computed.

    Raises:
      ConfigError: its code fails; logits have another shape than (B, C); or it carries something
        that cannot be kept from step to step: one sentence each.
    """
    name, batch = network.name, 2
    images = jax.ShapeDtypeStruct((batch, *network.image_shape), jnp.float32)
    try:
        _check_call_arguments(network)
        jax.eval_shape(lambda key: _check_leaves(name, network.init_variables(key)), jax.random.key(0))
        params = jax.eval_shape(network.init, jax.random.key(0))
        _check_trained(network, params)
        logits = jax.eval_shape(network.apply, params, images)
        _check_output_shape(network, logits, batch)
        key = jax.random.key(0)

        def run_training_pass(params: Any, images: Array) -> Any:
            trained, rest = network.split_params(params)
            learnt, after = network.apply_in_training(trained, rest, images, key)
            return learnt, {**trained, **after}

        learnt, after = jax.eval_shape(run_training_pass, params, images)
        _check_output_shape(network, learnt, batch)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(_describe_failed_pass(network, error)) from error
    if _describe_leaves(after) != _describe_leaves(params):
        raise ConfigError(
            f"The network {name} carries something whose shape or type changes during a step: "
            "its collections have to keep their shapes and types."
        )


def _check_call_arguments(network: Network) -> None:
    """See that nothing has to be said in a call but what is said in each."""
    module = network.create_module(network.classes, network.width, DEFAULT_ARITHMETIC)
    known = [
        *linen_calls.MODE_ARGUMENTS,
        *([nnx_modules.RNG_ARGUMENT] if nnx_modules.is_bridged_module(module) else []),
    ]
    others = [*linen_calls.list_call_parameters(module).values()][2:]
    needed = [
        parameter.name
        for parameter in others
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in known
    ]
    if needed:
        raise ConfigError(
            f"The __call__ of the network {network.name} needs {', '.join(needed)}, which it is "
            f"not given: only images are, and {', '.join(known[:-1])} or {known[-1]} where it "
            "takes one of them. Give everything else a default."
        )


def _describe_failed_pass(network: Network, error: BaseException) -> str:
    begin = f"The network {network.name}"
    words = describe_custom_code_error(error)
    if _UNBOUND_AXIS_WORDS in str(error):
        axis = str(error).split(_UNBOUND_AXIS_WORDS)[1].lstrip(": ").split()[0].strip("\"'.,")
        return (
            f"{begin} uses the axis “{axis}”, as axis_name of BatchNorm or a pmean does, which "
            "nobody binds: each member is trained whole on one device. Leave the axis name out."
        )
    if isinstance(error, flax_errors.InvalidRngError):
        return (
            f"{begin} draws random numbers where nothing may be drawn, while it is judged: let it "
            f"draw only where train is true, as Dropout(deterministic=not train) does ({words})."
        )
    remedy = next((remedy for part, remedy in _REMEDIES.items() if part in str(error)), "")
    return f"{begin} does not take {network.input_words}: {words}.{remedy}"


def _check_output_shape(network: Network, output: Any, batch: int) -> None:
    if output.shape != (batch, network.classes):
        raise ConfigError(network.describe_wrong_output(output.shape, batch))


def _check_trained(network: Network, params: Any) -> None:
    name, (trained, _) = network.name, network.split_params(params)
    if not jax.tree.leaves(trained):
        raise ConfigError(f"The network {name} has no parameters: there is nothing to learn.")
    if not all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(trained)):
        raise ConfigError(
            f"The network {name} has parameters that are not floating-point numbers: keep "
            "those in a separate collection."
        )
    paths = [join_tree_path(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    if twice := [path for path, count in Counter(paths).items() if count > 1]:
        raise ConfigError(
            f"The network {name} has two arrays at {twice[0]}, one by a name with “/” in it: rename a layer."
        )


def _check_leaves(name: str, variables: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(variables):
        where = join_tree_path(path)
        named = all(isinstance(step, jax.tree_util.DictKey) for step in path)
        if not named or not hasattr(leaf, "dtype"):
            raise ConfigError(
                f"The network {name} carries {where}, which is not a named array: keep only arrays in its collections."
            )
        if jnp.issubdtype(leaf.dtype, jax.dtypes.extended):
            raise ConfigError(
                f"The network {name} carries a random key in {where}, which cannot be stored: "
                "draw it with make_rng instead."
            )


def _describe_leaves(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: (tuple(leaf.shape), str(leaf.dtype)), tree)
