"""Settings of a regression from a table: each with its default, range and help."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ensemble import architectures, optimizers
from ensemble.config.member_values import VARY_FORM
from ensemble.config.training_config import MAX_MEMBERS, REGRESSION, TrainingConfig
from ensemble.errors import ConfigError
from ensemble.settings import StoredChoice, declare_setting, document_settings

NUMERIC_NETWORK = "mlp"


def _list_numeric_network_names() -> tuple[str, ...]:
    """What a training of numbers can choose for `network`: its own, and what is allowed here."""
    return (NUMERIC_NETWORK, *sorted(architectures.list_allowed_networks()))


@document_settings
@dataclass(frozen=True)
class RegressionConfig(TrainingConfig):
    """Settings of an ensemble that learns to predict numbers from a table, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    task: ClassVar[str] = REGRESSION
    dataset: ClassVar[str] = "table"  # the images of a classification; an id begins with it
    has_member_views: ClassVar[bool] = True

    members: int = declare_setting(5, "Number of networks to train.", low=1, high=MAX_MEMBERS)
    learning_rate: float = declare_setting(0.001, "Step size.", low=1e-5, high=10.0)
    momentum: float = declare_setting(
        0.9,
        "Share of the previous step that SGD adds to the next; beta 1 of the other optimizers.",
        low=0.0,
        high=0.999,
    )
    vary: str = declare_setting(
        "",
        "Settings that differ from member to member, such as learning_rate=0.001..0.1:log or momentum=0.8,0.9.",
        form=VARY_FORM,
        several=True,
    )
    epochs: int = declare_setting(40, "Passes over the training rows.", low=1, high=1000)
    batch_size: int = declare_setting(32, "Rows in one step.", low=1, high=4096)
    optimizer: str = declare_setting("adamw", optimizers.describe_optimizers(), choices=optimizers.OPTIMIZER_NAMES)
    weight_decay: float = declare_setting(0.0, optimizers.describe_weight_decay(), low=0.0, high=1.0)
    schedule: str = declare_setting(
        "constant", "Learning rate: constant, or falling along a cosine.", choices=("constant", "cosine")
    )
    warmup_epochs: float = declare_setting(
        0.0, "Epochs in which the learning rate first rises from zero.", low=0.0, high=1000.0
    )
    bootstrap: bool = declare_setting(
        False, "Bagging: each member trains on its own sample of the rows, drawn with replacement."
    )
    folds: int = declare_setting(
        0,
        "Cross-validation: each member leaves one of so many parts of the training rows out (of whole groups), "
        "and predicts these rows at the end. 0 for none.",
        low=0,
        high=64,
    )
    network: str = declare_setting(
        NUMERIC_NETWORK,
        "The network: mlp, dense layers with relu; your own is package.module:Factory, with two outputs.",
        choices=_list_numeric_network_names,
    )
    width: int = declare_setting(50, "Width of each hidden layer of mlp.", low=1, high=1024)
    depth: int = declare_setting(2, "Hidden layers of mlp; 0 is a linear model.", low=0, high=8)
    beta: float = declare_setting(
        0.0,
        "Weighs each row's loss by its predicted variance to this power (beta-NLL): 0 is the plain "
        "negative log-likelihood, 1 learns means as the squared error does, 0.5 lies between.",
        low=0.0,
        high=1.0,
    )
    adversarial: float = declare_setting(
        0.0,
        "Adversarial training: step of adversarial examples, as a share of each input's range in "
        "the training rows; 0 is off.",
        low=0.0,
        high=0.5,
    )
    seed: int = declare_setting(
        0, "Seed of the members' first parameters and batches: same seed, same numbers.", low=0, high=2**31 - 1
    )
    split_seed: int = declare_setting(
        0,
        "Seed that draws the test and validation rows and the folds, so that runs with other seeds are tested "
        "on the same rows.",
        low=0,
        high=2**31 - 1,
    )
    devices: int = declare_setting(0, "Devices to spread the members over; 0 takes all.", low=0, high=1024)
    groups: int = declare_setting(
        1, "Processes among which the members are divided, two or more to each.", low=1, high=32
    )
    test: float = declare_setting(
        0.2, "Share of the rows that is tested on, drawn by the split seed.", low=0.001, high=0.9
    )
    validation: float = declare_setting(
        0.1, "Share of the other rows that is held out to choose the best epoch by; 0 for none.", low=0.0, high=0.5
    )
    patience: int = declare_setting(
        0, "Early stopping: epochs to wait for a lower validation NLL; 0 never stops early.", low=0, high=1000
    )

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> Self:
        """Return the settings of a stored run; before version 1.1 one seed drew the split too."""
        return super().from_disk({"split_seed": values.get("seed", 0), **values})

    @property
    def continues_without_diverged(self) -> bool:
        """See `TrainingConfig`: the members are independent, and the others continue."""
        return True

    @property
    def is_own_network(self) -> bool:
        """Whether the network is a person's own code."""
        return architectures.is_custom_network(str(self.network))

    def __post_init__(self) -> None:
        if not isinstance(self.network, StoredChoice) and architectures.is_custom_network(str(self.network)):
            architectures.check_network_allowed(self.network)
        architectures.check_network_form(self.network)
        if not isinstance(self.network, StoredChoice) and (
            self.network in architectures.ARCHITECTURES and self.network != NUMERIC_NETWORK
        ):
            raise ConfigError(
                f"network is {self.network}, which takes images: for a table choose {NUMERIC_NETWORK}, or your own."
            )
        self.check_training()
        self.check_folds()
        self.check_groups()
        if self.patience and not self.validation:
            raise ConfigError(
                f"patience is {self.patience}, but no validation rows are held out: set "
                "validation to a share such as 0.1, or patience to 0."
            )
