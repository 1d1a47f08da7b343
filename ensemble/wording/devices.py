"""What a race says of this machine, in sentences with figures."""

import time

from ensemble.datasets.registry import title_of
from ensemble.machine.product_plans import WORTH, Plan
from ensemble.race import Race
from ensemble.race.results import TOLERANCES
from ensemble.wording import formats
from ensemble.wording.runs.regression import times

NAMES = {
    "float32": "this engine",
    "bfloat16": "this engine, bfloat16",
    "howto": "the HOWTO's loop",
    "one_by_one": "one after another",
}
ALIKE = 0.03  # of the speed: no difference to speak of
RIVALS = {"one_by_one": "one member after another", "howto": "the HOWTO's loop"}


def answer(race: Race) -> str:
    """From how many members on this engine is faster than what people do without it."""
    said = [compared(race, rival) for rival in RIVALS if race.ratios("float32", rival)]
    if not said or not race.agrees("float32"):
        return ""
    return f"This engine {' and '.join(said)}.".replace(" and beats ", " and ")


def compared(race: Race, rival: str) -> str:
    """The break-even with one rival: "beats one member after another from M = 2 on (…)"."""
    ratios = race.ratios("float32", rival)
    most, ahead = max(ratios), race.ahead_from("float32", rival)
    if ahead is None:
        return f"does not beat {RIVALS[rival]} here, with up to {formats.count(most, 'member')}"
    return (
        f"beats {RIVALS[rival]} from M = {ahead} on ({times(ratios[most])} as fast at M = {most})"
    )


def bfloat16(race: Race) -> str:
    """What bfloat16 is worth here, or why that is not known."""
    if (gain := race.bfloat16_gain) is None:
        return race.absent.get("bfloat16", "").replace("This processor", "bfloat16: this processor")
    return f"bfloat16 {worth(race, gain)}."


def worth(race: Race, gain: float) -> str:
    """What this precision does to the time: "is 1.9 times as fast as float32 here"."""
    if abs(gain - 1) < ALIKE:
        return "is about as fast as float32 here"
    if gain > 1:
        return f"is {times(gain)} as fast as float32 here"
    return f"is slower here and takes {times(1 / gain)} as long as float32{no_units(race)}"


def no_units(race: Race) -> str:
    """Why bfloat16 is slow, where that is known."""
    emulated = race.platform == "cpu" and not race.fast_bfloat16
    return ": the processor has no bfloat16 units" if emulated else ""


def check(race: Race) -> str:
    """How closely all learnt what the HOWTO's loop learns."""
    if not race.differences:
        return "Whether they learn the same could not be checked: the HOWTO's loop did not run."
    parts = [f"{NAMES[name]} {share(race.differences[name])}" for name in race.differences]
    return (
        "Checked: from the same seed, each member's losses in the first steps differ from the "
        f"HOWTO's by at most: {', '.join(parts)}."
    )


def share(difference: float) -> str:
    """A relative difference as a percentage: "0.0002 %"."""
    return formats.percent(difference, figures=1) if difference else "nothing"


def doubts(race: Race) -> list[str]:
    """What speaks against the figures: results that are not the HOWTO's, and who did not finish."""
    wrong = [
        f"{NAMES[name].capitalize()} learnt something else than the HOWTO's loop (a loss "
        f"differs by {share(race.differences[name])}): its speed is not compared."
        for name in TOLERANCES
        if not race.agrees(name)
    ]
    gone = [
        f"{NAMES[name].capitalize()}: {why}"
        for name, why in race.absent.items()
        if name != "bfloat16" or race.rates.get(name)
    ]
    return wrong + gone


def machine_and_day(race: Race) -> str:
    """On what and when, in one line that fits over a picture on a phone too."""
    name = race.processor.replace("(R)", "").replace("(TM)", "").replace(" CPU", "")
    day = time.strftime("%d %b %Y", time.localtime(race.created)).lstrip("0")
    return f"{' '.join(name.split())} · {day}"


def measured_on(race: Race) -> str:
    """When, on what and with what: for the line below the picture."""
    day = time.strftime("%d %b %Y, %H:%M", time.localtime(race.created)).lstrip("0")
    devices = formats.count(race.devices, "device")
    title = title_of(race.settings["dataset"])
    return (
        f"{day} · {race.processor} · {devices}, {formats.count(race.cores, 'core')} · {title}, "
        f"batches of {race.settings['batch_size']} · JAX {race.packages.get('jax', '?')}"
    )


def precision(race: Race | None, platform: str, fast: bool, plan: Plan | None = None) -> str:
    """What stands beside Train's control; "" where it is not known and can be measured.

    Args:
      race: the last one on this machine.
      platform: "cpu", "gpu" or "tpu"; "" while that is not known.
      fast: whether the processor multiplies bfloat16 itself.
      plan: how it is multiplied there, where that was measured for the network.
    """
    if race and (gain := race.bfloat16_gain):
        return f"Measured: bfloat16 {worth(race, gain)}."
    if platform == "cpu" and not fast:
        return "This processor has no bfloat16 units: it is a little slower than float32."
    if platform == "cpu" and plan:
        if plan.faster:
            return (
                f"Measured: the layers that multiply bfloat16 are {times(plan.gain)} as fast as in "
                "float32, forward and backward."
            )
        return "Measured: bfloat16 is no faster than float32 on this processor."
    return ""


def bfloat16_choice(race: Race | None, platform: str, fast: bool, plan: Plan | None = None) -> str:
    """What Train's control calls bfloat16; for the arguments see `precision`."""
    gain = (race.bfloat16_gain if race else None) or (plan.gain if plan else None)
    known_slow = (gain is not None and gain < WORTH) or (gain is None and not fast)
    return f"bfloat16, {'no faster here' if platform == 'cpu' and known_slow else 'half the bits'}"
