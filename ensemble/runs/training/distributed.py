"""A run on several hosts as one program: process 0 is its worker, the others do as it does.

What depends on time or on files (how many steps a call, when to stop or to keep a checkpoint, which
one to go on from) only process 0 decides; it tells the others each call of its trainer, so that
all make the same calls in the same order. It alone writes.
"""

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ensemble.config import EnsembleConfig
from ensemble.engine import Evaluation, StepFigures, Trainer, network_of
from ensemble.engine.forms.plan import planned_products
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.pace import decided_by
from ensemble.engine.trainer import Images
from ensemble.errors import ConfigError, EnsembleError, HostsError
from ensemble.hosts.company import Company, current
from ensemble.hosts.kinds import Follower, Leader
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.machine.product_plans import Products
from ensemble.runs.groups.part import find_group
from ensemble.runs.status import ACTIVE, Status, read_status
from ensemble.runs.store import Run, find, trained_here
from ensemble.runs.test_set import dataset_of
from ensemble.storage.lock import lock_soon

# A shared folder shows a new file to other hosts when it comes to it.
SHARED_SECONDS = 60.0


class LedTrainer(Trainer):
    """Process 0's Trainer: it tells the others of each call, who make it as well."""

    def __init__(
        self,
        config: EnsembleConfig,
        digits: Images,
        devices: Sequence[jax.Device],
        numbers: range,
        products: Products | None = None,
    ) -> None:
        company = current()
        assert isinstance(company, Leader)
        self._company = company
        _check_all_have_members(company, Layout.over(len(numbers), devices))
        shape, classes = digits.train_images.shape[1:], len(digits.class_names)
        products = products or planned_products(config, network_of(config, shape, classes))
        said = dataclasses.asdict(products) if products else None
        company.announce("trainer", devices=len(devices), products=said)
        with company.blaming():
            super().__init__(config, digits, devices, numbers=numbers, products=products)

    def start(self, state: Any = None) -> Any:
        """As `Trainer.start`; each process is given the members that are on its devices."""
        owners = np.repeat(self.layout.owners, self.layout.lanes)[: self.layout.members]

        def rows(index: int) -> list[np.ndarray]:
            leaves = jax.tree.leaves(state)  # none of None
            return [np.asarray(leaf)[owners == index] for leaf in leaves]

        self._company.announce("start", rows, restored=state is not None)
        with self._company.blaming():
            return super().start(state)

    def train(self, state: Any, epoch: int, start: int, count: int) -> tuple[Any, StepFigures]:
        """As `Trainer.train`."""
        self._company.announce("train", epoch=epoch, start=start, count=count)
        with self._company.blaming():
            return super().train(state, epoch, start, count)

    def evaluate(
        self, state: Any, interrupted: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """As `Trainer.evaluate`."""
        self._company.announce("evaluate")
        with self._company.blaming(), decided_by(self._units):
            return super().evaluate(state, lambda: self._asked(interrupted))

    def validate(
        self, state: Any, interrupted: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """As `Trainer.validate`."""
        self._company.announce("validate")
        with self._company.blaming(), decided_by(self._units):
            return super().validate(state, lambda: self._asked(interrupted))

    def compile_evaluation(self, state: Any) -> None:
        """As `Trainer.compile_evaluation`."""
        self._company.announce("compile_evaluation")
        with self._company.blaming():
            super().compile_evaluation(state)

    def set_aside(self, members: Sequence[int]) -> None:
        """As `Trainer.set_aside`."""
        self._company.announce("set_aside", members=[int(one) for one in members])
        super().set_aside(members)

    def get(self, state: Any) -> Any:
        """As `Trainer.get`."""
        self._company.announce("get")
        return super().get(state)

    def get_params(self, state: Any) -> Any:
        """As `Trainer.get_params`."""
        self._company.announce("get_params")
        return super().get_params(state)

    def _units(self, units: int) -> int:
        self._company.announce("units", units=units)
        return units

    def _asked(self, interrupted: Callable[[], bool]) -> bool:
        yes = interrupted()
        self._company.announce("asked", yes=yes)
        return yes


def follow(company: Follower) -> Outcome:
    """Do what process 0 does, call by call, until the run ends; how it ended there.

    Raises:
      HostsError: this host does not find the run's folder or its dataset.
    """
    order = company.hear("run", "end")
    if order.kind == "end":  # It failed before it began.
        return Outcome(order.said["state"], order.said["message"])
    run = _shared(str(order.said["id"]))
    company.last_words = lambda sentence: _speak_for_process_0(run, sentence)
    trainer: Trainer | None = None
    state: Any = None
    while (order := company.hear()).kind != "end":
        with company.blaming():
            if order.kind == "trainer":
                config, devices = trained_here(run), choose_devices(order.said["devices"])
                had = order.said["products"]
                trainer = Trainer(
                    config,
                    dataset_of(run),
                    devices,
                    numbers=run.numbers,
                    products=Products(**had) if had else None,
                )
                continue
            assert trainer is not None
            if order.kind == "start":
                whole = _whole(trainer, order.arrays) if order.said["restored"] else None
                state = trainer.start(whole)
            elif order.kind == "train":
                state, _ = trainer.train(state, **order.said)
            elif order.kind == "set_aside":
                trainer.set_aside(**order.said)
            elif order.kind in ("evaluate", "validate"):
                with decided_by(lambda units: int(company.hear("units").said["units"])):
                    judge = trainer.evaluate if order.kind == "evaluate" else trainer.validate
                    judge(state, lambda: bool(company.hear("asked").said["yes"]))
            else:
                {
                    "compile_evaluation": trainer.compile_evaluation,
                    "get": trainer.get,
                    "get_params": trainer.get_params,
                }[order.kind](state)
    return Outcome(order.said["state"], order.said["message"])


def lead(company: Company, run: Run, status: StatusWriter[Status]) -> None:
    """Have the others take part in a run, whose worker this process is."""
    assert isinstance(company, Leader)
    if trained_here(run).groups > 1:
        raise ConfigError(
            f"The run “{run.id}” is in groups, which are programs of their own: start it without "
            "--distributed, or launch one with --groups 1."
        )

    def last_words(sentence: str) -> None:
        said = f"{sentence} {run.kind.what_is_kept(run.path)}"
        status.last_words(state="failed", message=said, seconds_left=None)

    company.last_words = last_words
    company.announce("run", id=run.id)


def take_part(company: Company, work: Callable[[], Run]) -> tuple[Outcome, Run | None]:
    """How the run ended that `work` trains with the help of all, and what it returned.

    It is called in process 0 alone; the others have None of it.
    """
    if isinstance(company, Follower):
        return follow(company), None
    assert isinstance(company, Leader)
    run = work()
    company.announce("end", state=run.state, message=run.message)
    return Outcome(run.state, run.message), run


def _whole(trainer: Trainer, rows: list[np.ndarray]) -> Any:
    """A state (M, …) with this process's members in their places; the others' are zero."""
    layout = trainer.layout
    owners = np.repeat(layout.owners, layout.lanes)[: layout.members]
    leaves, form = jax.tree.flatten(trainer.blank())
    for leaf, mine in zip(leaves, rows, strict=True):
        leaf[owners == jax.process_index()] = mine
    return jax.tree.unflatten(form, leaves)


def _check_all_have_members(company: Company, layout: Layout) -> None:
    idle = sorted(set(range(company.count)) - set(layout.owners.tolist()))
    if idle:
        who = company.who(idle[0])
        raise ConfigError(
            f"{who[0].upper()}{who[1:]} would have no member to train: start fewer processes (with "
            f"these members {company.count - len(idle)}), or train more members."
        )


def _shared(run_id: str) -> Run:
    """The run, as soon as this host sees its folder."""
    end = time.monotonic() + SHARED_SECONDS
    while True:
        try:
            return find_group(run_id) if ":" in run_id else find(run_id)
        except EnsembleError as error:
            if time.monotonic() > end:
                raise HostsError(
                    f"{error} All hosts have to see one folder of runs: point ENSEMBLE_RUNS at "
                    "one that they share."
                ) from error
        time.sleep(0.2)


def _speak_for_process_0(run: Run, sentence: str) -> None:
    """Write down how the run ended, where its worker cannot do so any more."""
    if held := lock_soon(run.path / LOCK_FILE):
        with held:
            status = read_status(run.path)
            if status.state in ACTIVE:
                said = f"{sentence} {run.kind.what_is_kept(run.path)}"
                now = dataclasses.replace(status, state="failed", message=said, seconds_left=None)
                write_status(run.path, dataclasses.replace(now, updated=time.time()))
    else:
        print("Process 0 still has the run: what it wrote last stands.", file=sys.stderr)
