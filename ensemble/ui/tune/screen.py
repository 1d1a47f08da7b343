"""What is peculiar to the screen about sweeps."""

from ensemble.sweeps import Sweep
from ensemble.sweeps.store import SWEEPS
from ensemble.ui.jobs.screen import JobScreen
from ensemble.ui.shared import address
from ensemble.ui.tune import space


def small_print(sweep: Sweep) -> str:
    """What is searched, by whom, and all other settings."""
    others = space.others(sweep.config.base, sweep.config.axes)
    return f"{sweep.config.space} · {sweep.config.sampler} · all else: {others}"


SCREEN: JobScreen[Sweep] = JobScreen(
    SWEEPS,
    address.SWEEP,
    "tune_",
    "sweep",
    first_step="Set up a first sweep",
    deleted_with_it=", which is what its trials came to? Their runs stay.",
    small_print=small_print,
    cleared=(address.KEEP,),
)
