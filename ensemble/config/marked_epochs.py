"""Which of a run's epochs mean something of their own: ends of cycles, and those averaged."""

from ensemble import architectures
from ensemble.errors import ConfigError


def list_cycle_ends(epochs: int, cycles: int) -> tuple[int, ...]:
    """The epochs, from 1, after which a cyclic schedule starts again.

    Args:
      epochs: of the run, a multiple of `cycles`.
      cycles: how many.
    """
    each = epochs // cycles
    return tuple(range(each, epochs + 1, each))


def check_cycles(epochs: int, cycles: int, warmup: float) -> None:
    """See that a run can be parted into cycles of whole epochs.

    Args:
      epochs: of the run.
      cycles: how many it is to have.
      warmup: epochs over which the rate first rises.

    Raises:
      ConfigError: it cannot; the message says what would do.
    """
    if epochs % cycles:
        fewer = max(n for n in range(1, cycles + 1) if not epochs % n)
        raise ConfigError(
            f"{epochs} epochs cannot be divided into {cycles} cycles of whole epochs: set "
            f"cycles to {fewer}, or epochs to a multiple of {cycles}."
        )
    if warmup > (each := epochs // cycles):
        raise ConfigError(
            f"warmup_epochs is {warmup:g}, more than a cycle's {each}: choose a shorter warm-up, or fewer cycles."
        )


def check_averaged_epochs(epochs: int, averaged: int, may_end_early: bool, network: str) -> None:
    """See that the parameters of a run's last epochs can be averaged.

    Args:
      epochs: of the run.
      averaged: over how many of them.
      may_end_early: whether it may end before its last.
      network: its word in settings.

    Raises:
      ConfigError: they cannot.
    """
    if averaged > epochs:
        raise ConfigError(f"swa_epochs is {averaged}, more than the run's {epochs} epochs: choose fewer.")
    if may_end_early:
        raise ConfigError(
            "swa_epochs counts from the last epoch, and patience may end the run before it: set one of them to 0."
        )
    if network in architectures.NETWORKS_WITH_RUNNING_STATISTICS:
        raise ConfigError(describe_statistics_conflict(architectures.format_network_title(network)))


def describe_statistics_conflict(title: str) -> str:
    """Why the parameters of a network that carries running statistics are not averaged."""
    return (
        f"{title} carries batch statistics, which cannot be averaged along with the "
        "parameters: set swa_epochs to 0, or choose another network."
    )
