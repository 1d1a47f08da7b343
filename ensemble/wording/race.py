"""What a race says of this machine, in sentences with figures."""

import time

from ensemble.datasets.registry import find_dataset_title
from ensemble.machine.bfloat16_plans import MIN_WORTHWHILE_GAIN, Bfloat16Plan
from ensemble.race import Race
from ensemble.race.results import TOLERANCES
from ensemble.wording import formats
from ensemble.wording.runs.regression import format_ratio

COMPETITOR_NAMES = {
    "float32": "this engine",
    "bfloat16": "this engine, bfloat16",
    "howto": "the HOWTO's loop",
    "one_by_one": "one after another",
}
EQUAL_SPEED_TOLERANCE = 0.03  # of the speed: no difference to speak of
RIVAL_NAMES = {"one_by_one": "one member after another", "howto": "the HOWTO's loop"}


def describe_break_even(race: Race) -> str:
    """From how many members on this engine is faster than what people do without it."""
    rival_comparisons = [
        describe_rival_comparison(race, rival) for rival in RIVAL_NAMES if race.compute_speed_ratios("float32", rival)
    ]
    if not rival_comparisons or not race.agrees_with_howto("float32"):
        return ""
    return f"This engine {' and '.join(rival_comparisons)}.".replace(" and beats ", " and ")


def describe_rival_comparison(race: Race, rival: str) -> str:
    """The break-even with one rival: "beats one member after another from M = 2 on (…)"."""
    ratios = race.compute_speed_ratios("float32", rival)
    most, ahead = max(ratios), race.find_lead("float32", rival)
    if ahead is None:
        return f"does not beat {RIVAL_NAMES[rival]} here, with up to {formats.format_count(most, 'member')}"
    return f"beats {RIVAL_NAMES[rival]} from M = {ahead} on ({format_ratio(ratios[most])} as fast at M = {most})"


def describe_bfloat16_gain(race: Race) -> str:
    """What bfloat16 is worth here, or why that is not known."""
    if (gain := race.bfloat16_gain) is None:
        return race.absent.get("bfloat16", "").replace("This processor", "bfloat16: this processor")
    return f"bfloat16 {describe_precision_speed(race, gain)}."


def describe_precision_speed(race: Race, gain: float) -> str:
    """What this precision does to the time: "is 1.9 times as fast as float32 here"."""
    if abs(gain - 1) < EQUAL_SPEED_TOLERANCE:
        return "is about as fast as float32 here"
    if gain > 1:
        return f"is {format_ratio(gain)} as fast as float32 here"
    return f"is slower here and takes {format_ratio(1 / gain)} as long as float32{explain_slow_bfloat16(race)}"


def explain_slow_bfloat16(race: Race) -> str:
    """Why bfloat16 is slow, where that is known."""
    emulated = race.platform == "cpu" and not race.fast_bfloat16
    return ": the processor has no bfloat16 units" if emulated else ""


def describe_loss_agreement(race: Race) -> str:
    """How closely all learnt what the HOWTO's loop learns."""
    if not race.differences:
        return "Whether they learn the same could not be checked: the HOWTO's loop did not run."
    parts = [
        f"{COMPETITOR_NAMES[name]} {format_relative_difference(race.differences[name])}" for name in race.differences
    ]
    return (
        "Checked: from the same seed, each member's losses in the first steps differ from the "
        f"HOWTO's by at most: {', '.join(parts)}."
    )


def format_relative_difference(difference: float) -> str:
    """A relative difference as a percentage: "0.0002 %"."""
    return formats.format_percent(difference, figures=1) if difference else "nothing"


def list_race_doubts(race: Race) -> list[str]:
    """What speaks against the figures: results that are not the HOWTO's, and who did not finish."""
    wrong = [
        f"{COMPETITOR_NAMES[name].capitalize()} learnt something else than the HOWTO's loop (a "
        f"loss differs by {format_relative_difference(race.differences[name])}): its speed is not "
        f"compared."
        for name in TOLERANCES
        if not race.agrees_with_howto(name)
    ]
    gone = [
        f"{COMPETITOR_NAMES[name].capitalize()}: {why}"
        for name, why in race.absent.items()
        if name != "bfloat16" or race.rates.get(name)
    ]
    return wrong + gone


def format_machine_and_day(race: Race) -> str:
    """On what and when, in one line that fits over a picture on a phone too."""
    name = race.processor.replace("(R)", "").replace("(TM)", "").replace(" CPU", "")
    day = time.strftime("%d %b %Y", time.localtime(race.created)).lstrip("0")
    return f"{' '.join(name.split())} · {day}"


def describe_race_setup(race: Race) -> str:
    """When, on what and with what: for the line below the picture."""
    day = time.strftime("%d %b %Y, %H:%M", time.localtime(race.created)).lstrip("0")
    devices = formats.format_count(race.devices, "device")
    title = find_dataset_title(race.settings["dataset"])
    return (
        f"{day} · {race.processor} · {devices}, {formats.format_count(race.cores, 'core')} · "
        f"{title}, "
        f"batches of {race.settings['batch_size']} · JAX {race.packages.get('jax', '?')}"
    )


def describe_bfloat16_support(race: Race | None, platform: str, fast: bool, plan: Bfloat16Plan | None = None) -> str:
    """What stands beside Train's control; "" where it is not known and can be measured.

    Args:
      race: the last one on this machine.
      platform: "cpu", "gpu" or "tpu"; "" while that is not known.
      fast: whether the processor multiplies bfloat16 itself.
      plan: how it is multiplied there, where that was measured for the network.
    """
    if race and (gain := race.bfloat16_gain):
        return f"Measured: bfloat16 {describe_precision_speed(race, gain)}."
    if platform == "cpu" and not fast:
        return "This processor has no bfloat16 units: it is a little slower than float32."
    if platform == "cpu" and plan:
        if plan.is_faster:
            return (
                f"Measured: the layers that multiply bfloat16 are {format_ratio(plan.gain)} as "
                "fast as in float32, forward and backward."
            )
        return "Measured: bfloat16 is no faster than float32 on this processor."
    return ""


def label_bfloat16_choice(race: Race | None, platform: str, fast: bool, plan: Bfloat16Plan | None = None) -> str:
    """What Train's control calls bfloat16; for the arguments see `describe_bfloat16_support`."""
    gain = (race.bfloat16_gain if race else None) or (plan.gain if plan else None)
    known_slow = (gain is not None and gain < MIN_WORTHWHILE_GAIN) or (gain is None and not fast)
    return f"bfloat16, {'no faster here' if platform == 'cpu' and known_slow else 'half the bits'}"
