"""What is known of an ensemble that was trained elsewhere."""

from dataclasses import dataclass
from typing import ClassVar

from ensemble.settings import Settings, declare_setting


@dataclass(frozen=True)
class ImportedConfig(Settings):
    """What is known of an ensemble that was trained elsewhere: no more than its predictions say.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    members: int = declare_setting(1, "How many members it has.", low=1, high=256)
    epochs: int = declare_setting(1, "Epochs that it has predictions of.", low=1, high=1000)

    # As in a run that holds nothing out; its settings are not known.
    validation: ClassVar[float] = 0.0
    has_member_views: ClassVar[bool] = True  # so that no training figures of the ensemble are awaited
    dataset: ClassVar[str] = "imported"

    def __post_init__(self) -> None:
        self.check()
