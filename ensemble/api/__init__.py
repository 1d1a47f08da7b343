"""What `import ensemble` gives to a notebook or a script: see docs/python.md.

Its names stand in `ensemble` itself, which imports this package when one of them is asked for.
"""

from ensemble.api.dataset_addition import add_dataset
from ensemble.api.label_choice import choose_labels
from ensemble.api.numeric_predictions import judge_numbers
from ensemble.api.prediction_import import import_predictions
from ensemble.api.predictions import Predictions
from ensemble.api.regression_run import RegressionRun, train_numbers
from ensemble.api.regressions import SolvedRegression, solve_regression
from ensemble.api.run import Run
from ensemble.api.run_lookup import list_runs, open_numbers, open_run
from ensemble.api.searches import Sweep, sweep
from ensemble.api.training import train
from ensemble.config import EnsembleConfig as Config
from ensemble.errors import EnsembleError

__all__ = [
    "Config",
    "EnsembleError",
    "Predictions",
    "RegressionRun",
    "Run",
    "SolvedRegression",
    "Sweep",
    "add_dataset",
    "choose_labels",
    "import_predictions",
    "judge_numbers",
    "list_runs",
    "open_numbers",
    "open_run",
    "solve_regression",
    "sweep",
    "train",
    "train_numbers",
]
