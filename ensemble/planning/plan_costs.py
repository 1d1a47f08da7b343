"""What a plan costs: images times members, and seconds at the rate of the run."""

from dataclasses import dataclass

from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.datasets.partition.folds import count_images_per_member
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.runs.store import Run, require_training_config


@dataclass(frozen=True)
class PlanCosts:
    """What a pass of one member over the training images costs.

    Attributes:
      images: how many images it trains on: whole batches.
      rate: images times members a second, over all of the run: its tests are in it, compiling
        is not. None where the run does not tell.
    """

    images: int
    rate: float | None

    def training_work(self, plan: EnsemblePlan) -> int:
        """Images times members that a plan trains on."""
        return plan.cost * self.images

    def training_seconds(self, plan: EnsemblePlan) -> float | None:
        """How long a plan would have taken; None where the rate is not known."""
        return self.training_work(plan) / self.rate if self.rate else None


def estimate_plan_costs(run: Run) -> PlanCosts:
    """What the plans of a run cost.

    Raises:
      RunError: it was trained elsewhere.
    """
    config, status = require_training_config(run), run.status
    size = run.data.train_size - count_holdout_images(run.data.splittable_size, config.validation)
    batches = count_images_per_member(size, config.folds) // config.batch_size
    trained = status.step * config.batch_size * config.members
    rate = trained / status.seconds if status.step and status.seconds else None
    return PlanCosts(max(1, batches) * config.batch_size, rate)
