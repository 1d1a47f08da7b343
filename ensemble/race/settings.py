"""What a race is: who trains what, for how long."""

from dataclasses import dataclass

from ensemble.datasets.registry import list_dataset_names
from ensemble.errors import ConfigError
from ensemble.settings import Settings, declare_setting

COMPETITORS = ("float32", "bfloat16", "howto", "one_by_one")


@dataclass(frozen=True)
class RaceConfig(Settings):
    """Settings of one race, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    dataset: str = declare_setting("digits", "Which images to learn.", choices=list_dataset_names)
    members_from: int = declare_setting(1, "Leaves out fewer members than this.", low=1, high=64)
    members_up_to: int = declare_setting(8, "Races with 1, 2, 4, … members up to this.", low=1, high=64)
    emulated: bool = declare_setting(False, "Race bfloat16 also where the processor only emulates it.")
    batch_size: int = declare_setting(128, "Images in one step.", low=1, high=1024)
    rounds: int = declare_setting(3, "How often each has its turn; medians count.", low=1, high=20)
    slice_seconds: float = declare_setting(1.0, "How long a turn lasts.", low=0.01, high=60.0)

    def __post_init__(self) -> None:
        self.check()
        if not self.members:
            raise ConfigError(
                f"There is no 1, 2, 4, … from members_from ({self.members_from}) up to "
                f"members_up_to ({self.members_up_to}): let them be further apart."
            )

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of members, M, ascending."""
        powers = (1 << power for power in range(self.members_up_to.bit_length()))
        return tuple(members for members in powers if members >= self.members_from)

    @property
    def slices(self) -> int:
        """How many turns there are at most."""
        return self.rounds * len(self.members) * len(COMPETITORS)
