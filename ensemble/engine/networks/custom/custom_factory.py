"""From a person's own class, function or module to the Linen module of so many classes."""

import importlib
import inspect
import os
import re
import traceback
from collections.abc import Mapping
from typing import Any

from flax import linen as nn

from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.custom import nnx_modules
from ensemble.errors import ConfigError

# What the number of classes is called, the surest first; case and underscores do not matter.
_CLASS_COUNT_ARGUMENTS = (
    "num_classes",
    "classes",
    "n_classes",
    "nb_classes",
    "no_classes",
    "class_count",
    "number_of_classes",
    "num_labels",
    "n_labels",
    "num_outputs",
    "n_outputs",
    "n_out",
    "out_features",
    "output_features",
    "output_dim",
    "out_dim",
    "dim_out",
    "output_size",
    "out_size",
    "dout",
    "num_class",
    "n_class",
)
# What the only argument without a default may be called, as in networks of earlier versions.
_SHORT_COUNT_ARGUMENTS = ("outputs", "labels", "out", "n", "k", "c")
_LISTED_ARGUMENTS = "num_classes, classes, n_classes, num_labels or out_features"
_IGNORED_ARGUMENTS = ("parent", "name", nnx_modules.RNG_ARGUMENT)  # which every module may have


def build_custom_module(name: str, factory: Any, classes: int, arithmetic: Arithmetic) -> nn.Module:
    """The module that `factory` is, or makes for so many classes, in that precision.

    Raises:
      ConfigError: it is none, needs more than the number of classes, or its code fails.
    """
    if isinstance(factory, nn.Module):
        return _set_module_precision(name, factory, arithmetic)
    if nnx_modules.is_nnx_module(factory):
        raise _build_drawn_module_error(name)
    if not callable(factory):
        raise ConfigError(f"{name} is neither a Flax module nor a function that returns one.")
    arguments = build_factory_arguments(name, factory, classes)
    if nnx_modules.is_nnx_factory(factory):
        if arithmetic.precision != "float32":
            if "dtype" not in nnx_modules.list_parameters(factory):
                raise _build_precision_error(name, "argument")
            arguments["dtype"] = arithmetic.dtype
        return nnx_modules.bridge_nnx_factory(factory, arguments)
    try:
        module = factory(**arguments)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(f"The network {name} cannot be created: {describe_custom_code_error(error)}.") from error
    if nnx_modules.is_nnx_module(module):
        raise _build_drawn_module_error(name)
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"{name} returns {type(module).__name__}: it has to return a flax.linen.Module, or be "
            "the class of a flax.nnx.Module."
        )
    return _set_module_precision(name, module, arithmetic)


def _build_drawn_module_error(name: str) -> ConfigError:
    return ConfigError(
        f"{name} is an NNX module whose parameters are drawn already, so that all members would "
        "be the same: name its class instead, or a function that takes rngs."
    )


def build_factory_arguments(name: str, factory: Any, classes: int) -> dict[str, Any]:
    """The arguments to give to a factory: the number of classes where it takes that by name.

    Raises:
      ConfigError: it needs any other argument.
    """
    parameters = {
        key: parameter
        for key, parameter in nnx_modules.list_parameters(factory).items()
        if key not in _IGNORED_ARGUMENTS and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    count_argument = _find_class_count_argument(parameters)
    needed = [
        key for key, parameter in parameters.items() if parameter.default is parameter.empty and key != count_argument
    ]
    if count_argument is None and len(needed) == 1 and needed[0] in _SHORT_COUNT_ARGUMENTS:
        return {needed[0]: classes}
    if needed and count_argument is None:
        raise ConfigError(
            f"{name} needs {', '.join(needed)}, and none of its arguments is called "
            f"num_classes: the number of classes is given to one called {_LISTED_ARGUMENTS}, and "
            "every other needs a default."
        )
    if needed:
        raise ConfigError(
            f"{name} needs {', '.join(needed)}: give every argument except the number of "
            f"classes ({count_argument}) a default."
        )
    return {count_argument: classes} if count_argument else {}


def _find_class_count_argument(parameters: Mapping[str, inspect.Parameter]) -> str | None:
    """The parameter that is the number of classes by its name; None if there is none."""
    by_plain_name = {key.replace("_", "").lower(): key for key in reversed(list(parameters))}
    wanted = (name.replace("_", "") for name in _CLASS_COUNT_ARGUMENTS)
    return next((by_plain_name[name] for name in wanted if name in by_plain_name), None)


def _set_module_precision(name: str, module: nn.Module, arithmetic: Arithmetic) -> nn.Module:
    if arithmetic.precision == "float32":
        return module
    if nnx_modules.is_bridged_module(module) or not hasattr(module, "dtype"):
        raise _build_precision_error(name, "field")
    return module.clone(dtype=arithmetic.dtype)


def _build_precision_error(name: str, what: str) -> ConfigError:
    """What to say of a network that cannot be told to multiply bfloat16."""
    return ConfigError(f"{name} has no {what} dtype to set bfloat16 with: give it one, or choose float32.")


def describe_custom_code_error(error: BaseException) -> str:
    """An error of other people's code in one line: its kind, its first words, and where."""
    first_line = str(error).strip().split("\n")[0]
    words = re.sub(r" \(https?://\S+\)", "", first_line).rstrip(".")[:300]
    frames = traceback.extract_tb(error.__traceback__)
    custom_frames = [
        frame
        for frame in frames
        if "site-packages" not in frame.filename
        and os.path.dirname(__file__) not in frame.filename
        and "<frozen" not in frame.filename
        and frame.filename != importlib.__file__
    ]
    where = (
        f" ({os.path.basename(custom_frames[-1].filename)}, line {custom_frames[-1].lineno})" if custom_frames else ""
    )
    return f"{type(error).__name__}: {words}{where}" if words else f"{type(error).__name__}{where}"
