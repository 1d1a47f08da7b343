"""What a run is: its settings, those that differ from member to member, and its marked epochs."""

from ensemble.config.ensemble_config import PRECISIONS, SCHEDULES, EnsembleConfig
from ensemble.config.imported_config import ImportedConfig
from ensemble.config.regression_config import RegressionConfig
from ensemble.config.training_config import (
    CLASSIFICATION,
    MAX_MEMBERS,
    MIN_GROUP_MEMBERS,
    REGRESSION,
    TASKS,
    TrainingConfig,
)

# Of any run; and of one that is trained here.
AnyConfig = EnsembleConfig | RegressionConfig | ImportedConfig
AnyTrainingConfig = EnsembleConfig | RegressionConfig

__all__ = [
    "CLASSIFICATION",
    "MAX_MEMBERS",
    "MIN_GROUP_MEMBERS",
    "PRECISIONS",
    "REGRESSION",
    "SCHEDULES",
    "TASKS",
    "AnyConfig",
    "AnyTrainingConfig",
    "EnsembleConfig",
    "ImportedConfig",
    "RegressionConfig",
    "TrainingConfig",
]
