"""What JAX does not take of the environment, or this program of JAX's settings: in a sentence.

JAX reads its variables as it is imported and looks for devices when it is first asked for one; XLA
ends the whole process where it does not know a flag. So all of it is looked at before JAX starts.
"""

import difflib
import functools
import importlib.metadata
import importlib.util
import os
import pkgutil
import subprocess
import sys
from collections.abc import Mapping

from ensemble.errors import ConfigError
from ensemble.machine.python_command import build_python_environment

_PLATFORMS_VARIABLE, _DEVICE_COUNT_VARIABLE = "JAX_PLATFORMS", "JAX_NUM_CPU_DEVICES"
_PRNG_VARIABLE, _PRNG = "JAX_DEFAULT_PRNG_IMPL", "threefry2x32"
_DISABLE_JIT_VARIABLE, _FLAGS_VARIABLE = "JAX_DISABLE_JIT", "XLA_FLAGS"
_GUARD_VARIABLES = tuple(
    f"JAX_TRANSFER_GUARD{direction}" for direction in ("", "_HOST_TO_DEVICE", "_DEVICE_TO_DEVICE", "_DEVICE_TO_HOST")
)
_HARMLESS_GUARDS = ("allow", "log", "log_explicit")
_FALSE_WORDS = ("", "0", "n", "no", "f", "false", "off")  # as JAX reads them
_PLATFORMS = ("cpu", "cuda", "gpu", "rocm", "tpu")
# Flags that were tried: processes that this one starts need not try them again.
CHECKED_FLAGS_VARIABLE = "ENSEMBLE_CHECKED_XLA_FLAGS"
_FLAGS_TIMEOUT_S = 60.0
# Has XLA read its flags; nothing else of JAX is imported. Where another version has it in another
# place, nothing is found out.
_FLAGS_PROGRAM = """
import sys
try:
    from jaxlib._jax import get_tfrt_cpu_client
except ImportError:
    sys.exit()
get_tfrt_cpu_client()
"""
_BACKEND_ERROR_WORDS = ("Unable to initialize backend", "Unknown backend", "No visible")
_VALUE_ERROR_WORDS = ("for JAX flag", "invalid truth value", "for environment '")


def check_jax_environment() -> None:
    """See that JAX can start with the environment as it is, and this program train with it.

    Raises:
      ConfigError: it cannot, with the variable and what to do.
    """
    if problem := find_environment_problem(os.environ):
        raise ConfigError(problem)
    flags = os.environ.get(_FLAGS_VARIABLE, "").strip()
    if not flags or os.environ.get(CHECKED_FLAGS_VARIABLE) == flags:
        return
    if problem := find_flags_problem(flags):
        raise ConfigError(problem)
    os.environ[CHECKED_FLAGS_VARIABLE] = flags


def find_environment_problem(environment: Mapping[str, str]) -> str:
    """What is amiss with JAX's variables, told without JAX; "" where nothing is seen."""
    if problem := find_platform_problem(environment.get(_PLATFORMS_VARIABLE, "")):
        return problem
    count = environment.get(_DEVICE_COUNT_VARIABLE, "")
    if count and count != "-1" and not (count.strip().isdecimal() and int(count)):
        return (
            f"{_DEVICE_COUNT_VARIABLE} is {count!r:.60}: it has to be a whole number from 1, the "
            "devices that a CPU is divided into. Correct it, or unset it for one a core."
        )
    draws = environment.get(_PRNG_VARIABLE, _PRNG)
    if draws != _PRNG:
        return (
            f"{_PRNG_VARIABLE} is {draws!r:.60}, but members are drawn with {_PRNG} alone, so that "
            "the same seed gives the same numbers: unset it."
        )
    if environment.get(_DISABLE_JIT_VARIABLE, "").lower() not in _FALSE_WORDS:
        return f"{_DISABLE_JIT_VARIABLE} is set, and without compiling nothing can be trained: unset it."
    for variable in _GUARD_VARIABLES:
        guard = environment.get(variable, "allow")
        if guard not in _HARMLESS_GUARDS:
            return (
                f"{variable} is {guard!r:.60}, but training moves batches between host and "
                "devices: unset it, or choose log."
            )
    return ""


def find_platform_problem(platforms: str) -> str:
    """What is amiss with JAX_PLATFORMS; "" where nothing is seen."""
    if not platforms:
        return ""
    names = platforms.split(",")
    plugins = list_platform_plugins()
    remedy = f"Set {_PLATFORMS_VARIABLE}=cpu, or unset it to take what there is."
    for name in names:
        if name in _PLATFORMS or plugins:  # what a plugin is called, only JAX knows
            continue
        close = difflib.get_close_matches(name.strip().lower(), _PLATFORMS, 1)
        meant = f"did you mean {close[0]}?" if close else "there is no such platform."
        return f"{_PLATFORMS_VARIABLE} is {platforms!r:.60}: {meant} {remedy}"
    if any(_is_platform_installed(name, plugins) for name in names):
        return ""
    return (
        f"{_PLATFORMS_VARIABLE} is {platforms!r:.60}, but the JAX that is installed has nothing for "
        f"it. {remedy} For a GPU install jax[cuda13] or jax[cuda12]."
    )


def _is_platform_installed(name: str, plugins: tuple[str, ...]) -> bool:
    if name == "tpu":
        return bool(plugins) or importlib.util.find_spec("libtpu") is not None
    return name == "cpu" or bool(plugins)


@functools.cache
def list_platform_plugins() -> tuple[str, ...]:
    """What is installed of JAX's packages for accelerators, beside that for TPUs."""
    entries = [entry.name for entry in importlib.metadata.entry_points(group="jax_plugins")]
    spec = importlib.util.find_spec("jax_plugins")
    folders = spec.submodule_search_locations if spec else None
    modules = [module.name for module in pkgutil.iter_modules(folders)] if folders else []
    return tuple(sorted({*entries, *modules}))


@functools.lru_cache(maxsize=8)
def find_flags_problem(flags: str) -> str:
    """What XLA says of its flags, tried in a process that may end by it; "" where it takes them."""
    try:
        trial = subprocess.run(
            [sys.executable, "-P", "-c", _FLAGS_PROGRAM],
            env={**build_python_environment(os.environ), _FLAGS_VARIABLE: flags},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_FLAGS_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if trial.returncode == 0:
        return ""
    text = trial.stderr.decode(errors="replace")
    lines = [line.partition("] ")[2] for line in text.splitlines() if line[:1] in ("E", "F")]
    said = next(filter(None, lines), "")
    if not said or (_FLAGS_VARIABLE not in said and "flag" not in said):
        return ""  # it ended by something else, which training will tell
    return f"XLA does not take {_FLAGS_VARIABLE} as it is ({said.strip().rstrip('.'):.200}): correct it, or unset it."


def describe_jax_start_error(error: BaseException) -> str | None:
    """An error with which JAX did not start here, in a sentence; None of any other."""
    said = " ".join(str(error).split())
    if isinstance(error, RuntimeError) and any(word in said for word in _BACKEND_ERROR_WORDS):
        asked = os.environ.get(_PLATFORMS_VARIABLE, "")
        named = f" ({_PLATFORMS_VARIABLE} is {asked!r:.60})" if asked else ""
        return (
            f"JAX cannot use this machine's devices as it was told to{named}: {said:.300} Set "
            f"{_PLATFORMS_VARIABLE}=cpu to train on the CPU, or mend what it says."
        )
    if isinstance(error, ValueError) and any(word in said for word in _VALUE_ERROR_WORDS):
        return f"JAX does not take a variable of the environment: {said:.200}. Correct or unset it."
    return None
