"""An ensemble on devices: first parameters, many steps a call, the whole test set."""

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import jax
import numpy as np
from jax.typing import ArrayLike

from ensemble.config import EnsembleConfig
from ensemble.datasets.split import validation_indices
from ensemble.engine.draws import batches, keys
from ensemble.engine.draws.augment import Augmentation
from ensemble.engine.figures import Evaluation, StepFigures, joined
from ensemble.engine.forms.ensembles import steps_of_each
from ensemble.engine.forms.looped import Looped
from ensemble.engine.forms.plan import arithmetic_of, products_in
from ensemble.engine.forms.programs import usual_form
from ensemble.engine.forms.stepwise import Stepwise
from ensemble.engine.forms.work import Epoch, Form, Work
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.networks.network import Network
from ensemble.engine.networks.registry import network_of
from ensemble.engine.optimizer import Hyper, rule_of, values_of
from ensemble.engine.schedule import learning_rates
from ensemble.engine.step import Common, MemberState, blank_members, create_members
from ensemble.machine.product_plans import Products

LARGE_BYTES = 2**28  # of members, above which nothing else is done while they are created


class Images(Protocol):
    """What a Trainer needs of a dataset: uint8 (N, H, W, channels) and int32 (N,), twice."""

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

    @property
    def class_names(self) -> tuple[str, ...]:
        """What people call the classes."""


class Trainer:
    """Compiled programs and resident data for one run.

    State is passed in and out, and what it is on the devices is the form's business; a Trainer
    itself never changes but for a cache of the epoch's batches, and for who is set aside.

    Args:
      config: the run's settings.
      digits: what to learn and what to be tested on.
      devices: what to train on; by default what `config.devices` says.
      form: one of programs.FORMS; by default what is fastest on this platform.
      numbers: which members, counted from 0, where others are trained elsewhere; by default all.
        Any of them, in any order, also more than once: with other `values` each. Everywhere else
        M is how many these are.
      values: learning rates, momenta or weight decays, (M,) each, by the setting's name, in place
        of `config.per_member`'s.
      ensembles: T, how many ensembles of as many members each these are, one after the other:
        figures are of `each` then.
      products: how bfloat16 is multiplied in a tower; by default what is fastest here (plan.py).

    Attributes:
      products: as had, or None.
      network: what learns.
      numbers: as given.
      values: every member's learning rate, momentum and weight decay, (M,) each.
      rule: what moves members.

    Raises:
      ConfigError: a batch larger than the training set, devices that are not there, or all that
        `network_of` and `values_of` say.
    """

    def __init__(
        self,
        config: EnsembleConfig,
        digits: Images,
        devices: Sequence[jax.Device] | None = None,
        form: str | None = None,
        numbers: Sequence[int] | None = None,
        values: Mapping[str, ArrayLike] | None = None,
        ensembles: int = 1,
        products: Products | None = None,
    ) -> None:
        self.config, self.digits, self._ensembles = config, digits, ensembles
        images, labels = digits.train_images, digits.train_labels
        self.network: Network = network_of(config, images.shape[1:], len(digits.class_names))
        self.numbers = range(config.members) if numbers is None else numbers
        self.values = values_of(config, self.numbers, values)
        self.rule = rule_of(config, self.values)
        self.layout = Layout.over(len(self.numbers), devices or choose_devices(config.devices))
        held = validation_indices(config, labels)
        held_images, held_labels = images[held], labels[held]
        if len(held):
            images, labels = np.delete(images, held, 0), np.delete(labels, held)
        self.size = len(images)
        self.steps_per_epoch = batches.steps_per_epoch(self.size, config.batch_size, len(held))
        self.augmentation = Augmentation.of(config)
        form = form or usual_form(self.network)
        arithmetic = arithmetic_of(config, form, self.network, products)
        self.products = products_in(arithmetic)
        self._form: Form = (Stepwise if form == "stepwise" else Looped)(
            Work(
                self.layout,
                self.network,
                self.augmentation,
                self.rule,
                arithmetic,
                images,
                labels,
                self.steps_per_epoch,
                config.batch_size,
                config.own_views,
                self._hyper(1),
                self._common(),
                ensembles,
            )
        )
        self._test = self._form.to_judge(digits.test_images, digits.test_labels)
        self._validation = self._form.to_judge(held_images, held_labels) if len(held) else None
        self._epoch = functools.lru_cache(maxsize=1)(self._load_epoch)

    def start(self, state: Any = None) -> Any:
        """The members on their devices: before their first step, or from `state` (M, …).

        Training is compiled beside one thing at a time, or before where members take much memory.
        """
        begin = self.init if state is None else functools.partial(self.put, state)
        large = sum(leaf.nbytes for leaf in jax.tree.leaves(self.blank())) > LARGE_BYTES
        with ThreadPoolExecutor(1) as pool:
            begun = None if large else pool.submit(begin)
            pool.submit(self._epoch, 1)
            self._form.compile()
            return begun.result() if begun else begin()

    def init(self) -> Any:
        """The members before their first step, on their devices."""
        config, optimizer = self.config, self.rule.optimizer
        return self.put(
            create_members(self.network, config.seed, config.members, self.numbers, optimizer)
        )

    def blank(self) -> MemberState:
        """A state in NumPy, leaves (M, …), all zero: of the shapes that `get` gives."""
        return blank_members(self.network, len(self.numbers), self.rule.optimizer)

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""
        return self._form.put(state)

    def get(self, state: Any) -> Any:
        """A state as NumPy arrays (M, …)."""
        return self._form.get(state)

    def get_params(self, state: Any) -> Any:
        """The parameters alone, as NumPy arrays (M, …): half of what `get` takes."""
        return self._form.params(state)

    def train(self, state: Any, epoch: int, start: int, count: int) -> tuple[Any, StepFigures]:
        """Steps `start` to `start + count` (from 0) of an epoch (from 1). Gives up `state`.

        The given state's memory is reused for the new one: it must not be used again.
        """
        loaded, parts, end = self._epoch(epoch)[1], list[StepFigures](), start + count
        while start < end or not parts:
            most = min(self._form.rows, end - start)
            state, figures = self._form.train(state, loaded, start, most)
            parts.append(figures)
            start += most
        return state, steps_of_each(joined(parts), ~self.active, self._ensembles)

    def evaluate(
        self, state: Any, interrupted: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """Every member, and their averaged probabilities, on the whole test set.

        `interrupted` is asked about once a second; None is returned as soon as it says yes.
        """
        return self._form.judge(state, self._test, interrupted)

    def set_aside(self, members: Sequence[int]) -> None:
        """Train and ask these no more, by their places from 0 to M - 1; the others go on alone.

        Their figures are NaN from now on, and the ensemble's are of the others. Their numbers stay
        as they are in the state.
        """
        active = self.active.copy()
        active[list(members)] = False
        self._form.active = active

    @property
    def active(self) -> np.ndarray:
        """Which members are not set aside, bool (M,)."""
        return self._form.active

    @property
    def devices(self) -> int:
        """How many devices have work."""
        return self._form.devices

    @property
    def validates(self) -> bool:
        """Whether training images are held out, to choose by."""
        return self._validation is not None

    def validate(
        self, state: Any, interrupted: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """`evaluate` on the training images that are held out, of which there have to be some."""
        assert self._validation is not None
        return self._form.judge(state, self._validation, interrupted)

    def compile_evaluation(self, state: Any) -> None:
        """Compile what `evaluate` and `validate` run, so that its time can be told apart."""
        for judged in filter(None, (self._test, self._validation)):
            self._form.compile_judging(state, judged)

    def _load_epoch(self, epoch: int) -> tuple[Epoch, Any]:
        """Batches and keys of every member, and the epoch's numbers: here and on the devices."""
        config = self.config
        order = batches.epoch_order(config, epoch, self.size, self.numbers)
        own = np.zeros((len(self.numbers), 2), np.uint32)
        if any(self.augmentation) or self.network.random:
            own = np.asarray(keys.augmentation_keys(config.seed, epoch, config.members))
            own = own[np.asarray(self.numbers)]
        drawn = Epoch(order, own, self._hyper(epoch), self._common())
        return drawn, self._form.load(drawn)

    def _hyper(self, epoch: int) -> Hyper:
        """Each member's numbers of an epoch."""
        values, steps = self.values, self.steps_per_epoch
        return Hyper(
            rates=learning_rates(self.config, steps, values["learning_rate"], epoch),
            momentum=values["momentum"].astype(np.float32),
            weight_decay=values["weight_decay"].astype(np.float32),
        )

    def _common(self) -> Common:
        """The numbers that all members share."""
        whole = {"shift_pixels": np.int32(self.config.shift_pixels)}
        rest = [name for name in Common._fields if name not in whole]
        return Common(**whole, **{name: np.float32(getattr(self.config, name)) for name in rest})
