"""A run's members in a notebook: what they are called, and which value of a setting was best."""

from ensemble import runs
from ensemble.analysis.best_value import BestValue, estimate_best_value
from ensemble.errors import ConfigError, RunError
from ensemble.runs.final_losses import load_final_losses
from ensemble.wording.runs import member_settings


def find_best_setting_value(run: runs.Run, setting: str | None = None) -> BestValue:
    """Which value of a setting was best; see `Run.best_value`.

    Raises:
      ConfigError: no setting differs in this run, or not this one.
      RunError: no epoch has ended yet, or its predictions cannot be read.
    """
    varied_settings = member_settings.collect_varied_settings(run.config)
    setting = setting or member_settings.select_main_setting(varied_settings)
    if setting not in varied_settings:
        text = f"{setting!s:.40} does not differ" if setting else "No setting differs"
        there = f"choose {' or '.join(varied_settings)}" if varied_settings else "train one with vary"
        raise ConfigError(f"{text} from member to member in the run “{run.id}”: {there}.")
    losses = load_final_losses(run.id)
    if losses is None or losses.per_image_loss is None:
        raise RunError(
            f"The run “{run.id}” has no predictions yet to compare its members by: wait for the end of its first epoch."
        )
    return estimate_best_value(
        [varied_settings[setting][m] for m in losses.members], losses.per_image_loss, losses.groups
    )
