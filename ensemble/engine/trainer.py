"""An ensemble on devices: first parameters, many steps a call, the whole test set."""

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import jax
import numpy as np
from jax.typing import ArrayLike

from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.folds import assign_folds
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.engine.draws import batches, random_keys
from ensemble.engine.draws.augmentation import Augmentation
from ensemble.engine.forms.bfloat16_planning import choose_arithmetic, extract_bfloat16_methods
from ensemble.engine.forms.ensembles import split_metrics_by_ensemble
from ensemble.engine.forms.execution import EpochInputs, Execution, TrainingSetup
from ensemble.engine.forms.image_stream import ImageRows, exceeds_device_memory
from ensemble.engine.forms.looped_execution import LoopedExecution
from ensemble.engine.forms.member_programs import choose_training_execution
from ensemble.engine.forms.shared_batch_execution import SharedBatchExecution
from ensemble.engine.forms.stepwise_execution import StepwiseExecution
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.learning_rate_schedule import compute_learning_rates
from ensemble.engine.metrics import Evaluation, TrainingMetrics, concatenate_training_metrics
from ensemble.engine.networks.network import Network
from ensemble.engine.networks.registry import build_network
from ensemble.engine.optimizer import Hyperparameters, SoftTargets, build_update_rule, resolve_member_values
from ensemble.engine.step import MemberState, SharedHyperparameters, StepSettings, create_blank_members, create_members
from ensemble.errors import ConfigError
from ensemble.machine.bfloat16_plans import Bfloat16Methods

LARGE_STATE_BYTES = 2**28  # of members, above which nothing else is done while they are created


class _ImageDataset(Protocol):
    """What a Trainer needs of a dataset: uint8 (N, H, W, channels) and int32 (N,), twice."""

    @property
    def train_images(self) -> np.ndarray:
        """What to learn from."""

    @property
    def train_labels(self) -> np.ndarray:
        """Its classes."""

    @property
    def train_groups(self) -> np.ndarray | None:
        """Whose each is: int64 (N,); None where that is not known."""

    @property
    def test_images(self) -> np.ndarray:
        """What to be tested on."""

    @property
    def test_labels(self) -> np.ndarray:
        """Its classes."""

    @property
    def class_names(self) -> tuple[str, ...]:
        """What people call the classes."""


class Trainer:
    """Compiled programs and resident data for one run.

    State is passed in and out; what it is on the devices is the execution's business. A Trainer
    itself changes only in its cache of the epoch's batches, and in which members are frozen.

    Args:
      config: the run's settings.
      dataset: what to learn and what to be tested on.
      devices: what to train on; by default what `config.devices` says.
      execution: a word of `EXECUTIONS` in member_programs.py; by default what is fastest on this
        platform.
      numbers: which members, counted from 0, where others are trained elsewhere; by default all.
        Any of them, in any order, also more than once: with other `values` each. Everywhere else
        M is how many these are.
      values: learning rates, momenta or weight decays, (M,) each, by the setting's name, in place
        of `config.member_values`'s.
      ensembles: T, how many ensembles of as many members each these are, one after the other:
        metrics are of `each` then.
      products: how bfloat16 is multiplied in a tower; by default what is fastest here
        (bfloat16_planning.py).
      targets: where the settings name a teacher, its probabilities of all training images at the
        settings' temperature, float32 (N, C).

    Attributes:
      products: as had, or None.
      network: what learns.
      numbers: as given.
      values: every member's learning rate, momentum and weight decay, (M,) each.
      rule: what moves members.

    Raises:
      ConfigError: a batch larger than the training set, devices that are not there, or all that
        `build_network` and `resolve_member_values` say.
      ValueError: targets that are not there, or of other images or classes.
    """

    def __init__(
        self,
        config: EnsembleConfig,
        dataset: _ImageDataset,
        devices: Sequence[jax.Device] | None = None,
        execution: str | None = None,
        numbers: Sequence[int] | None = None,
        values: Mapping[str, ArrayLike] | None = None,
        ensembles: int = 1,
        products: Bfloat16Methods | None = None,
        targets: np.ndarray | None = None,
    ) -> None:
        self.config, self.dataset, self._ensembles = config, dataset, ensembles
        images, labels = dataset.train_images, dataset.train_labels
        self.network: Network = build_network(config, images.shape[1:], len(dataset.class_names))
        self.numbers = range(config.members) if numbers is None else numbers
        self.values = resolve_member_values(config, self.numbers, values)
        self.rule = build_update_rule(config, self.values)
        self.layout = Layout.over_devices(len(self.numbers), devices or choose_devices(config.devices))
        held = select_validation_indices(config, dataset)
        every, held_labels, streamed = images, labels[held], None
        used = self.layout.devices
        if exceeds_device_memory(images.nbytes, len(used), used[0]):
            rows = np.delete(np.arange(len(images)), held)
            streamed, images, labels = ImageRows(every, rows), every[rows[:1]], labels[rows]
        elif len(held):
            images, labels = np.delete(images, held, 0), np.delete(labels, held)
        self._folds = np.delete(assign_folds(config, dataset), held) if config.folds else None
        self.size = len(labels)
        self.steps_per_epoch = batches.count_steps_per_epoch(self.size, config.batch_size, len(held), config.folds)
        self.augmentation = Augmentation.from_config(config)
        execution = execution or choose_training_execution(self.network, self.layout.lanes, config.batch_size, used[0])
        arithmetic = choose_arithmetic(config, execution, self.network, products)
        self.products = extract_bfloat16_methods(arithmetic)
        self._execution = self._create_execution(
            execution,
            TrainingSetup(
                self.layout,
                StepSettings(self.network, self.augmentation, self.rule, arithmetic),
                images,
                labels,
                steps=self.steps_per_epoch,
                batch_size=config.batch_size,
                has_member_batches=config.has_member_batches,
                has_member_views=config.has_member_views,
                hyper=self._build_hyperparameters(1),
                common=self._build_shared_hyperparameters(),
                ensembles=ensembles,
                soft_targets=self._build_soft_targets(targets, held),
                streamed=streamed,
            ),
        )
        load = self._execution.load_evaluation_data
        if streamed:
            test_rows = ImageRows(dataset.test_images, np.arange(len(dataset.test_images)))
            self._test = load(test_rows, dataset.test_labels)
            self._validation = load(ImageRows(every, held), held_labels) if len(held) else None
        else:
            self._test = load(dataset.test_images, dataset.test_labels)
            self._validation = load(every[held], held_labels) if len(held) else None
        self._epoch = functools.lru_cache(maxsize=1)(self._load_epoch)

    def start(self, state: Any = None) -> Any:
        """The members on their devices: before their first step, or from `state` (M, …).

        Training is compiled beside one thing at a time, or before where members take much memory.
        """
        begin = self.init_members if state is None else functools.partial(self.put, state)
        large = sum(leaf.nbytes for leaf in jax.tree.leaves(self.create_blank_state())) > LARGE_STATE_BYTES
        with ThreadPoolExecutor(1) as pool:
            begun = None if large else pool.submit(begin)
            pool.submit(self._epoch, 1)
            self._execution.compile()
            return begun.result() if begun else begin()

    def _create_execution(self, form: str, work: TrainingSetup) -> Execution:
        """What runs the members: a form of `EXECUTIONS` in member_programs.py, or what learns batches in parts."""
        parts = self.config.batch_parts
        if parts == 1:
            return (StepwiseExecution if form == "stepwise" else LoopedExecution)(work)
        if collections := self.network.collections:
            raise ConfigError(
                f"batch_parts is {parts}, but the network {self.network.name} carries "
                f"{collections[0]} from step to step, which parts of a batch would each change: choose batch_parts 1."
            )
        return SharedBatchExecution(work, parts)

    def init_members(self) -> Any:
        """The members before their first step, on their devices."""
        config, optimizer = self.config, self.rule.optimizer
        return self.put(create_members(self.network, config.seed, config.members, self.numbers, optimizer))

    def create_blank_state(self) -> MemberState:
        """A state in NumPy, leaves (M, …), all zero: of the shapes that `get` gives."""
        return create_blank_members(self.network, len(self.numbers), self.rule.optimizer)

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""
        return self._execution.put(state)

    def get(self, state: Any) -> Any:
        """A state as NumPy arrays (M, …)."""
        return self._execution.get(state)

    def get_params(self, state: Any) -> Any:
        """The parameters alone, as NumPy arrays (M, …): half of what `get` takes."""
        return self._execution.get_params(state)

    def train(self, state: Any, epoch: int, start: int, count: int) -> tuple[Any, TrainingMetrics]:
        """Steps `start` to `start + count` (from 0) of an epoch (from 1). Gives up `state`.

        The given state's memory is reused for the new one: it must not be used again.
        """
        loaded, parts, end = self._epoch(epoch)[1], list[TrainingMetrics](), start + count
        while start < end or not parts:
            most = min(self._execution.max_steps_per_call, end - start)
            state, metrics = self._execution.train(state, loaded, start, most)
            parts.append(metrics)
            start += most
        return state, split_metrics_by_ensemble(concatenate_training_metrics(parts), ~self.active, self._ensembles)

    def evaluate(self, state: Any, interrupted: Callable[[], bool] = lambda: False) -> Evaluation | None:
        """Every member, and their averaged probabilities, on the whole test set.

        `interrupted` is asked about once a second; None is returned as soon as it says yes.
        """
        return self._execution.evaluate(state, self._test, interrupted)

    def freeze_members(self, members: Sequence[int]) -> None:
        """Train and ask these no more, by their places from 0 to M - 1; the others go on alone.

        Their metrics are NaN from now on, and the ensemble's are of the others. Their numbers stay
        as they are in the state.
        """
        active = self.active.copy()
        active[list(members)] = False
        self._execution.active = active

    @property
    def active(self) -> np.ndarray:
        """Which members are not set aside, bool (M,)."""
        return self._execution.active

    @property
    def device_count(self) -> int:
        """How many devices have work."""
        return self._execution.device_count

    @property
    def has_validation_set(self) -> bool:
        """Whether training images are held out, to choose by."""
        return self._validation is not None

    def validate(self, state: Any, interrupted: Callable[[], bool] = lambda: False) -> Evaluation | None:
        """`evaluate` on the training images that are held out, of which there have to be some."""
        assert self._validation is not None
        return self._execution.evaluate(state, self._validation, interrupted)

    @property
    def test_size(self) -> int:
        """How many images each epoch is tested on."""
        return len(self.dataset.test_labels)

    def compile_evaluation(self, state: Any) -> None:
        """Compile what `evaluate` and `validate` run, so that its time can be told apart."""
        for judged in filter(None, (self._test, self._validation)):
            self._execution.compile_evaluation(state, judged)

    def _load_epoch(self, epoch: int) -> tuple[EpochInputs, Any]:
        """Batches and keys of every member, and the epoch's numbers: here and on the devices."""
        config = self.config
        order = batches.sample_epoch_batches(config, epoch, self.size, self.numbers, self._folds)
        own = np.zeros((len(self.numbers), 2), np.uint32)
        if any(self.augmentation) or self.network.is_stochastic:
            every = random_keys.derive_augmentation_keys(config.seed, epoch, config.members)
            own = every[np.asarray(self.numbers)]
        drawn = EpochInputs(order, own, self._build_hyperparameters(epoch), self._build_shared_hyperparameters())
        return drawn, self._execution.load_epoch(drawn)

    def _build_hyperparameters(self, epoch: int) -> Hyperparameters:
        values, steps = self.values, self.steps_per_epoch
        return Hyperparameters(
            rates=compute_learning_rates(self.config, steps, values["learning_rate"], epoch),
            momentum=values["momentum"].astype(np.float32),
            weight_decay=values["weight_decay"].astype(np.float32),
        )

    def _build_soft_targets(self, targets: np.ndarray | None, held: np.ndarray) -> SoftTargets | None:
        """What a teacher says of the images that are learnt from; None without one."""
        if not self.rule.has_soft_targets:
            return None
        wanted = len(self.dataset.train_images), self.network.classes
        if targets is None or targets.shape != wanted:
            raise ValueError(f"A teacher's targets have to be {wanted}: a row for each image.")
        return SoftTargets(
            np.delete(np.asarray(targets, np.float32), held, 0),
            np.float32(self.config.distil_temperature),
            np.float32(self.config.distil_alpha),
        )

    def _build_shared_hyperparameters(self) -> SharedHyperparameters:
        whole = {"shift_pixels": np.int32(self.config.shift_pixels)}
        rest = [name for name in SharedHyperparameters._fields if name not in whole]
        return SharedHyperparameters(**whole, **{name: np.float32(getattr(self.config, name)) for name in rest})
