"""What is peculiar to the screen about sweeps."""

from ensemble.config import REGRESSION
from ensemble.sweeps import Sweep
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.ui.jobs.job_screen import JobScreen
from ensemble.ui.shared import address
from ensemble.ui.tune import space


def _describe_sweep_settings(sweep: Sweep) -> str:
    shared_settings = space.describe_shared_settings(sweep.config.base, sweep.config.search_axes)
    return f"{sweep.config.space} · {sweep.config.sampler} · all else: {shared_settings}"


def get_trial_page(sweep: Sweep) -> str:
    """The page that shows a run of its trials."""
    return "pages/numbers.py" if sweep.config.base.task == REGRESSION else "pages/train.py"


SWEEP_SCREEN: JobScreen[Sweep] = JobScreen(
    SWEEP_STORE,
    address.SWEEP,
    "tune_",
    "sweep",
    first_step="Set up a first sweep",
    deletion_question_end=" with its results? The runs of its trials stay.",
    describe_details=_describe_sweep_settings,
    dependent_words=(address.KEEP,),
)
