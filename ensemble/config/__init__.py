"""What a run is: its settings, those that differ from member to member, and its marked epochs."""

from ensemble.config.run import (
    LEAST_IN_A_GROUP,
    OPTIMIZERS,
    PRECISIONS,
    SCHEDULES,
    EnsembleConfig,
    ImportedConfig,
)

__all__ = [
    "LEAST_IN_A_GROUP",
    "OPTIMIZERS",
    "PRECISIONS",
    "SCHEDULES",
    "EnsembleConfig",
    "ImportedConfig",
]
