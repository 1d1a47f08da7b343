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
from ensemble.engine import Evaluation, Trainer, TrainingMetrics, build_network
from ensemble.engine.call_pacer import override_call_units
from ensemble.engine.forms.bfloat16_planning import choose_run_bfloat16_methods
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.trainer import ImageDataset
from ensemble.errors import ConfigError, EnsembleError, HostsError
from ensemble.hosts.process_group import ProcessGroup, get_process_group
from ensemble.hosts.process_roles import FollowerProcess, LeaderProcess
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.machine.bfloat16_plans import Bfloat16Methods
from ensemble.runs.groups.group import find_group
from ensemble.runs.status import ACTIVE, Status, read_run_status
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.file_lock import lock_within_grace

# A shared folder shows a new file to other hosts when it comes to it.
SHARED_FOLDER_TIMEOUT_SECONDS = 60.0


class LeaderTrainer(Trainer):
    """Process 0's Trainer: it tells the others of each call, who make it as well."""

    def __init__(
        self,
        config: EnsembleConfig,
        digits: ImageDataset,
        devices: Sequence[jax.Device],
        numbers: range,
        products: Bfloat16Methods | None = None,
        targets: np.ndarray | None = None,
    ) -> None:
        company = get_process_group()
        assert isinstance(company, LeaderProcess)
        self._company = company
        _check_all_have_members(company, Layout.over_devices(len(numbers), devices))
        shape, classes = digits.train_images.shape[1:], len(digits.class_names)
        products = products or choose_run_bfloat16_methods(config, build_network(config, shape, classes))
        product_values = dataclasses.asdict(products) if products else None
        given = () if targets is None else (targets,)
        company.broadcast("trainer", lambda index: given, devices=len(devices), products=product_values)
        with company.abort_on_error():
            super().__init__(config, digits, devices, numbers=numbers, products=products, targets=targets)

    def start(self, state: Any = None) -> Any:
        """As `Trainer.start`; each process is given the members that are on its devices."""
        owners = np.repeat(self.layout.device_processes, self.layout.lanes)[: self.layout.members]

        def select_owned_rows(index: int) -> list[np.ndarray]:
            leaves = jax.tree.leaves(state)  # none of None
            return [np.asarray(leaf)[owners == index] for leaf in leaves]

        self._company.broadcast("start", select_owned_rows, restored=state is not None)
        with self._company.abort_on_error():
            return super().start(state)

    def train(self, state: Any, epoch: int, start: int, count: int) -> tuple[Any, TrainingMetrics]:
        """As `Trainer.train`."""
        self._company.broadcast("train", epoch=epoch, start=start, count=count)
        with self._company.abort_on_error():
            return super().train(state, epoch, start, count)

    def evaluate(self, state: Any, interrupted: Callable[[], bool] = lambda: False) -> Evaluation | None:
        """As `Trainer.evaluate`."""
        self._company.broadcast("evaluate")
        with self._company.abort_on_error(), override_call_units(self._announce_units):
            return super().evaluate(state, lambda: self._announce_interruption(interrupted))

    def validate(self, state: Any, interrupted: Callable[[], bool] = lambda: False) -> Evaluation | None:
        """As `Trainer.validate`."""
        self._company.broadcast("validate")
        with self._company.abort_on_error(), override_call_units(self._announce_units):
            return super().validate(state, lambda: self._announce_interruption(interrupted))

    def compile_evaluation(self, state: Any) -> None:
        """As `Trainer.compile_evaluation`."""
        self._company.broadcast("compile_evaluation")
        with self._company.abort_on_error():
            super().compile_evaluation(state)

    def freeze_members(self, members: Sequence[int]) -> None:
        """As `Trainer.freeze_members`."""
        self._company.broadcast("set_aside", members=[int(member) for member in members])
        super().freeze_members(members)

    def get(self, state: Any) -> Any:
        """As `Trainer.get`."""
        self._company.broadcast("get")
        return super().get(state)

    def get_params(self, state: Any) -> Any:
        """As `Trainer.get_params`."""
        self._company.broadcast("get_params")
        return super().get_params(state)

    def _announce_units(self, units: int) -> int:
        self._company.broadcast("units", units=units)
        return units

    def _announce_interruption(self, interrupted: Callable[[], bool]) -> bool:
        yes = interrupted()
        self._company.broadcast("asked", yes=yes)
        return yes


def follow_leader(company: FollowerProcess) -> Outcome:
    """Do what process 0 does, call by call, until the run ends; how it ended there.

    Raises:
      HostsError: this host does not find the run's folder or its dataset.
    """
    order = company.receive_order("run", "end")
    if order.kind == "end":  # It failed before it began.
        return Outcome(order.values["state"], order.values["message"])
    run = _wait_for_shared_run(str(order.values["id"]))
    company.on_fatal_error = lambda sentence: _write_leader_failure(run, sentence)
    trainer: Trainer | None = None
    state: Any = None
    while (order := company.receive_order()).kind != "end":
        with company.abort_on_error():
            if order.kind == "trainer":
                config, devices = (require_training_config(run), choose_devices(order.values["devices"]))
                had = order.values["products"]
                trainer = Trainer(
                    config,
                    load_run_dataset(run),
                    devices,
                    numbers=run.member_numbers,
                    products=Bfloat16Methods(**had) if had else None,
                    targets=order.arrays[0] if order.arrays else None,
                )
                continue
            assert trainer is not None
            if order.kind == "start":
                whole = _rebuild_state(trainer, order.arrays) if order.values["restored"] else None
                state = trainer.start(whole)
            elif order.kind == "train":
                state, _ = trainer.train(state, **order.values)
            elif order.kind == "set_aside":
                trainer.freeze_members(**order.values)
            elif order.kind in ("evaluate", "validate"):
                with override_call_units(lambda units: int(company.receive_order("units").values["units"])):
                    judge = trainer.evaluate if order.kind == "evaluate" else trainer.validate
                    judge(state, lambda: bool(company.receive_order("asked").values["yes"]))
            else:
                {
                    "compile_evaluation": trainer.compile_evaluation,
                    "get": trainer.get,
                    "get_params": trainer.get_params,
                }[order.kind](state)
    return Outcome(order.values["state"], order.values["message"])


def announce_run(company: ProcessGroup, run: Run, status: StatusWriter[Status]) -> None:
    """Have the others take part in a run, whose worker this process is."""
    assert isinstance(company, LeaderProcess)
    if require_training_config(run).groups > 1:
        raise ConfigError(
            f"The run “{run.id}” is in groups, which are separate programs: start it without "
            "--distributed, or launch one with --groups 1."
        )

    def write_fatal_status(sentence: str) -> None:
        message = f"{sentence} {run.kind.describe_kept_work(run.path)}"
        status.write_final(state="failed", message=message, seconds_left=None)

    company.on_fatal_error = write_fatal_status
    company.broadcast("run", id=run.id)


def train_across_hosts(company: ProcessGroup, work: Callable[[], Run]) -> tuple[Outcome, Run | None]:
    """How the run ended that `work` trains with the help of all, and what it returned.

    It is called in process 0 alone; the others have None of it.
    """
    if isinstance(company, FollowerProcess):
        return follow_leader(company), None
    assert isinstance(company, LeaderProcess)
    run = work()
    company.broadcast("end", state=run.state, message=run.message)
    return Outcome(run.state, run.message), run


def _rebuild_state(trainer: Trainer, rows: list[np.ndarray]) -> Any:
    """A state (M, …) with this process's members in their places; the others' are zero."""
    layout = trainer.layout
    owners = np.repeat(layout.device_processes, layout.lanes)[: layout.members]
    leaves, form = jax.tree.flatten(trainer.create_blank_state())
    for leaf, mine in zip(leaves, rows, strict=True):
        leaf[owners == jax.process_index()] = mine
    return jax.tree.unflatten(form, leaves)


def _check_all_have_members(company: ProcessGroup, layout: Layout) -> None:
    idle = sorted(set(range(company.process_count)) - set(layout.device_processes.tolist()))
    if idle:
        who = company.describe_process(idle[0])
        raise ConfigError(
            f"{who[0].upper()}{who[1:]} would have no member to train: start fewer processes (with "
            f"these members {company.process_count - len(idle)}), or train more members."
        )


def _wait_for_shared_run(run_id: str) -> Run:
    """The run, as soon as this host sees its folder."""
    end = time.monotonic() + SHARED_FOLDER_TIMEOUT_SECONDS
    while True:
        try:
            return find_group(run_id) if ":" in run_id else find_run(run_id)
        except EnsembleError as error:
            if time.monotonic() > end:
                raise HostsError(
                    f"{error} All hosts have to use the same folder of runs: point "
                    "ENSEMBLE_RUNS at one that they share."
                ) from error
        time.sleep(0.2)


def _write_leader_failure(run: Run, sentence: str) -> None:
    """Write down how the run ended, where its worker cannot do so any more."""
    if held := lock_within_grace(run.path / LOCK_FILE):
        with held:
            status = read_run_status(run.path)
            if status.state in ACTIVE:
                message = f"{sentence} {run.kind.describe_kept_work(run.path)}"
                now = dataclasses.replace(status, state="failed", message=message, seconds_left=None)
                write_status(run.path, dataclasses.replace(now, updated=time.time()))
    else:
        print("Process 0 still holds the run: its last status remains.", file=sys.stderr)
