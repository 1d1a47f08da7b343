"""What makes the map of a run say less than it seems to, by name; `views.members_for_epochs` has the sentences."""

from typing import Literal

from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.planning.plan_grids import PlanGrids
from ensemble.runs.store import Run, require_training_config

Caution = Literal[
    "schedule", "warm-up", "set aside", "varied", "augmentation", "stopped early", "one member", "drawn", "thinned"
]


def list_plan_cautions(run: Run, maps: PlanGrids, plan: EnsemblePlan) -> tuple[Caution, ...]:
    """What to bear in mind of a run's map, the weightiest first.

    Args:
      run: the run.
      maps: its maps.
      plan: the plan that is spoken of: what only holds of fewer epochs is left out for the last.

    Raises:
      RunError: the run was trained elsewhere.
    """
    config, last = require_training_config(run), int(maps.test.epochs[-1])
    holds: dict[Caution, bool] = {
        "schedule": config.schedule != "constant" and config.epochs > 1,
        "warm-up": config.warmup_epochs >= plan.epochs,
        "set aside": maps.test.members < config.members,
        "varied": bool(config.vary) and maps.test.members > 1,
        "augmentation": config.has_augmentation,
        "stopped early": bool(config.patience) and last < config.epochs,
        "one member": maps.test.members == 1,
        "drawn": not maps.test.exact,
        "thinned": maps.kept_epochs > len(maps.test.epochs) + len(maps.left_out),
    }
    return tuple(name for name, here in holds.items() if here)
