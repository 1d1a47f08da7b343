"""What a plan costs: images times members, and seconds at the rate of the run."""

from dataclasses import dataclass

from ensemble.analysis.planning.grid import Plan
from ensemble.datasets.split import held_out
from ensemble.errors import ConfigError
from ensemble.runs.store import Run, trained_here


@dataclass(frozen=True)
class Costs:
    """What a pass of one member over the training images costs.

    Attributes:
      images: how many images it trains on: whole batches.
      rate: images times members a second, over all of the run: its tests are in it, compiling
        is not. None where the run does not tell.
    """

    images: int
    rate: float | None

    def work(self, plan: Plan) -> int:
        """Images times members that a plan trains on."""
        return plan.cost * self.images

    def seconds(self, plan: Plan) -> float | None:
        """How long a plan would have taken; None where the rate is not known."""
        return self.work(plan) / self.rate if self.rate else None

    def passes(self, work: float | None = None, seconds: float | None = None) -> int:
        """How many passes of one member a budget pays for.

        Args:
          work: the budget in images times members, or
          seconds: in seconds.

        Raises:
          ConfigError: it is not above 0, is in seconds and the rate is not known, or pays for
            no pass at all.
        """
        asked = seconds if work is None else work
        if asked is None or not asked > 0:
            raise ConfigError(
                "A budget is above 0: give it in images times members, or in seconds."
            )
        if work is None:
            if not self.rate:
                raise ConfigError(
                    "This run does not tell how fast it trained: give the budget in images times "
                    "members."
                )
            work = asked * self.rate
        # A budget that was said in rounded seconds still pays for what it was said of.
        passes = int(min(work / self.images * (1 + 1e-9), 10**9))
        if not passes:
            least = f"{self.images:,} images times members"
            least += f" or {self.images / self.rate:.2g} seconds" if self.rate else ""
            raise ConfigError(
                f"That pays for no epoch of a single member: choose at least {least}."
            )
        return passes


def costs_of(run: Run) -> Costs:
    """What the plans of a run cost.

    Raises:
      RunError: it was trained elsewhere.
    """
    config, status = trained_here(run), run.status
    size = run.data.train_size - held_out(run.data.divisible, config.validation)
    batches = size // config.batch_size
    trained = status.step * config.batch_size * config.members
    rate = trained / status.seconds if status.step and status.seconds else None
    return Costs(max(1, batches) * config.batch_size, rate)
