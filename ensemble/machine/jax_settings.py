"""What JAX is told before it starts, in a worker or on the command line.

XLA reads its settings once, so this has to run before the first `import jax`. A setting
that the user made in the environment is left alone.
"""

import contextlib
import functools
import importlib.util
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

from ensemble.machine.jax_environment import CHECKED_FLAGS_VARIABLE, check_jax_environment
from ensemble.storage.folders import data_folder, is_utf8_path

_COMPILE_CACHE_BYTES = 512 * 1024 * 1024
_CACHE_SIZE_VARIABLE, _UNBOUNDED_CACHE_SIZE = "JAX_COMPILATION_CACHE_MAX_SIZE", -1
# Nobody is still writing a compiled program that is older than this.
_HALF_WRITTEN_AGE_S = 60.0
# What a worker tells XLA on a CPU. Training is right without any of them, only slower.
XLA_CPU_FLAGS = {
    # XLA's older way to write loops, at LLVM's level 1 and none of them unrolled: compiled in less
    # than half the time, the training step as fast as XLA's own; unrolled, they take a fifth longer
    # to compile for a few per cent of the step's speed (`python -m benchmarks.speed.compile`). The
    # XLA of JAX 0.10 and 0.11 has the older way; one without it takes no notice of the option.
    "xla_backend_optimization_level": "1",
    "xla_backend_extra_options": "xla_cpu_disable_new_fusion_emitters,xla_cpu_disable_loop_unrolling",
    # Leaves the convolution's barriers (`materialize_arrays`, engine/networks/cpu_products.py) standing:
    # else what lies before one is computed again inside every loop after it.
    "xla_disable_hlo_passes": "cse_barrier_expander",
}
DEVICE_COUNT_FLAG = "host_platform_device_count"

# What this process has set, and what was there before.
_variables_set: dict[str, tuple[str, str | None]] = {}


def count_cpu_cores() -> int:
    """Processor cores that this process may use.

    A task of Slurm's has as many as it was given, also where nothing binds it to them.
    """
    slurm_cores = os.environ.get("SLURM_CPUS_PER_TASK", "") if "SLURM_JOB_ID" in os.environ else ""
    most = int(slurm_cores) if slurm_cores.isdecimal() and int(slurm_cores) else sys.maxsize
    if hasattr(os, "sched_getaffinity"):
        return min(most, len(os.sched_getaffinity(0)))
    return min(most, os.cpu_count() or 1)


def is_cpu_only() -> bool:
    """Whether JAX cannot find anything but the CPU, without starting it."""
    if platforms := os.environ.get("JAX_PLATFORMS"):
        return platforms == "cpu"
    # What JAX's packages for accelerators bring along.
    return not any(importlib.util.find_spec(name) for name in ("jax_plugins", "libtpu"))


def count_cpu_devices() -> int | None:
    """How many devices JAX will find, told without starting it; None if only it can tell."""
    if not is_cpu_only() or DEVICE_COUNT_FLAG in os.environ.get("XLA_FLAGS", ""):
        return None
    device_count = os.environ.get("JAX_NUM_CPU_DEVICES") or str(count_cpu_cores())
    return (int(device_count) or None) if device_count.isdecimal() else None


def _merge_xla_flags(flags: str, wanted: dict[str, str]) -> str:
    missing = [f"--{name}={value}" for name, value in wanted.items() if name not in flags]
    return " ".join([*flags.split(), *missing])


def prepare_jax() -> None:
    """Set what the engine needs of JAX: devices on a CPU, and a cache of compiled programs.

    Raises:
      ConfigError: JAX cannot start with what the environment says.
    """
    check_jax_environment()
    if DEVICE_COUNT_FLAG not in os.environ.get("XLA_FLAGS", ""):
        # A CPU is one device to JAX. Inside a compiled loop XLA uses one core per device, so
        # members train on all cores only when each core is a device of its own.
        set_default_variable("JAX_NUM_CPU_DEVICES", str(count_cpu_cores()))
    if is_cpu_only():
        flags = _merge_xla_flags(os.environ.get("XLA_FLAGS", ""), XLA_CPU_FLAGS)
        if flags != os.environ.get("XLA_FLAGS"):
            _set_variable("XLA_FLAGS", flags)
            os.environ[CHECKED_FLAGS_VARIABLE] = flags  # of which those of a person were tried
    # A second launch then compiles nothing; the bound keeps the cache from growing for ever.
    cache = data_folder() / "compiled"
    bound = _COMPILE_CACHE_BYTES if _has_user_name() else _UNBOUNDED_CACHE_SIZE
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ and can_use_cache_folder(cache):
        _set_variable("JAX_COMPILATION_CACHE_DIR", str(cache))
        if os.environ.get(_CACHE_SIZE_VARIABLE, str(bound)) != str(
            _UNBOUNDED_CACHE_SIZE
        ):  # else no program has a second file
            delete_half_written_programs(cache)
    set_default_variable(_CACHE_SIZE_VARIABLE, str(bound))
    set_default_variable("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def _has_user_name() -> bool:
    """Whether the system knows this process's user and group by name; often not in containers.

    JAX (0.10 and 0.11), where its cache is bounded, asks for the names of whose each file is, and
    stores nothing if there is none.
    """
    if os.name == "nt":
        return True
    import grp
    import pwd

    try:
        return bool(pwd.getpwuid(os.geteuid()) and grp.getgrgid(os.getegid()))
    except KeyError:
        return False


@functools.cache
def can_use_cache_folder(cache: Path) -> bool:
    """Whether compiled programs can be kept in a folder, which is made; if not, that is logged.

    It is made for its owner alone: whoever writes a program there has it run by this user.
    """
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        mine = os.access in os.supports_effective_ids
        writable = os.access(cache, os.W_OK, effective_ids=mine)
        reason = "" if writable else "it cannot be written"
    except OSError as error:
        reason = error.strerror or str(error)
    if not is_utf8_path(cache):
        reason = "its name is not UTF-8"
    if reason:
        logging.getLogger("ensemble").warning(
            "Compiled programs cannot be saved in %s (%s), so each start compiles them again: "
            "point ENSEMBLE_DATA at a folder that can be written.",
            os.fsencode(cache).decode("utf-8", "backslashreplace"),
            reason,
        )
    return not reason


def delete_half_written_programs(cache: Path) -> None:
    """Remove compiled programs that a process which was killed has not written to their end.

    JAX keeps each in a file, and when it was last used in another. Where one lacks its second
    file, JAX (0.10 and 0.11) cannot tell which to let go, and keeps no new program ever after.
    """
    for program in cache.glob("*-cache"):
        used = program.with_name(program.name.removesuffix("-cache") + "-atime")
        with contextlib.suppress(OSError):
            old = time.time() - program.stat().st_mtime > _HALF_WRITTEN_AGE_S
            if old and not used.exists():
                program.unlink()


def set_default_variable(name: str, value: str) -> None:
    """Set a variable of this process's environment that has no value yet."""
    if name not in os.environ:
        _set_variable(name, value)


def _set_variable(name: str, value: str) -> None:
    _variables_set[name] = value, os.environ.get(name)
    os.environ[name] = value


def restore_user_environment() -> dict[str, str]:
    """The environment without what was set here: what a person has said, for other processes.

    The server reads pictures with one device per core; a regression's worker wants another number.
    """
    environment = dict(os.environ)
    for name, (value, before) in _variables_set.items():
        if environment.get(name) == value:
            del environment[name]
            environment.update({} if before is None else {name: before})
    return environment


def read_device_info() -> dict[str, Any]:
    """What there is to train on: platform, devices, cores. Starts JAX."""
    prepare_jax()
    import jax

    devices = [{"id": device.id, "kind": device.device_kind} for device in jax.local_devices()]
    return {"platform": jax.default_backend(), "devices": devices, "cores": count_cpu_cores()}
