"""Slots: how many jobs may work on this machine at once, and who has which.

A CPU is one slot: two trainings at once would each take longer than one after the other.
With NVIDIA cards each card is one, and a job takes as many as it trains on, so that small ones
share the machine; it then sees these cards alone. Other accelerators cannot be counted without
starting JAX: they are one slot. `ENSEMBLE_SLOTS` says another number: then each job takes one, and
the devices are everybody's.

A slot is a file lock in folders that are this user's alone: the system takes it back from a
process however that ends.
"""

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from ensemble.errors import ConfigError, StorageError
from ensemble.machine.jax_settings import only_cpu
from ensemble.storage.folders import lock_folders
from ensemble.storage.lock import try_lock

VARIABLE = "ENSEMBLE_SLOTS"
MOST = 1024
CARDS = Path("/proc/driver/nvidia/gpus")
VISIBLE = "CUDA_VISIBLE_DEVICES"


class Turn:
    """The right to work, held until it is closed or the process ends.

    Attributes:
      slots: the names of the slots that it has: of cards, or "0", "1", ….
    """

    def __init__(self, held: dict[str, AbstractContextManager[object]]) -> None:
        self.slots, self._held = tuple(held), ExitStack()
        for one in held.values():
            self._held.enter_context(one)

    def __enter__(self) -> "Turn":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the slots back."""
        self._held.close()


def count() -> int:
    """How many slots this machine has.

    Raises:
      ConfigError: ENSEMBLE_SLOTS is no whole number from 1 to 1,024.
    """
    if (stated := os.environ.get(VARIABLE)) is None:
        return len(devices()) or 1
    if not (re.fullmatch("0*[1-9][0-9]{0,3}", stated) and int(stated) <= MOST):
        raise ConfigError(
            f"{VARIABLE} is {stated[:40]!r}: it has to be a whole number from 1 to {MOST:,}."
        )
    return int(stated)


def devices() -> list[str]:
    """The names of the cards that may be shared out; none where slots are not devices."""
    if only_cpu() or VARIABLE in os.environ:
        return []
    if (given := os.environ.get(VISIBLE)) is not None:
        return [one.strip() for one in given.split(",") if one.strip()]
    try:
        return [str(number) for number, _ in enumerate(CARDS.iterdir())]
    except OSError:
        return []


def wanted(asked: int) -> int:
    """How many slots a job takes that asks for so many devices; 0 asks for all."""
    every = len(devices())
    return min(asked or every, every) if every else 1


def take(slots: int) -> Turn | None:
    """As many slots, if they are free now.

    Raises:
      StorageError: nowhere can be locked.
    """
    found: dict[str, AbstractContextManager[object]] = {}
    folders = lock_folders()
    with ExitStack() as taken:  # Given back unless they are enough, and where one cannot be told.
        for name in devices() or map(str, range(count())):
            if len(found) == slots:
                break
            if held := _lock([folder / _file_name(name) for folder in folders]):
                found[name] = taken.enter_context(held)
        if len(found) == slots:
            taken.pop_all()
            return Turn(found)
    return None


def keep_to(turn: Turn) -> None:
    """Have JAX, which must not have started yet, find the cards of these slots alone."""
    if devices():
        os.environ[VISIBLE] = ",".join(turn.slots)


def _lock(files: Sequence[Path]) -> ExitStack | None:
    """The locks on all of these files; None where somebody has one."""
    with ExitStack() as held:
        for file in files:
            try:
                one = try_lock(file)
            except OSError as error:
                raise StorageError(
                    f"The turns of this machine's jobs cannot be told: {file} cannot be locked "
                    f"({error.strerror}). Make room there, or delete it while no job works."
                ) from error
            if one is None:
                return None
            held.enter_context(one)
        return held.pop_all()


def _file_name(slot: str) -> str:
    """A slot's lock; by the card's name, so that who was given other cards locks others."""
    safe = re.sub(r"[^A-Za-z0-9-]", "_", slot)
    # The first has the name that all had when there was one.
    return "training.lock" if slot == "0" else f"training-{safe}.lock"
