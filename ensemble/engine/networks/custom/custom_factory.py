"""From a person's own class, function or module to the Linen module of so many classes."""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import operator
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from flax import linen as nn

from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.custom import linen_calls, nnx_modules
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
_FRAMEWORKS = {  # by the package that is imported
    "torch": "PyTorch",
    "torchvision": "PyTorch",
    "pytorch_lightning": "PyTorch",
    "lightning": "PyTorch",
    "timm": "PyTorch",
    "keras": "Keras",
    "tf_keras": "Keras",
    "tensorflow": "TensorFlow",
    "equinox": "Equinox",
    "haiku": "Haiku",
    "sonnet": "Sonnet",
    "objax": "Objax",
}
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
    if not inspect.isfunction(factory):  # which may load weights of another library
        _check_framework(name, factory)
    if not callable(factory):
        raise ConfigError(f"{name} is neither a Flax module nor a function that returns one.")
    try:
        arguments = build_factory_arguments(name, factory, classes)
        if nnx_modules.is_nnx_factory(factory):
            if arithmetic.precision != "float32":
                if "dtype" not in nnx_modules.list_parameters(factory):
                    raise _build_precision_error(name, "argument")
                arguments["dtype"] = arithmetic.dtype
            return nnx_modules.bridge_nnx_factory(factory, arguments)
        module = factory(**arguments)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(f"The network {name} cannot be created: {describe_custom_code_error(error)}.") from error
    if nnx_modules.is_nnx_module(module):
        raise _build_drawn_module_error(name)
    _check_framework(name, module)
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"{name} returns {type(module).__name__}: it has to return a flax.linen.Module, or be "
            "the class of a flax.nnx.Module."
        )
    return _set_module_precision(name, module, arithmetic)


def name_framework(module: str) -> str | None:
    """Return the framework, such as "PyTorch", that an imported module belongs to; None if it is none of these."""
    return _FRAMEWORKS.get(module.partition(".")[0])


def _check_framework(name: str, thing: Any) -> None:
    """Refuse a module of another framework, and a function that calls one.

    Raises:
      ConfigError: it is one.
    """
    used = [kind.__module__ for kind in (thing if isinstance(thing, type) else type(thing)).__mro__]
    if inspect.isfunction(thing):
        named = [thing.__globals__.get(word) for word in thing.__code__.co_names]
        used = [each.__name__ for each in named if inspect.ismodule(each)]
    if framework := next(filter(None, map(name_framework, used)), None):
        raise ConfigError(
            f"{name} is a network in {framework}, and a Flax module is needed: write it in Flax (Linen or NNX), or "
            "train it elsewhere and import its predictions with `ensemble import`."
        )


def _build_drawn_module_error(name: str) -> ConfigError:
    return ConfigError(
        f"{name} is an NNX module whose parameters are drawn already, so that all members would "
        "be the same: name its class instead, or a function that takes rngs."
    )


def build_factory_arguments(name: str, factory: Any, classes: int) -> dict[str, Any]:
    """Build the arguments of a factory: the number of classes, by name or in an object of settings.

    Settings are a dataclass or a named tuple, as an argument's default or its annotation.

    Raises:
      ConfigError: it needs any other argument.
    """
    parameters = {
        key: parameter
        for key, parameter in nnx_modules.list_parameters(factory).items()
        if key not in _IGNORED_ARGUMENTS and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    count_argument = _find_class_count_argument(parameters)
    arguments: dict[str, Any] = {} if count_argument is None else {count_argument: classes}
    is_nnx = nnx_modules.is_nnx_factory(factory)
    set_each_pass: tuple[str, ...] = linen_calls.MODE_ARGUMENTS if is_nnx else ()
    if isinstance(factory, type) and issubclass(factory, nn.Module):
        set_each_pass = linen_calls.list_mode_fields(factory)
    needed = []
    for key, parameter in parameters.items():
        settings = _build_settings(factory, parameter, None if count_argument else classes)
        if settings is not None:
            arguments[key] = settings
        elif parameter.default is parameter.empty and key not in arguments:
            if key not in set_each_pass:
                needed.append(key)
            elif not is_nnx:
                arguments[key] = False
    counted = ", ".join(key for key in arguments if key not in set_each_pass)
    if not counted and len(needed) == 1 and needed[0] in _SHORT_COUNT_ARGUMENTS:
        return {**arguments, needed[0]: classes}
    if needed:
        _check_framework(name, factory)
        remedy = (
            f": give every argument except the number of classes ({counted}) a default"
            if counted
            else ", and none of its arguments is called num_classes: the number of classes is given to one called "
            f"{_LISTED_ARGUMENTS}, and every other needs a default"
        )
        example = _format_factory_example(name, factory, count_argument, needed)
        raise ConfigError(f"{name} needs {', '.join(needed)}{remedy}. Or name a function: {example}.")
    return arguments


def _format_factory_example(name: str, factory: Any, count_argument: str | None, needed: Sequence[str]) -> str:
    """Format one line of code: a function of the number of classes that makes the module."""
    given = [] if count_argument is None else [f"{count_argument}=num_classes"]
    is_nnx = nnx_modules.is_nnx_factory(factory)
    random_numbers = {"rng": "rngs", "key": "rngs()"} if is_nnx else {}
    given += [f"{key}={random_numbers.get(key, '…')}" for key in needed]
    if is_nnx and nnx_modules.RNG_ARGUMENT in nnx_modules.list_parameters(factory):
        given.append("rngs=rngs")
    taken = "num_classes, rngs" if is_nnx else "num_classes"
    return f"def net({taken}): return {name.rpartition(':')[2]}({', '.join(given)})"


def _build_settings(factory: Any, parameter: inspect.Parameter, classes: int | None) -> Any:
    """Build an object of settings with the number of classes for a parameter; None if it takes no such object.

    Args:
      factory: the class or function with this parameter.
      parameter: one whose default is such an object, or whose annotation is its class.
      classes: the number of classes; None to leave it at its default.
    """
    own_fields = dataclasses.fields(factory) if dataclasses.is_dataclass(factory) else ()
    makers = [each.default_factory for each in own_fields if each.name == parameter.name]
    default: Any = makers[0]() if makers and makers[0] is not dataclasses.MISSING else parameter.default
    has_default = default is not parameter.empty
    kind: Any = type(default) if has_default else parameter.annotation
    if isinstance(kind, str):
        with contextlib.suppress(AttributeError):
            kind = operator.attrgetter(kind)(sys.modules.get(factory.__module__))
    is_named_tuple = hasattr(kind, "_fields")
    if (
        not isinstance(kind, type)
        or issubclass(kind, nn.Module)
        or not (dataclasses.is_dataclass(kind) or is_named_tuple)
    ):
        return None
    fields = inspect.signature(kind).parameters
    count_field = None if classes is None else _find_class_count_argument(fields)
    counted = {} if count_field is None else {count_field: classes}
    if has_default:
        replace = default._replace if is_named_tuple else functools.partial(dataclasses.replace, default)
        return replace(**counted) if counted else None
    if any(field.default is field.empty and key not in counted for key, field in fields.items()):
        return None
    return kind(**counted)


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
