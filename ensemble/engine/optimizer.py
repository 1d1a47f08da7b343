"""What moves a member: the rule, which is compiled, and its numbers, which are data.

Which optimizer, and whether there are a weight decay, label smoothing and adversarial examples,
decides what is compiled; how much of each, and at what rate, does not. Rates, momenta and decays
may differ from member to member.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from ensemble.config import TrainingConfig
from ensemble.engine.networks.network import Params
from ensemble.engine.trace_cache import register_serialization
from ensemble.errors import ConfigError
from ensemble.optimizers import OPTIMIZERS, SGD, Optimizer


class UpdateRule(NamedTuple):
    """What there is of it; the HOWTO's SGD with momentum if nothing is said.

    Attributes:
      optimizer: which.
      has_coupled_decay: there is a weight decay that is added to the gradient. An optimizer that
        takes one itself always has one, which may be 0.
      has_label_smoothing: labels are smoothed (Szegedy et al. 2016).
      has_soft_targets: members learn from a teacher's probabilities too (Hinton et al. 2015).
      has_adversarial_examples: members learn from them too (adversarial_training.py).
    """

    optimizer: Optimizer = SGD
    has_coupled_decay: bool = False
    has_label_smoothing: bool = False
    has_soft_targets: bool = False
    has_adversarial_examples: bool = False


PLAIN_SGD = UpdateRule()


@register_serialization
class Hyperparameters(NamedTuple):
    """Numbers of one member; data to the compiled program, so none of them recompiles.

    `rates` holds the learning rate of each step of the epoch, (S,).
    """

    rates: ArrayLike
    momentum: ArrayLike
    weight_decay: ArrayLike


def build_update_rule(config: TrainingConfig, values: Mapping[str, np.ndarray] | None = None) -> UpdateRule:
    """What a run has of it.

    Args:
      config: its settings.
      values: its members' numbers in their place, as `resolve_member_values` gives them.
    """
    decays = bool(np.any((values or config.member_values)["weight_decay"]))
    optimizer = OPTIMIZERS[config.optimizer]
    in_gradient = decays and "weight_decay" not in optimizer.hyperparameters
    smooths, attacks = config.label_smoothing > 0, config.adversarial > 0
    return UpdateRule(optimizer, in_gradient, smooths, config.has_soft_targets, attacks)


def resolve_member_values(
    config: TrainingConfig, numbers: Sequence[int], overrides: Mapping[str, ArrayLike] | None = None
) -> dict[str, np.ndarray]:
    """Each member's learning rate, momentum and weight decay, float64 (M,) each.

    Args:
      config: the run's settings.
      numbers: which members, counted from 0.
      overrides: what stands in place of the settings' numbers, (M,) each.

    Raises:
      ConfigError: numbers of no member, values of no such setting, or too few or many of them.
    """
    if bad := [number for number in numbers if not 0 <= number < config.members]:
        raise ConfigError(
            f"There is no member {bad[0]} among {config.members}: number them from 0 to {config.members - 1}."
        )
    places = np.asarray(numbers, np.int64)
    own = {name: np.asarray(each)[places] for name, each in config.member_values.items()}
    for name, override in (overrides or {}).items():
        each = np.asarray(override, np.float64)
        if name not in own:
            raise ConfigError(f"{name} cannot differ between members: the settings that can are {', '.join(own)}.")
        if each.shape != (len(numbers),):
            raise ConfigError(
                f"{name} is given as {each.shape} numbers: give one for each of the {len(numbers)} members."
            )
        own[name] = each
    return own


def init_optimizer_state(optimizer: Optimizer, trained: Params) -> optax.OptState:
    """What an optimizer remembers of such parameters before the first step."""
    return optimizer.transform(0.0, **dict.fromkeys(optimizer.hyperparameters, 0.0)).init(trained)


def _list_optimizer_state_types(optimizer: Optimizer) -> set[type]:
    state_types = set()

    def collect_types(part: object) -> None:
        if isinstance(part, tuple):
            if hasattr(part, "_fields"):
                state_types.add(type(part))
            for inner in part:
                collect_types(inner)

    collect_types(jax.eval_shape(lambda: init_optimizer_state(optimizer, {})))
    return state_types


for _kind in set[type]().union(*map(_list_optimizer_state_types, OPTIMIZERS.values())):
    register_serialization(_kind)


def apply_gradient_step(
    rule: UpdateRule, grads: Params, opt_state: optax.OptState, trained: Params, rate: ArrayLike, hyper: Hyperparameters
) -> tuple[Params, optax.OptState]:
    """One update: the moved parameters, and what the optimizer remembers."""
    if rule.has_coupled_decay:
        grads = jax.tree.map(lambda g, p: g + hyper.weight_decay * p, grads, trained)
    # As arrays: a plain 0.0 would be compiled in.
    own = {name: jnp.asarray(getattr(hyper, name)) for name in rule.optimizer.hyperparameters}
    updates, opt_state = rule.optimizer.transform(rate, **own).update(grads, opt_state, trained)
    moved: Params = optax.apply_updates(trained, updates)  # type: ignore[assignment]
    return moved, opt_state


@register_serialization
class SoftTargets(NamedTuple):
    """What a teacher says of images, and how much it counts; all of it data.

    Attributes:
      probabilities: float32 (N, C), or of a batch (B, C), at the temperature.
      temperature: T, that the student's logits are divided by beside them.
      alpha: weight of the labels, in [0, 1]; the teacher has the rest.
    """

    probabilities: Array | np.ndarray
    temperature: ArrayLike
    alpha: ArrayLike


def compute_training_losses(
    rule: UpdateRule, logits: Array, labels: Array, label_smoothing: ArrayLike, soft_targets: SoftTargets | None = None
) -> tuple[Array, Array]:
    """The loss that is learnt from, and the one that is told: means over the batch, in nats.

    What is told is always the cross-entropy with the labels as they are, so that it stands beside
    the ensemble's and the test's.

    Args:
      rule: whether the first has smoothed labels.
      logits: (B, C).
      labels: int (B,).
      label_smoothing: share of the label that all classes are given alike, in [0, 1].
      soft_targets: what a teacher says, where `rule` has one.
    """
    one_hot = jax.nn.one_hot(labels, logits.shape[-1])
    cross_entropy = optax.softmax_cross_entropy(logits=logits, labels=one_hot).mean()
    learnt = cross_entropy
    if rule.has_label_smoothing:
        smooth = optax.smooth_labels(one_hot, label_smoothing)  # type: ignore[arg-type]
        learnt = optax.softmax_cross_entropy(logits=logits, labels=smooth).mean()
    if rule.has_soft_targets and soft_targets is not None:
        learnt = _add_distillation_loss(learnt, logits, soft_targets)
    return learnt, cross_entropy


def _add_distillation_loss(label_loss: Array, logits: Array, soft_targets: SoftTargets) -> Array:
    """The loss of a student: α · label loss + (1 − α) · T² · KL(teacher ‖ student), in nats.

    Both distributions of the divergence are at temperature T: the teacher's as given, the
    student's the softmax of its logits divided by T. T² keeps the size of the gradient as T grows.

    Args:
      label_loss: the mean over the batch of what is learnt from the labels, at temperature 1.
      logits: (B, C), the student's.
      soft_targets: the teacher's, with T and α.

    Source: G. Hinton, O. Vinyals and J. Dean, "Distilling the knowledge in a neural network",
    arXiv:1503.02531 (2015), section 2.
    """
    temperature, alpha = soft_targets.temperature, soft_targets.alpha
    log_student = jax.nn.log_softmax(logits / temperature)
    divergence = optax.kl_divergence(log_student, soft_targets.probabilities).mean()
    return alpha * label_loss + (1 - alpha) * temperature**2 * divergence
