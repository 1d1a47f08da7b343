"""What is peculiar to the screen about regressions."""

from ensemble.regression import Solve
from ensemble.regression.store import SOLVES
from ensemble.ui.jobs.screen import JobScreen
from ensemble.ui.parallel import settings
from ensemble.ui.shared import address

SCREEN: JobScreen[Solve] = JobScreen(
    SOLVES,
    address.SOLVE,
    "solve_",
    "regression",
    first_step="Start with a first regression",
    deleted_with_it=" with its measurements? It cannot be brought back.",
    small_print=lambda solve: settings.summary(solve.config),
)
