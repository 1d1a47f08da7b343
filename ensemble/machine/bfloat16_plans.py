"""How bfloat16 is multiplied fastest on this machine, as measured and kept; no JAX in here.

A plan is FFTW's idea (Frigo and Johnson, "The Design and Implementation of FFTW3", Proceedings of
the IEEE 93, 2005): what is fastest is not told from a processor's name or flags, but measured once
with what it is for, and kept for this machine and this jaxlib. The same plan gives the same bits.
"""

import functools
import hashlib
import json
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.machine.processor import detect_processor
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.folders import data_folder
from ensemble.storage.records.field_checks import parse_dataclass

# What a product's factors may be; see engine/networks/cpu_products.py.
CONVOLUTION_METHODS = ("bfloat16", "bfloat16_winograd", "rounded")
DENSE_METHODS = ("bfloat16", "rounded")
# A smaller gain is within what one measurement differs by from the next.
MIN_WORTHWHILE_GAIN = 1.03
_MEASUREMENT_VERSION = 1  # of how it is measured


@dataclass(frozen=True)
class Bfloat16Methods:
    """How products are done where bfloat16 is asked for.

    Attributes:
      convolutions: one of `CONVOLUTION_METHODS`.
      dense: one of `DENSE_METHODS`.
    """

    convolutions: str
    dense: str

    def __post_init__(self) -> None:
        if self.convolutions not in CONVOLUTION_METHODS or self.dense not in DENSE_METHODS:
            raise ValueError(f"There are no such products: {self.convolutions}, {self.dense}.")


@dataclass(frozen=True)
class Bfloat16Plan(Bfloat16Methods):
    """What a measurement found for the layers of one network.

    Attributes:
      gain: float32's time over theirs, of the forward and backward pass of these layers; above 1
        where bfloat16 is faster.
    """

    gain: float

    @property
    def methods(self) -> Bfloat16Methods:
        """How to multiply, without what it is worth."""
        return Bfloat16Methods(self.convolutions, self.dense)

    @property
    def is_faster(self) -> bool:
        """Whether bfloat16 is faster than float32, by more than a measurement's own error."""
        return self.gain >= MIN_WORTHWHILE_GAIN


class PlanKey(NamedTuple):
    """What a plan is for.

    Attributes:
      network: its word in settings.
      width: how wide its layers are; 0 is its own width.
      image_shape: of its images, (H, W, channels).
    """

    network: str
    width: int
    image_shape: tuple[int, ...]


def load_bfloat16_plan(purpose: PlanKey) -> Bfloat16Plan | None:
    """The plan for a network on this machine; None if there is none that can be read."""
    try:
        return parse_dataclass(Bfloat16Plan, read_json(_build_plan_path(purpose)))
    except (OSError, ValueError):
        return None


def save_bfloat16_plan(purpose: PlanKey, plan: Bfloat16Plan) -> None:
    """Write a plan down, for all later processes.

    Raises:
      OSError: it cannot be written.
    """
    file = _build_plan_path(purpose)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, {**asdict(plan), "made_for": _describe_plan_key(purpose)})


def _build_plan_path(purpose: PlanKey) -> Path:
    name = hashlib.sha256(json.dumps(_describe_plan_key(purpose)).encode()).hexdigest()[:32]
    return data_folder() / "plans" / f"{name}.json"


def _describe_plan_key(purpose: PlanKey) -> dict[str, Any]:
    return {
        "version": _MEASUREMENT_VERSION,
        "processor": detect_processor().name,
        "cores": count_cpu_cores(),
        "jaxlib": _read_jaxlib_version(),
        **purpose._asdict(),
    }


@functools.cache
def _read_jaxlib_version() -> str:
    """Its version; read once a process, for Train asks at each of its reruns."""
    return metadata.version("jaxlib")
