"""One stretch of training: from a run's last checkpoint to its end, or to a stop.

Several runs that differ in nothing but numbers of their members train side by side, in one program;
each has a `Record` that writes down what happens to it, and may end before the others.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from ensemble import hosts
from ensemble.config import LEAST_IN_A_GROUP, varying
from ensemble.engine import Pace, Trainer, choose_devices
from ensemble.jobs.outcome import Outcome, outcome_of
from ensemble.machine.product_plans import Products
from ensemble.runs.store import Run, trained_here
from ensemble.runs.test_set import dataset_of
from ensemble.runs.training.progress import judge
from ensemble.runs.training.record import Record, Task
from ensemble.runs.training.taken import Taken
from ensemble.storage.atomic import read_json
from ensemble.storage.records.fields import Within, read_as

STOPPED = Outcome("stopped", "Stopped. Resume continues from here.")


@dataclass(frozen=True)
class Used:
    """What is read of a devices.json: how many devices the run began with."""

    used: Annotated[int, Within(1, 2**20)]


class End(NamedTuple):
    """How one of the runs ended, by its place among them."""

    place: int
    outcome: Outcome


class Session:
    """Trains runs and has each write down what happens. Use as a context manager.

    Args:
      tasks: the runs. Several differ in nothing but `varying.NAMES`, and none has begun.
      trainer: makes what trains, of settings, images and devices.
    """

    def __init__(self, tasks: Sequence[Task], trainer: Callable[..., Trainer] = Trainer) -> None:
        runs = [task.run for task in tasks]
        first, together = runs[0], _together(runs) if len(runs) > 1 else {}
        self._trainer = trainer(
            trained_here(first),
            dataset_of(first),
            _devices(first),
            **{"numbers": first.numbers, "products": _products(first), **together},
        )
        self._live = [
            Record(task, self._trainer, place, len(runs)) for place, task in enumerate(tasks)
        ]
        self._alone = len(runs) == 1
        self._pace, self._can_test = Pace(), False

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        for record in self._live:
            record.close()

    def train(self) -> Iterator[End]:
        """Go on from the last checkpoint, until every run is finished, stopped or diverged.

        Each is told of as it ends, its record closed; the others go on after that.
        """
        yield from self._begin()
        yield from self._each(Record.finished)
        while self._live:
            progress = self._live[0].progress
            ready_to_test = progress.step_in_epoch == progress.steps_per_epoch
            yield from self._close_epoch() if ready_to_test else self._advance()
            yield from self._stop()
            yield from self._each(Record.finished)

    def _begin(self) -> Iterator[End]:
        """Take up the last checkpoint, or the beginning, while training is compiled."""
        states = [record.take_up() for record in self._live]
        began = time.perf_counter()
        self._state = self._trainer.start(states[0])
        self._compiled(time.perf_counter() - began)
        yield from self._each(Record.begin)

    def _advance(self) -> Iterator[End]:
        """One compiled call of training."""
        progress, sharing = self._live[0].progress, len(self._live)
        epoch, start = progress.evaluated + 1, progress.step_in_epoch
        count = self._pace.next(progress.steps_per_epoch - start)
        began = time.perf_counter()
        self._state, figures = self._trainer.train(self._state, epoch, start, count)
        seconds = time.perf_counter() - began
        self._pace.took(count, seconds)
        each = figures.each or (figures,)
        taken = Taken(self._trainer, self._state)

        def write(one: Record) -> Outcome | None:
            if outcome := one.trained(each[one.place], count, seconds, sharing):
                return outcome
            one.save_if_old(taken)
            return None

        return self._each(write)

    def _close_epoch(self) -> Iterator[End]:
        """Validate, test, and write down, an epoch whose steps are done."""
        live = self._live
        if not self._can_test:
            began = time.perf_counter()
            self._trainer.compile_evaluation(self._state)
            self._compiled(time.perf_counter() - began)
            self._can_test = True
        began = time.perf_counter()
        judged = judge(self._trainer, self._state, lambda: all(one.stop() for one in live))
        seconds, sharing = time.perf_counter() - began, len(live)
        taken = Taken(self._trainer, self._state)

        def write(one: Record) -> Outcome | None:
            own = {split: (of.each or (of,))[one.place] for split, of in judged.items()}
            return one.judged(own, taken, seconds, sharing)

        return self._each(write if judged else lambda one: None)

    def _stop(self) -> Iterator[End]:
        """Keep the place of those that are to stop."""
        taken = Taken(self._trainer, self._state)

        def stop(one: Record) -> Outcome | None:
            if not one.stop():
                return None
            one.save(taken)
            return STOPPED

        return self._each(stop)

    def _compiled(self, seconds: float) -> None:
        for record in self._live:
            record.compiled(seconds, len(self._live))

    def _each(self, ask: Callable[[Record], Outcome | None]) -> Iterator[End]:
        """Ask every run that goes on; those that ended by it, one after the other."""
        for record in list(self._live):
            if outcome := self._asked(record, ask):
                self._live.remove(record)
                record.close()
                if self._live:
                    record.set_aside(range(len(record.run.numbers)))
                yield End(record.place, outcome)

    def _asked(self, record: Record, ask: Callable[[Record], Outcome | None]) -> Outcome | None:
        """How a run ended. What one cannot write is no end of the others'."""

        def asked() -> Outcome | None:
            if outcome := ask(record):
                record.sum_up()
            return outcome

        return asked() if self._alone else outcome_of(record.run, asked)


def _together(runs: Sequence[Run]) -> dict[str, Any]:
    """What a trainer is told of several runs: their members one run after the other."""
    each = [trained_here(run).per_member for run in runs]
    values = {name: np.concatenate([one[name] for one in each]) for name in varying.NAMES}
    numbers = [number for run in runs for number in run.numbers]
    return {"numbers": numbers, "values": values, "ensembles": len(runs)}


def _products(run: Run) -> Products | None:
    """How bfloat16 is multiplied, where the run has begun so: it goes on to the same bits."""
    try:
        found = read_json(run.path / "devices.json").get("products")
        return read_as(Products, found) if isinstance(found, dict) else None
    except (OSError, ValueError):
        return None


def _devices(run: Run) -> list[Any]:
    """The devices to train on; a resumed run keeps the number it began with, for the same bits.

    Each has two members of a group or more: one alone on its device may round otherwise.
    """
    most = None if run.whole or hosts.current() else max(1, len(run.numbers) // LEAST_IN_A_GROUP)
    try:
        used = read_as(Used, read_json(run.path / "devices.json")).used
    except (OSError, ValueError):
        return choose_devices(trained_here(run).devices)[:most]
    return choose_devices(0)[:used]
