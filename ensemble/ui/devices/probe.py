"""Which devices a run will find, asked of a process of its own where there may be accelerators.

The process that serves pages must not look itself: looking is what takes an accelerator's
memory. The last answer is cached on disk and shown while a new one is awaited.
Where there can only be a CPU nobody has to be asked.
"""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import streamlit as st

from ensemble.jobs.launch import build_worker_environment
from ensemble.machine.jax_settings import count_cpu_cores, count_cpu_devices
from ensemble.machine.python_command import build_python_command
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.folders import data_folder
from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.field_checks import NumberRange, check_json_value

COMMAND = build_python_command("devices", "--json")
PATIENCE_SECONDS = 120.0
# What decides which devices JAX finds: an answer for other values is not this machine's.
_DEVICE_VARIABLES = (
    "JAX_PLATFORMS",
    "JAX_NUM_CPU_DEVICES",
    "XLA_FLAGS",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "TPU_VISIBLE_CHIPS",
)


@dataclass(frozen=True)
class DeviceInventory:
    """What the probe found: platform, kind of each device, processor cores."""

    platform: str
    kinds: tuple[str, ...]
    cores: int

    @property
    def devices(self) -> int:
        return len(self.kinds)

    @property
    def summary(self) -> str:
        """The devices in words: "4 GPUs (NVIDIA H200)", "1 CPU device"."""
        plural = "s" if self.devices != 1 else ""
        if self.platform == "cpu":
            return f"{self.devices} CPU device{plural}"
        return f"{self.devices} {self.platform.upper()}{plural} ({self.kinds[0]})"


class _DeviceRecord(TypedDict):
    """One device, as `devices --json` has it."""

    kind: str


class _ProbeOutput(TypedDict):
    """What is read of what `devices --json` prints."""

    platform: str
    devices: list[_DeviceRecord]
    cores: Annotated[int, NumberRange(1, 2**20)]


def parse_device_inventory(answer: Any) -> DeviceInventory:
    """A Machine from the JSON that `ensemble devices --json` prints.

    Raises:
      ValueError: it is something else.
    """
    probe_output: _ProbeOutput = check_json_value(_ProbeOutput, answer, "answer")
    kinds = tuple(device["kind"] for device in probe_output["devices"])
    if not kinds:
        raise ValueError("there is no device")
    return DeviceInventory(probe_output["platform"], kinds, probe_output["cores"])


def _build_cpu_inventory() -> DeviceInventory | None:
    """This machine, where it cannot have anything but its CPU."""
    count = count_cpu_devices()
    return DeviceInventory("cpu", ("cpu",) * count, count_cpu_cores()) if count else None


class DeviceProbe:
    """One question to the machine: `inventory` is None until it is there, `failed` says why not.

    Args:
      folder: where the last answer is cached.
      command: what to ask; by default nobody where that is not needed.
    """

    def __init__(self, folder: Path, command: tuple[str, ...] = ()) -> None:
        self.cache = folder / "devices.json"
        self.failed = ""
        self.started = time.monotonic()
        self.process: subprocess.Popen[str] | None = None
        self.machine = None if command else _build_cpu_inventory()
        if self.machine is None:
            self.machine = self._read_cache()
            self._start_process(command or COMMAND)

    def _start_process(self, command: tuple[str, ...]) -> None:
        try:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=build_worker_environment()
            )
            # Importing JAX keeps a core busy: the page that is being opened goes first.
            os.setpriority(os.PRIO_PROCESS, self.process.pid, 10)
        except OSError as error:
            self.failed = str(error)

    @property
    def inventory(self) -> DeviceInventory | None:
        """The machine as far as it is known: now, else as it was found the last time."""
        self._poll_process()
        return self.machine

    @property
    def is_pending(self) -> bool:
        """Whether there is nothing to show yet, but will be."""
        return self.inventory is None and not self.failed

    def _poll_process(self) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            if time.monotonic() - self.started < PATIENCE_SECONDS:
                return
            self.process.kill()
        text, _ = self.process.communicate()
        self.process = None
        try:
            answer = parse_json(text.encode())
            self.machine = parse_device_inventory(answer)
        except ValueError:
            self.failed = "it did not answer"
        else:
            self._write_cache(answer)

    def _write_cache(self, answer: dict[str, Any]) -> None:
        try:
            self.cache.parent.mkdir(parents=True, exist_ok=True)
            write_json(self.cache, {"answer": answer, "for": collect_probe_circumstances()})
        except OSError:
            pass  # it only saves the next start a wait

    def _read_cache(self) -> DeviceInventory | None:
        try:
            cached = read_json(self.cache)
            return (
                parse_device_inventory(cached.get("answer"))
                if cached.get("for") == collect_probe_circumstances()
                else None
            )
        except (OSError, ValueError):
            return None


def collect_probe_circumstances() -> dict[str, str]:
    """What an answer depends on: this machine's name and the settings JAX looks at."""
    variables = {name: os.environ[name] for name in _DEVICE_VARIABLES if name in os.environ}
    return {"host": os.uname().nodename, **variables}


@st.cache_resource(show_spinner=False)
def get_device_probe() -> DeviceProbe:
    return DeviceProbe(data_folder())
