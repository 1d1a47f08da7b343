"""Images to label next, in words: what they were chosen by, and what stands beside them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ensemble.acquisition.next_labels import NextLabels
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.datasets.decisions.label_decision import RELABEL, REMOVE, UNSURE, LabelDecision
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.label_decisions import quote_class

# How a strategy chooses; {members} is how many there are.
_STRATEGY_PHRASES = {
    **{
        name: f"chosen by the {measure.title[0].lower()}{measure.title[1:]} of {{members}}"
        for name, measure in EXAMPLE_MEASURES.items()
    },
    "power": "drawn the likelier the higher the epistemic uncertainty of {members}",
    "diversity": "chosen where {members} disagree, each time in another way (k-means++)",
    "random": "drawn at random",
}

_SAME = 1e-6  # nats or shares, within which a measure tells no images apart

STRATEGY_TITLES = {
    **{name: measure.title for name, measure in EXAMPLE_MEASURES.items()},
    "power": "Drawn by epistemic uncertainty",
    "diversity": "Disagreement of different kinds",
    "random": "Chance",
}


def describe_next_labels(found: NextLabels, noun: str) -> str:
    """What is to be labelled next: "Label these 20 images next, chosen by …"."""
    count = len(found.chosen)
    if not count:
        return f"Every {noun} is labelled or waits for its label: there is none to choose."
    these = f"this {noun}" if count == 1 else f"these {count:,} {pluralize_noun(noun)}"
    who = formats.format_count(found.members, "member")
    how = _STRATEGY_PHRASES[found.strategy.name].format(members=who)
    measure = "epistemic" if found.strategy.name in ("power", "diversity") else found.strategy.name
    values = found.measures.get(measure)
    if values is not None and found.images > 1 and np.ptp(values) <= _SAME:
        title = EXAMPLE_MEASURES[measure].title.lower()
        return (
            f"Label {these} of {found.images:,} next: the choice is arbitrary, because no {noun} has a higher value "
            f"than another ({title} of {who}). Choose by another measure."
        )
    return f"Label {these} of {found.images:,} next, {how}."


def describe_random_arm(found: NextLabels, noun: str) -> str:
    """What the random arm is for; "" without one."""
    if not len(found.at_random):
        return ""
    again = len(set(found.chosen.tolist()) & set(found.at_random.tolist()))
    beside = f"{formats.format_count(len(found.at_random), noun)} drawn at random"
    shared = f", {again:,} of them chosen too" if again else ""
    return f"Beside them {beside}{shared}: trained on these instead, the same settings show whether choosing has paid."


def serialize_next_labels(found: NextLabels, noun: str, names: Sequence[str] = ()) -> dict[str, Any]:
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
                **{name: float(values[number]) for name, values in found.measures.items()},
            }
            for number in found.numbers
        ],
    }


def format_next_rows(found: NextLabels, names: Sequence[str] = ()) -> list[str]:
    """A line for each image: its number, arm, epistemic uncertainty and entropy, and its name."""
    if not len(found.numbers):
        return []
    lines = [f"{'number':>8}  {'arm':<7} {'epistemic':>11} {'entropy':>8}"]
    for number in found.numbers:
        name = f"  {names[number]}" if names else ""
        lines.append(
            f"{number:>8}  {found.find_arm(int(number)):<7} {found.measures['epistemic'][number]:>11.4f} "
            f"{found.measures['entropy'][number]:>8.4f}{name}"
        )
    return lines


def describe_pool(images: int, noun: str) -> str:
    """How many images wait, before any is chosen: "1,144 digits have no label yet"."""
    verb = "has" if images == 1 else "have"
    return f"{formats.format_count(images, noun)} {verb} no label yet"


def describe_labelled_count(done: int, total: int, noun: str) -> str:
    """How far one is: "12 of 40 digits decided"."""
    return f"{done:,} of {formats.format_count(total, noun)} decided"


def describe_blind_order(noun: str) -> str:
    return (
        f"Chosen {pluralize_noun(noun)} and those drawn at random come in one mixed order, so that "
        "both are labelled with the same care."
    )


def ask_for_class(noun: str) -> str:
    return f"What is this {noun}?"


def describe_members_answer(votes: int, members: int, name: str) -> str:
    """What the members take an image for: "3 of 4 members say “oak”"."""
    if votes == members and members > 1:
        return f"All {members:,} members say {quote_class(name)}."
    verb = "says" if votes == 1 else "say"
    return f"{votes:,} of {formats.format_count(members, 'member')} {verb} {quote_class(name)}."


def describe_pool_decisions(decisions: Iterable[LabelDecision]) -> str:
    """How often each was decided: "12 labelled, 1 cannot be told"."""
    counts = Counter(decision.decision for decision in decisions)
    phrases = {RELABEL: "labelled", REMOVE: "of no class", UNSURE: "cannot be told"}
    parts = [f"{counts[each]:,} {phrase}" for each, phrase in phrases.items() if counts[each]]
    return ", ".join(parts)
