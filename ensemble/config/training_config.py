"""What the settings of every task have in common."""

from typing import ClassVar

from ensemble.config import marked_epochs, member_values
from ensemble.errors import ConfigError
from ensemble.settings import Settings, coerce_setting_value, list_setting_fields

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)
MAX_MEMBERS = 4096  # every table and checkpoint grows with them; more were never tried
MIN_GROUP_MEMBERS = 2  # a member alone in its process may round otherwise than beside others


class TrainingConfig(Settings):
    """Settings of a run of any task. Each task declares them with its own defaults and help.

    Attributes:
      task: one of `TASKS`.
      continues_without_diverged: whether members whose loss is no longer a number are set aside, and
        the others continue.
    """

    task: ClassVar[str]
    network: str
    members: int
    learning_rate: float
    momentum: float
    optimizer: str
    weight_decay: float
    vary: str
    epochs: int
    batch_size: int
    seed: int
    devices: int
    groups: int
    schedule: str
    warmup_epochs: float
    bootstrap: bool
    folds: int
    validation: float
    patience: int
    adversarial: float

    # What a task does without unless it declares a setting of this name.
    @property
    def cycles(self) -> int:
        """Number of cycles of a cyclic schedule."""
        return 1

    @property
    def swa_epochs(self) -> int:
        """Over how many last epochs parameters are averaged."""
        return 0

    @property
    def shuffle_per_member(self) -> bool:
        """Whether each member sees the examples in its own order."""
        return True

    @property
    def label_smoothing(self) -> float:
        """Share of the label spread evenly over all classes."""
        return 0.0

    @property
    def has_soft_targets(self) -> bool:
        """Whether members learn from a teacher's probabilities."""
        return False

    @property
    def continues_without_diverged(self) -> bool:
        """See the class."""
        return bool(self.vary)

    @property
    def cycle_ends(self) -> tuple[int, ...]:
        """The epochs, from 1, after which a cyclic schedule starts again; () of another one."""
        return marked_epochs.list_cycle_ends(self.epochs, self.cycles) if self.schedule == "cyclic" else ()

    @property
    def averaged_epochs(self) -> range:
        """The epochs, from 1, over which parameters are averaged; empty where none are."""
        return range(self.epochs - self.swa_epochs + 1, self.epochs + 1)

    @property
    def has_member_batches(self) -> bool:
        """Whether each member draws batches of its own."""
        return self.shuffle_per_member or self.bootstrap or self.folds > 0

    @property
    def member_values(self) -> dict[str, tuple[float, ...]]:
        """What may differ from member to member, by its setting's name: each (M,)."""
        return {
            name: (float(getattr(self, name)),) * self.members for name in member_values.VARIABLE_SETTINGS
        } | member_values.parse_member_values(self.vary, self.members)

    def check_training(self) -> None:
        """Check every field, and the settings that have to agree.

        Raises:
          ConfigError: a value is out of its range, or does not go with another.
        """
        self.check()
        if self.warmup_epochs > self.epochs:
            raise ConfigError(
                f"warmup_epochs is {self.warmup_epochs:g}, more than the run's {self.epochs} "
                "epochs: choose a shorter warm-up or more epochs."
            )
        values_by_setting = member_values.parse_member_values(self.vary, self.members)
        for field in list_setting_fields(type(self)):
            for value in values_by_setting.get(field.name, ()):
                coerce_setting_value(field, value)

    def check_folds(self) -> None:
        """Check that each fold is left out by a member; ConfigError if one is not."""
        if self.folds == 1:
            raise ConfigError("folds is 1, which would leave nothing to learn from: choose 2 or more, or 0 for none.")
        if self.members < self.folds:
            raise ConfigError(
                f"folds is {self.folds}, but there are only {self.members} members, and each fold "
                f"needs a member that leaves it out: choose at most {self.members} "
                f"folds, or {self.folds} members or more."
                if self.members > 1
                else "folds needs two members or more: choose more members, or 0 for none."
            )

    def check_groups(self) -> None:
        """Check that each group has enough members; ConfigError if one does not."""
        if self.groups > 1 and self.members < MIN_GROUP_MEMBERS * self.groups:
            most = max(1, self.members // MIN_GROUP_MEMBERS)
            raise ConfigError(
                f"groups is {self.groups}, but a group has at least {MIN_GROUP_MEMBERS} of the "
                f"{self.members} members: choose at most {most}, or more members."
            )
