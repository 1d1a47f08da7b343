"""What a run is: its settings, those that differ from member to member, and its marked epochs."""

from ensemble.config.imported import ImportedConfig
from ensemble.config.run import (
    LEAST_IN_A_GROUP,
    PRECISIONS,
    SCHEDULES,
    EnsembleConfig,
)

__all__ = [
    "LEAST_IN_A_GROUP",
    "PRECISIONS",
    "SCHEDULES",
    "EnsembleConfig",
    "ImportedConfig",
]
