"""How many bytes of images may lie on each device: of more, the next steps' alone do."""

import os

from ensemble.errors import ConfigError
from ensemble.machine.machine_info import read_machine_info

RESIDENT_VARIABLE = "ENSEMBLE_RESIDENT_GB"
_RESIDENT_SHARE = 0.5  # of the memory there is: room for the members, and for the system


def read_resident_limit(devices: int, device_bytes: int | None = None) -> float:
    """The most bytes of images that each device holds.

    Args:
      devices: how many devices of this machine hold them.
      device_bytes: the memory of one that has its own; None where all have the machine's.

    Raises:
      ConfigError: `ENSEMBLE_RESIDENT_GB` is no number above 0.
    """
    text = os.environ.get(RESIDENT_VARIABLE, "").strip()
    if text:
        try:
            limit = 1e9 * float(text)
        except ValueError:
            limit = 0.0
        if not limit > 0:
            raise ConfigError(
                f"{RESIDENT_VARIABLE} is {text!r:.60}: set it to how many GB of images a device "
                "may hold, such as 8, or unset it."
            )
        return limit
    if device_bytes is not None:
        return _RESIDENT_SHARE * device_bytes
    return _RESIDENT_SHARE * read_machine_info().memory_bytes / devices
