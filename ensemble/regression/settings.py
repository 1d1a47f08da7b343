"""What a regression is: every setting with its default, its range and its line of help."""

from dataclasses import dataclass

from ensemble.settings import Settings, declare_setting

_PROBLEMS = ("synthetic", "digits", "mnist")
_LINESEARCHES = ("zoom", "backtracking")
_PMAP_CHOICES = ("both", "with", "without", "faster")


@dataclass(frozen=True)
class LbfgsConfig(Settings):
    """Settings of one logistic regression by L-BFGS, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    dataset: str = declare_setting(
        "synthetic", "What to classify: drawn samples, or a dataset's pixels.", choices=_PROBLEMS
    )
    samples: int = declare_setting(50_000, "Samples to draw.", low=100, high=1_000_000)
    features: int = declare_setting(784, "Numbers in a sample.", low=8, high=10_000)
    classes: int = declare_setting(10, "Classes to draw.", low=2, high=100)
    iterations: int = declare_setting(100, "Iterations of L-BFGS.", low=1, high=10_000)
    linesearch: str = declare_setting(
        "zoom", "How a step's length is found: zoom (strong Wolfe) or backtracking (Armijo).", choices=_LINESEARCHES
    )
    stepsize: float = declare_setting(0.0, "A fixed step size; 0 searches.", low=0.0, high=100.0)
    l2: float = declare_setting(0.0, "Adds l2 / 2 · |W|² to the objective.", low=0.0, high=1000.0)
    history: int = declare_setting(10, "Steps that L-BFGS remembers.", low=1, high=100)
    seed: int = declare_setting(0, "Of the drawn samples.", low=0, high=2**31 - 1)
    pmap: str = declare_setting(
        "both",
        "Solve with pmap and without, in one way only, or in that which is faster on these "
        "samples when both are tried for a moment.",
        choices=_PMAP_CHOICES,
    )
    devices: int = declare_setting(0, "Devices to spread the samples over; 0 takes all.", low=0, high=1024)
    sweep: bool = declare_setting(True, "Measure the speed-up on 1, 2, 4 and 8 devices, too.")

    def __post_init__(self) -> None:
        self.check()
