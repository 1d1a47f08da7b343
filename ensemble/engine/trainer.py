"""An ensemble on devices: first parameters, many steps a call, the whole test set."""

import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.config import EnsembleConfig
from ensemble.datasets.split import validation_indices
from ensemble.engine import batches, keys
from ensemble.engine.figures import Evaluation, StepFigures, ensemble_figures, evaluation
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.networks.cnn import Arithmetic
from ensemble.engine.pace import Pace
from ensemble.engine.programs import EVALUATION_BLOCK, blocks_of, precision, programs
from ensemble.engine.schedule import learning_rates
from ensemble.engine.step import NETWORK, Hyper, MemberState, blank_members, create_members


class Digits(Protocol):
    """What a Trainer needs of a dataset: uint8 (N, 28, 28, 1) and int32 (N,), twice."""

    @property
    def train_images(self) -> np.ndarray:
        """What to learn from."""

    @property
    def train_labels(self) -> np.ndarray:
        """Its classes."""

    @property
    def test_images(self) -> np.ndarray:
        """What to be tested on."""

    @property
    def test_labels(self) -> np.ndarray:
        """Its classes."""


class Judged(NamedTuple):
    """What members are evaluated on: labels (N,), and as laid out on the devices."""

    labels: np.ndarray
    blocks: Any
    truth: Any


class Trainer:
    """Compiled programs and resident data for one run.

    State is passed in and out; a Trainer itself never changes but for a cache of the
    epoch's batches. Members of one device run one after the other on a CPU (each has the
    caches to itself) and side by side elsewhere (a small network leaves a GPU idle).

    Args:
      config: the run's settings.
      digits: what to learn and what to be tested on.
      devices: what to train on; by default what `config.devices` says.
      form: one of programs.FORMS; by default "tower" on a CPU and "grouped" elsewhere.

    Raises:
      ConfigError: a batch larger than the training set, or devices that are not there.
    """

    def __init__(
        self,
        config: EnsembleConfig,
        digits: Digits,
        devices: Sequence[jax.Device] | None = None,
        form: str | None = None,
    ) -> None:
        self.config, self.digits = config, digits
        self.layout = Layout.over(config.members, devices or choose_devices(config.devices))
        images, self._labels = digits.train_images, digits.train_labels
        self._validation = None
        if len(held := validation_indices(config, digits.train_labels)):
            self._validation = self._to_judge(images[held], self._labels[held])
            images, self._labels = np.delete(images, held, 0), np.delete(self._labels, held)
        self.size = len(images)
        self.steps_per_epoch = batches.steps_per_epoch(self.size, config.batch_size, len(held))
        self.rates = learning_rates(config, self.steps_per_epoch)
        self._data = self.layout.replicate((images, self._labels))
        self._test = self._to_judge(digits.test_images, digits.test_labels)
        self.augmented = config.shift_pixels > 0 or config.rotation_degrees > 0
        form = form or ("tower" if jax.default_backend() == "cpu" else "grouped")
        self._train, self._evaluate = programs(
            self.layout.devices, self.augmented, Arithmetic(form, precision(config, form))
        )
        self._ensemble_figures = ensemble_figures(self.layout)
        self._epoch = functools.lru_cache(maxsize=1)(self._load_epoch)

    def start(self, state: Any = None) -> MemberState:
        """The members on their devices: before their first step, or from `state` (M, …).

        Training is compiled meanwhile, so that the first step need not wait for it.
        """
        config = self.config
        with ThreadPoolExecutor() as pool:
            begin = pool.submit(self.init) if state is None else pool.submit(self.put, state)
            drawn = pool.submit(self._epoch, 1)
            order = np.zeros((config.members, self.steps_per_epoch, config.batch_size), np.int32)
            own = self.layout.spread((order, np.zeros((config.members, 2), np.uint32)))
            blank = self.put(blank_members(config.members))
            _, raw = jax.block_until_ready(self._steps(blank, own, self._hyper(1), 0, 0))
            self._averaged(raw.probabilities, drawn.result()[1], 0)
            return begin.result()

    def init(self) -> MemberState:
        """The members before their first step, on their devices."""
        return self.put(create_members(self.config.seed, self.config.members))

    def put(self, state: Any) -> MemberState:
        """A state of arrays (M, …), laid out on the devices."""
        return self.layout.spread(state)

    def get(self, state: MemberState) -> MemberState:
        """A state as NumPy arrays (M, …)."""
        return self.layout.gather(state)

    def get_params(self, state: MemberState) -> Any:
        """The parameters alone, as NumPy arrays (M, …): half of what `get` takes."""
        return self.layout.gather(state.params)

    def train(
        self, state: MemberState, epoch: int, start: int, count: int
    ) -> tuple[MemberState, StepFigures]:
        """Steps `start` to `start + count` (from 0) of an epoch (from 1). Gives up `state`.

        The given state's memory is reused for the new one: it must not be used again.
        """
        own, labels, hyper = self._epoch(epoch)
        state, raw = self._steps(state, own, hyper, start, count)
        jax.block_until_ready(raw)
        loss, accuracy = self.layout.gather((raw.loss, raw.accuracy))
        loss, accuracy = loss[:, :count], accuracy[:, :count]
        nll, right = self._averaged(raw.probabilities, labels, start)
        if nll is None or right is None:
            return state, StepFigures(loss, accuracy, None, None)
        return state, StepFigures(loss, accuracy, nll[:count], right[:count])

    def evaluate(
        self, state: MemberState, interrupted: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """Every member, and their averaged probabilities, on the whole test set.

        `interrupted` is asked about once a second; None is returned as soon as it says yes.
        """
        return self._judge(state, self._test, interrupted)

    @property
    def validates(self) -> bool:
        """Whether training images are held out, to choose by."""
        return self._validation is not None

    def validate(
        self, state: MemberState, interrupted: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """`evaluate` on the training images that are held out, of which there have to be some."""
        assert self._validation is not None
        return self._judge(state, self._validation, interrupted)

    def compile_evaluation(self, state: MemberState) -> None:
        """Compile what `evaluate` and `validate` run, so that its time can be told apart."""
        for judged in filter(None, (self._test, self._validation)):
            self._answered(self._ask(judged, self._unasked(judged), state, 0, 0), judged)

    def _to_judge(self, images: np.ndarray, labels: np.ndarray) -> Judged:
        """Images (N, …) to be judged on, in blocks on every device, and their labels (N,)."""
        return Judged(labels, *self.layout.replicate((blocks_of(images), labels)))

    def _judge(
        self, state: MemberState, judged: Judged, interrupted: Callable[[], bool]
    ) -> Evaluation | None:
        count = int(judged.blocks.shape[1])
        log_p = self._unasked(judged)
        pace, done = Pace(), 0
        while done < count:
            if interrupted():
                return None
            took, units = time.perf_counter(), pace.next(count - done)
            log_p = self._ask(judged, log_p, state, done, units)
            pace.took(units, time.perf_counter() - took)
            done += units
        log_p, nll, right = self._answered(log_p, judged)
        return evaluation(self.layout.gather(log_p), judged.labels, nll, right)

    def _unasked(self, judged: Judged) -> Array:
        """Room for every lane's log-probabilities, by blocks of images."""
        count = int(judged.blocks.shape[1])
        room = (self.layout.lanes, count, EVALUATION_BLOCK, NETWORK.classes)
        return self.layout.replicate(np.zeros(room, np.float32))

    def _ask(
        self, judged: Judged, log_p: Array, state: MemberState, start: int, count: int
    ) -> Array:
        """Log-probabilities with `count` more blocks filled in, from block `start` (from 0)."""
        counts = self.layout.put(self.layout.real * np.int32(count))
        first = self.layout.replicate(np.int32(start))
        log_p = self._evaluate(log_p, (state.params,), counts, (judged.blocks, first))
        return jax.block_until_ready(log_p)

    def _answered(self, log_p: Array, judged: Judged) -> tuple[Array, np.ndarray, np.ndarray]:
        """Log-probabilities image by image, and the NLL and accuracy of their average."""
        log_p = log_p.reshape(*log_p.shape[:2], -1, NETWORK.classes)
        return log_p, *self._ensemble_figures(jnp.exp(log_p), judged.truth)

    def _steps(self, state: MemberState, own: Any, hyper: Hyper, start: int, count: int) -> Any:
        """New members and raw figures, on the devices; `own` as `_load_epoch` gives it."""
        counts = self.layout.put(self.layout.real * np.int32(count))
        first = self.layout.replicate(np.int32(start))
        return self._train(state, own, counts, (*self._data, hyper, first))

    def _averaged(
        self, probabilities: Array, labels: np.ndarray, start: int
    ) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
        """NLL and accuracy (S,) of the averaged probabilities, or None twice: own views."""
        if self.config.own_views:
            return None, None
        rows = self.layout.replicate(np.roll(labels, -start, axis=0))
        return self._ensemble_figures(probabilities, rows)

    def _load_epoch(self, epoch: int) -> tuple[tuple[Any, Any], np.ndarray, Hyper]:
        """Batches and augmentation keys of every lane, labels of every batch, and rates."""
        config = self.config
        order = batches.epoch_order(config, epoch, self.size)
        own = np.zeros((config.members, 2), np.uint32)
        if self.augmented:
            own = np.asarray(keys.augmentation_keys(config.seed, epoch, config.members))
        labels = self._labels[order[0]]
        return self.layout.spread((order, own)), labels, self._hyper(epoch)

    def _hyper(self, epoch: int) -> Hyper:
        """The numbers of an epoch, on every device."""
        config, steps = self.config, self.steps_per_epoch
        hyper = Hyper(
            rates=self.rates[(epoch - 1) * steps : epoch * steps],
            momentum=np.float32(config.momentum),
            shift_pixels=np.int32(config.shift_pixels),
            rotation_degrees=np.float32(config.rotation_degrees),
        )
        return self.layout.replicate(hyper)
