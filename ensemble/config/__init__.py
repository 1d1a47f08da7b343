"""What a run is: its settings, those that differ from member to member, and its marked epochs."""

from ensemble.config.ensemble_config import MIN_GROUP_MEMBERS, PRECISIONS, SCHEDULES, EnsembleConfig
from ensemble.config.imported_config import ImportedConfig

__all__ = ["MIN_GROUP_MEMBERS", "PRECISIONS", "SCHEDULES", "EnsembleConfig", "ImportedConfig"]
