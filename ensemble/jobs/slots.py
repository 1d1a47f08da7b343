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
from ensemble.machine.jax_settings import is_cpu_only
from ensemble.storage.file_lock import try_lock
from ensemble.storage.folders import lock_folders

_SLOTS_VARIABLE = "ENSEMBLE_SLOTS"
_MAX_SLOTS = 1024
NVIDIA_CARDS_FOLDER = Path("/proc/driver/nvidia/gpus")
VISIBLE_CARDS_VARIABLE = "CUDA_VISIBLE_DEVICES"


class SlotLease:
    """The right to work, held until it is closed or the process ends.

    Attributes:
      slots: the names of the slots that it has: of cards, or "0", "1", ….
    """

    def __init__(self, held: dict[str, AbstractContextManager[object]]) -> None:
        self.slots, self._held = tuple(held), ExitStack()
        for lock in held.values():
            self._held.enter_context(lock)

    def __enter__(self) -> "SlotLease":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the slots back."""
        self._held.close()


def count_slots() -> int:
    """How many slots this machine has.

    Raises:
      ConfigError: ENSEMBLE_SLOTS is no whole number from 1 to 1,024.
    """
    if (stated := os.environ.get(_SLOTS_VARIABLE)) is None:
        return len(list_cards()) or 1
    if not (re.fullmatch("0*[1-9][0-9]{0,3}", stated) and int(stated) <= _MAX_SLOTS):
        raise ConfigError(
            f"{_SLOTS_VARIABLE} is {stated[:40]!r}: it has to be a whole number from 1 to {_MAX_SLOTS:,}."
        )
    return int(stated)


def list_cards() -> list[str]:
    """The names of the cards that may be shared out; none where slots are not devices."""
    if is_cpu_only() or _SLOTS_VARIABLE in os.environ:
        return []
    if (visible_cards := os.environ.get(VISIBLE_CARDS_VARIABLE)) is not None:
        return [card.strip() for card in visible_cards.split(",") if card.strip()]
    try:
        return [str(number) for number, _ in enumerate(NVIDIA_CARDS_FOLDER.iterdir())]
    except OSError:
        return []


def count_needed_slots(devices: int) -> int:
    """How many slots a job takes that asks for so many devices; 0 asks for all."""
    every = len(list_cards())
    return min(devices or every, every) if every else 1


def acquire_slots(slots: int) -> SlotLease | None:
    """As many slots, if they are free now.

    Raises:
      StorageError: nowhere can be locked.
    """
    locks: dict[str, AbstractContextManager[object]] = {}
    folders = lock_folders()
    with ExitStack() as exit_stack:  # Given back unless they are enough, and where one is unknown.
        for name in list_cards() or map(str, range(count_slots())):
            if len(locks) == slots:
                break
            if held := _lock_slot_files([folder / _name_slot_file(name) for folder in folders]):
                locks[name] = exit_stack.enter_context(held)
        if len(locks) == slots:
            exit_stack.pop_all()
            return SlotLease(locks)
    return None


def restrict_to_slots(turn: SlotLease) -> None:
    """Have JAX, which must not have started yet, find the cards of these slots alone."""
    if list_cards():
        os.environ[VISIBLE_CARDS_VARIABLE] = ",".join(turn.slots)


def _lock_slot_files(files: Sequence[Path]) -> ExitStack | None:
    """The locks on all of these files; None if somebody has one."""
    with ExitStack() as held:
        for file in files:
            try:
                lock = try_lock(file)
            except OSError as error:
                raise StorageError(
                    f"The queue of this machine's jobs cannot be read: {file} cannot be locked ({error.strerror}). "
                    "Free some space there, or delete it while no job is running."
                ) from error
            if lock is None:
                return None
            held.enter_context(lock)
        return held.pop_all()


def _name_slot_file(slot: str) -> str:
    """A slot's lock; by the card's name, so that who was given other cards locks others."""
    safe = re.sub(r"[^A-Za-z0-9-]", "_", slot)
    # The first has the name that all had when there was one.
    return "training.lock" if slot == "0" else f"training-{safe}.lock"
