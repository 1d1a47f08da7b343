"""One member, one step: written for one network, mapped over members and devices elsewhere."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from ensemble.config import TrainingConfig
from ensemble.engine.adversarial_training import UNIT_RANGE, differentiate_loss
from ensemble.engine.draws import random_keys
from ensemble.engine.draws.augmentation import NO_AUGMENTATION, Augmentation, augment_images
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic, scale_to_unit
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.networks.network import Network, Params, join_tree_path
from ensemble.engine.optimizer import PLAIN_SGD as PLAIN_SGD
from ensemble.engine.optimizer import (
    Hyperparameters,
    SoftTargets,
    UpdateRule,
    apply_gradient_step,
    compute_training_losses,
    init_optimizer_state,
)
from ensemble.engine.trace_cache import cache_trace, register_serialization
from ensemble.optimizers import OPTIMIZERS, SGD, Optimizer


@register_serialization
class MemberState(NamedTuple):
    """What a member carries from step to step.

    Attributes:
      params: the network's, with every collection that it has: running statistics too.
      opt_state: the optimizer's, of what it moves.
    """

    params: Params
    opt_state: optax.OptState


@register_serialization
class MemberStepMetrics(NamedTuple):
    """What a step reports, before its update: loss (nats), accuracy, batch probabilities.

    The loss is the cross-entropy with the labels as they are, also where they are smoothed.
    """

    loss: Array
    accuracy: Array
    probabilities: Array


@register_serialization
class SharedHyperparameters(NamedTuple):
    """Numbers that all members share; data to the compiled program as `Hyperparameters` is."""

    shift_pixels: ArrayLike
    rotation_degrees: ArrayLike
    label_smoothing: ArrayLike
    slant_degrees: ArrayLike
    elastic_pixels: ArrayLike
    photo_effects: ArrayLike
    adversarial: ArrayLike


class StepSettings(NamedTuple):
    """What a training step is compiled for; another value compiles it again.

    Attributes:
      network: the network to train.
      augmentation: how images are augmented.
      rule: the optimizer and the terms of the loss; by default SGD with momentum, as in the HOWTO.
      arithmetic: how the network's sums are computed.
    """

    network: Network
    augmentation: Augmentation = NO_AUGMENTATION
    rule: UpdateRule = PLAIN_SGD
    arithmetic: Arithmetic = DEFAULT_ARITHMETIC


@register_serialization
class StepInputs(NamedTuple):
    """What the steps of an epoch read besides a member's state, for one member; data to the compiled program.

    Attributes:
      order: image indices of every batch of the epoch, int32 (S, B).
      key_data: the member's key for random draws in the epoch, as raw data.
      hyper: the member's hyperparameters.
      images: all training images, uint8 (N, H, W, channels).
      labels: int32 (N,).
      common: the hyperparameters that all members share.
      soft_targets: a teacher's predictions for all images, (N, C); None without a teacher.
    """

    order: Array
    key_data: Array
    hyper: Hyperparameters
    images: Array
    labels: Array
    common: SharedHyperparameters
    soft_targets: SoftTargets | None = None


class Batch(NamedTuple):
    """The data of one update.

    Attributes:
      images: (B, H, W, channels) in [0, 1], augmented.
      labels: int (B,).
      common: the hyperparameters that all members share.
      key: for the network's random draws; None if it does not draw.
      soft_targets: a teacher's predictions for these images, (B, C); None without a teacher.
    """

    images: Array
    labels: Array
    common: SharedHyperparameters
    key: Array | None = None
    soft_targets: SoftTargets | None = None


def create_member_state(network: Network, optimizer: Optimizer, key: Array) -> MemberState:
    params = network.init(key)
    return MemberState(params, init_optimizer_state(optimizer, network.split_params(params)[0]))


def create_members(
    network: Network, seed: int, members: int, numbers: Sequence[int] | None = None, optimizer: Optimizer = SGD
) -> MemberState:
    """Members before their first step, leaves (M, …): the HOWTO's draws.

    Args:
      network: what they are.
      seed: of the run.
      members: how many the run has.
      numbers: which of them, from 0, in any order, also more than once; by default all.
      optimizer: what moves them.
    """
    which = np.arange(members) if numbers is None else np.asarray(numbers, int)
    drawn = random_keys.derive_member_key_data(seed, members)
    create = _build_creation_program(network, optimizer)
    every = create_blank_members(network, len(which), optimizer)
    rooms = jax.tree.leaves(every)
    for place, number in enumerate(which):  # One by one: otherwise all would be there twice.
        # As NumPy's: of JAX's, looking for zeros would be a program to compile for each shape.
        leaves = map(np.asarray, jax.tree.leaves(create(drawn[number])))
        for room, leaf in zip(rooms, leaves, strict=True):
            if np.any(leaf):  # Pages of zeros that nothing is written to take no memory.
                room[place] = leaf
    return every


def create_members_from(
    network: Network, config: TrainingConfig, numbers: Sequence[int], arrays: Mapping[str, np.ndarray]
) -> MemberState:
    """Members before their first step, leaves (M, …), some of whose arrays are given.

    Args:
      network: what they are.
      config: of the run.
      numbers: which of its members, from 0.
      arrays: by the names of `network.shapes`, (…) for all members alike or with an axis of all
        the run's members before it; what is not among them is drawn as usual.

    Raises:
      ValueError: one has another shape.
    """
    optimizer, which = OPTIMIZERS[config.optimizer], np.asarray(numbers, int)
    drawn = create_members(network, config.seed, config.members, numbers, optimizer)

    def choose_array(path: Any, leaf: np.ndarray) -> np.ndarray:
        given = arrays.get(join_tree_path(path))
        if given is None:
            return leaf
        own = given[which] if given.ndim == leaf.ndim else given
        return np.array(np.broadcast_to(own, leaf.shape), leaf.dtype)

    params = jax.tree_util.tree_map_with_path(choose_array, drawn.params)
    # An optimizer may remember where it began.
    trained, _ = network.split_params(params)
    opt_state = jax.vmap(functools.partial(init_optimizer_state, optimizer))(trained)
    return MemberState(params, jax.tree.map(np.asarray, opt_state))


# One member at a time: most of the draws' time is their compiling, and so one compiled program
# does for any number of members, and for all groups of a run.
@functools.lru_cache(maxsize=256)
def _build_creation_program(network: Network, optimizer: Optimizer) -> Callable[[ArrayLike], MemberState]:
    def create_member(key_data: Array) -> MemberState:
        return create_member_state(network, optimizer, jax.random.wrap_key_data(key_data))

    return jax.jit(
        cache_trace("create", create_member, network, optimizer), compiler_options=choose_compiler_options(network)
    )


def create_blank_members(network: Network, members: int, optimizer: Optimizer = SGD) -> MemberState:
    """A state of that many members in NumPy, leaves (M, …), all zero."""
    shapes = jax.eval_shape(_build_creation_program(network, optimizer), jax.ShapeDtypeStruct((2,), np.uint32))
    return jax.tree.map(lambda leaf: np.zeros((members, *leaf.shape), leaf.dtype), shapes)


def apply_train_step(
    settings: StepSettings, state: MemberState, batch: Batch, rate: ArrayLike, hyper: Hyperparameters
) -> tuple[MemberState, MemberStepMetrics]:
    """Update a member by the gradient of its loss on one batch, at learning rate `rate`."""
    trained, _ = settings.network.split_params(state.params)
    grads, after, metrics = compute_gradients(settings, state.params, batch)
    with jax.named_scope("update"):
        moved, opt_state = apply_gradient_step(
            settings.rule, grads, opt_state=state.opt_state, trained=trained, rate=rate, hyper=hyper
        )
    return MemberState({**moved, **after}, opt_state), metrics


def compute_gradients(settings: StepSettings, params: Params, batch: Batch) -> tuple[Params, Params, MemberStepMetrics]:
    """Compute a member's gradients on one batch, its other collections afterwards, and its metrics.

    Metrics and collections are those of the images as given, not of adversarial examples; for
    those the network draws from the same key.
    """
    network, rule = settings.network, settings.rule
    trained, rest = network.split_params(params)

    def compute_loss(trained: Params, images: Array) -> tuple[Array, tuple[Array, Array, Params]]:
        logits, after = network.apply_in_training(trained, rest, images, batch.key, settings.arithmetic)
        with jax.named_scope("loss"):
            smoothing = batch.common.label_smoothing
            learnt, cross_entropy = compute_training_losses(rule, logits, batch.labels, smoothing, batch.soft_targets)
        return learnt, (cross_entropy, logits, after)

    step = batch.common.adversarial if rule.has_adversarial_examples else None
    (loss, logits, after), grads = differentiate_loss(compute_loss, trained, batch.images, step, UNIT_RANGE)
    with jax.named_scope("figures"):
        accuracy = jnp.mean(jnp.argmax(logits, -1) == batch.labels)
        return grads, after, MemberStepMetrics(loss, accuracy, jax.nn.softmax(logits))


def run_epoch_step(
    settings: StepSettings, state: MemberState, inputs: StepInputs, step: ArrayLike
) -> tuple[MemberState, MemberStepMetrics]:
    """Run step `step`, from 0, of an epoch."""
    key = jax.random.fold_in(jax.random.wrap_key_data(inputs.key_data), step)
    batch = prepare_batch(settings, inputs, inputs.order[step], key)
    return apply_train_step(settings, state, batch, jnp.asarray(inputs.hyper.rates)[step], inputs.hyper)


def prepare_batch(settings: StepSettings, inputs: StepInputs, rows: Array, key: Array) -> Batch:
    """Gather the images `rows`, int32 (B,), and augment them with the step's `key`.

    A teacher's targets are those of the original images, also where these are augmented.
    """
    common, soft_targets = inputs.common, inputs.soft_targets
    with jax.named_scope("batch"):
        x, y, drawn = scale_to_unit(inputs.images[rows]), inputs.labels[rows], None
        if soft_targets is not None:
            soft_targets = soft_targets._replace(probabilities=soft_targets.probabilities[rows])
    if settings.network.is_stochastic or any(settings.augmentation):
        drawn = jax.random.fold_in(key, random_keys.DROPOUT) if settings.network.is_stochastic else None
        x = augment_images(
            key,
            x,
            common.shift_pixels,
            common.rotation_degrees,
            settings.augmentation,
            slant_degrees=common.slant_degrees,
            elastic_pixels=common.elastic_pixels,
            photo_effects=common.photo_effects,
        )
    return Batch(x, y, common, drawn, soft_targets)
