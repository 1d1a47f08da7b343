"""The optimizers there are: each is one value, with all that the program knows of it.

A run's settings name one. Step, trainer, checkpoints, the estimate of memory, options, controls
and words are given the value, or derive what they need from `OPTIMIZERS`. To add one, write its
`Optimizer` here, enter it in `OPTIMIZERS`, and name it in docs/command-line.md.

Settings are read without JAX, so Optax is imported where a transformation is made.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import optax
    from jax.typing import ArrayLike


@dataclass(frozen=True)
class Optimizer:
    """One way of moving parameters against their gradients.

    Attributes:
      name: its word in settings.
      title: what people call it.
      help: what it is, and what the momentum is to it; a part of a line for people.
      usual_rate: a learning rate to begin with.
      hyperparameters: which of a member's momentum and weight decay `transform` takes, by the names
        of the settings. A weight decay that it does not take is added to the gradient, as PyTorch
        does.
      state_bytes: what it remembers of each parameter, in bytes.
      transform: Optax's transformation, `transform(rate, **takes)`, of one member's numbers, which
        are data to the compiled program. What its state is made of does not depend on them.
    """

    name: str
    title: str
    help: str
    usual_rate: float
    hyperparameters: tuple[str, ...]
    state_bytes: int
    transform: "Callable[..., optax.GradientTransformation]" = field(repr=False)


def _create_sgd(rate: "ArrayLike", momentum: "ArrayLike") -> "optax.GradientTransformation":
    import optax

    return optax.sgd(rate, momentum)


def _create_adamw(
    rate: "ArrayLike", momentum: "ArrayLike", weight_decay: "ArrayLike"
) -> "optax.GradientTransformation":
    import optax

    # Optax's other numbers are written out: they are PyTorch's too, and stay a run's for ever.
    return optax.adamw(rate, b1=momentum, b2=0.999, eps=1e-8, weight_decay=weight_decay)


def _create_lion(rate: "ArrayLike", momentum: "ArrayLike", weight_decay: "ArrayLike") -> "optax.GradientTransformation":
    import optax

    return optax.lion(rate, b1=momentum, b2=0.99, weight_decay=weight_decay)


def _create_nadam(rate: "ArrayLike", momentum: "ArrayLike") -> "optax.GradientTransformation":
    import optax

    return optax.nadam(rate, b1=momentum, b2=0.999, eps=1e-8)


SGD = Optimizer(
    name="sgd",
    title="SGD",
    help="SGD with momentum, as in the HOWTO",
    usual_rate=0.1,
    hyperparameters=("momentum",),
    state_bytes=4,
    transform=_create_sgd,
)
# Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization".
ADAMW = Optimizer(
    name="adamw",
    title="AdamW",
    help="AdamW (Adam if weight_decay is 0), whose beta 1 is the momentum",
    usual_rate=0.001,
    hyperparameters=("momentum", "weight_decay"),
    state_bytes=8,
    transform=_create_adamw,
)
# Chen and others 2023, "Symbolic Discovery of Optimization Algorithms".
_LION = Optimizer(
    name="lion",
    title="Lion",
    help="Lion, which moves every parameter by the same amount and stores half of what AdamW does",
    usual_rate=0.0001,
    hyperparameters=("momentum", "weight_decay"),
    state_bytes=4,
    transform=_create_lion,
)
# Dozat 2016, "Incorporating Nesterov Momentum into Adam".
_NADAM = Optimizer(
    name="nadam",
    title="NAdam",
    help="NAdam, which is Adam with Nesterov's momentum",
    usual_rate=0.002,
    hyperparameters=("momentum",),
    state_bytes=8,
    transform=_create_nadam,
)
OPTIMIZERS = {optimizer.name: optimizer for optimizer in (SGD, ADAMW, _LION, _NADAM)}
OPTIMIZER_NAMES = tuple(OPTIMIZERS)


def describe_optimizers() -> str:
    """One line on all of them, for the setting that chooses one."""
    each = (f"{optimizer.help}, at rates about {optimizer.usual_rate:g}" for optimizer in OPTIMIZERS.values())
    return f"Update rule: {'; '.join(each)}."


def describe_weight_decay() -> str:
    """One line on what the weight decay does in each of them."""
    every = OPTIMIZERS.values()
    to_gradient = [optimizer.title for optimizer in every if "weight_decay" not in optimizer.hyperparameters]
    to_step = [optimizer.title for optimizer in every if "weight_decay" in optimizer.hyperparameters]
    return (
        f"Pull of all parameters towards zero, added to the gradient ({', '.join(to_gradient)}) "
        f"or to the step ({', '.join(to_step)})."
    )
