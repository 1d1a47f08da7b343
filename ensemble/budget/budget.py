"""What a comparison at equal cost is of: an ensemble, seeds, and the rates that each may try."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Literal

from ensemble import architectures
from ensemble.architectures import ARCHITECTURES
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError

Name = Literal["ensemble", "flops", "seconds"]

DEFAULT_RATE_FACTORS = (0.3, 1.0, 2.0)
DEFAULT_VALIDATION = 0.1
_MAX_SEEDS, _MAX_RATE_FACTORS = 50, 12


@dataclass(frozen=True)
class Budget:
    """An ensemble, and how a single network of the same cost is to be found and judged.

    Attributes:
      config: of the ensemble with the first seed, at the rate that the factors multiply.
      seeds: S, how many seeds; they follow one another from `config.seed`.
      factors: of the rate, each tried with the first seed and chosen by on validation.

    Raises:
      ConfigError: nothing that can be compared; the message says what would do.
    """

    config: EnsembleConfig
    seeds: int = 3
    factors: tuple[float, ...] = DEFAULT_RATE_FACTORS

    def __post_init__(self) -> None:
        config = self.config
        if config.members < 2:
            raise ConfigError("members is 1: there is no ensemble to compare, choose 2 or more.")
        if not config.validation:
            raise ConfigError(
                "validation is 0, but rates and epochs are chosen on images held out: set it to a share such as 0.1."
            )
        if config.folds:
            raise ConfigError(
                f"folds is {config.folds}, but one network has nobody to leave parts of the images to: choose folds 0."
            )
        architecture = ARCHITECTURES.get(config.network)
        if architecture is None or architecture.width is None:
            raise ConfigError(
                f"{architectures.format_network_title(config.network)} cannot be made wider: "
                "choose another network, such as cnn or mlp."
            )
        if config.width or config.vary:
            name = "width" if config.width else "vary"
            raise ConfigError(f"{name} is set by the comparison itself: leave it out.")
        if not 1 <= self.seeds <= _MAX_SEEDS:
            raise ConfigError(f"seeds is {self.seeds}: it has to be from 1 to {_MAX_SEEDS}.")
        fit = all(0 < factor < float("inf") for factor in self.factors)
        if not fit or not 1 <= len(set(self.factors)) <= _MAX_RATE_FACTORS:
            raise ConfigError(
                f"rates are 1 to {_MAX_RATE_FACTORS} factors of the learning rate, each above 0: such as 0.3,1,2."
            )
        for factor in self.factors:
            self.trial_config("ensemble", 0, factor)

    @property
    def id(self) -> str:
        """A tag of all its runs: the same for the same settings, however many seeds and rates."""
        settings_json = json.dumps(self.config.as_dict(), sort_keys=True)
        return f"budget-{hashlib.sha256(settings_json.encode()).hexdigest()[:10]}"

    def trial_config(self, name: Name, width: int, factor: float, seed: int = 0) -> EnsembleConfig:
        """The settings of one run.

        Args:
          name: whose: the ensemble's, or that of the single network of the same FLOPs or seconds.
          width: of its network.
          factor: of the learning rate.
          seed: which, from 0.
        """
        config = self.config
        return replace(
            config,
            members=config.members if name == "ensemble" else 1,
            width=width,
            learning_rate=config.learning_rate * factor,
            seed=config.seed + seed,
        )
