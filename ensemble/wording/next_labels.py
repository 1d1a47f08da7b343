"""Images to label next, in words: what they were chosen by, and what stands beside them."""

from collections.abc import Sequence
from typing import Any

from ensemble.acquisition.next_labels import NextLabels
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

# How a strategy chooses; {members} is how many there are.
STRATEGY_PHRASES = {
    "information": "chosen where {members} disagree most (mutual information)",
    "power": "drawn the likelier the more {members} disagree (mutual information)",
    "diversity": "chosen where {members} disagree, each time in another way (k-means++)",
    "entropy": "chosen where the average of {members} is least sure (entropy)",
    "random": "drawn at random",
}


def describe_next_labels(found: NextLabels, noun: str) -> str:
    """What is to be labelled next: "Label these 20 images next, chosen by …"."""
    count = len(found.chosen)
    if not count:
        return f"Every {noun} is labelled or waits for its label: there is none to choose."
    these = f"this {noun}" if count == 1 else f"these {count:,} {pluralize_noun(noun)}"
    who = formats.format_count(found.members, "member")
    how = STRATEGY_PHRASES[found.strategy.name].format(members=who)
    return f"Label {these} of {found.images:,} next, {how}."


def describe_random_arm(found: NextLabels, noun: str) -> str:
    """What the random arm is for; "" without one."""
    if not len(found.at_random):
        return ""
    again = len(set(found.chosen.tolist()) & set(found.at_random.tolist()))
    beside = f"{formats.format_count(len(found.at_random), noun)} drawn at random"
    shared = f", {again:,} of them chosen too" if again else ""
    return (
        f"Beside them {beside}{shared}: trained on these instead, the same settings show whether "
        "choosing has paid."
    )


def serialize_next_labels(
    found: NextLabels, noun: str, names: Sequence[str] = ()
) -> dict[str, Any]:
    """What to label next for JSON; docs/command-line.md says what each name is."""
    return {
        "by": found.strategy.name,
        "seed": found.seed,
        "images": found.images,
        "members": found.members,
        "answer": describe_next_labels(found, noun),
        "next": [
            {
                "number": int(number),
                "name": names[number] if names else "",
                "arm": found.find_arm(int(number)),
                "information": float(found.information[number]),
                "entropy": float(found.entropy[number]),
            }
            for number in found.numbers
        ],
    }


def format_next_rows(found: NextLabels, names: Sequence[str] = ()) -> list[str]:
    """A line for each image: its number, arm, information and entropy, and its name."""
    if not len(found.numbers):
        return []
    lines = [f"{'number':>8}  {'arm':<7} {'information':>11} {'entropy':>8}"]
    for number in found.numbers:
        name = f"  {names[number]}" if names else ""
        lines.append(
            f"{number:>8}  {found.find_arm(int(number)):<7} {found.information[number]:>11.4f} "
            f"{found.entropy[number]:>8.4f}{name}"
        )
    return lines
