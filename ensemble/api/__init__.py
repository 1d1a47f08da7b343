"""What `import ensemble` gives to a notebook or a script: see docs/python.md.

Its names stand in `ensemble` itself, which imports this package when one of them is asked for.
"""

from ensemble.api.predictions import Predictions
from ensemble.api.run import Run, list_runs, open_run
from ensemble.api.training import train
from ensemble.config import EnsembleConfig as Config
from ensemble.errors import EnsembleError

__all__ = ["Config", "EnsembleError", "Predictions", "Run", "list_runs", "open_run", "train"]
