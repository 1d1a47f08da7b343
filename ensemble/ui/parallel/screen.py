"""What is peculiar to the screen about regressions."""

from ensemble.regression import Regression
from ensemble.regression.regression_job import REGRESSION_STORE
from ensemble.ui.jobs.job_screen import JobScreen
from ensemble.ui.parallel import settings
from ensemble.ui.shared import address

REGRESSION_SCREEN: JobScreen[Regression] = JobScreen(
    REGRESSION_STORE,
    address.SOLVE,
    "solve_",
    "regression",
    first_step="Start with a first regression",
    deletion_question_end=" with its measurements? This cannot be undone.",
    describe_details=lambda solve: settings.summarize_regression_settings(solve.config),
)
