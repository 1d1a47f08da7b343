"""Two of the members: which can be chosen, and the images that they answer differently."""

import numpy as np

from ensemble.analysis.positions.member_map import MemberMap
from ensemble.analysis.predictions import sort_examples
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Images
from ensemble.wording import formats
from ensemble.wording import member_map as words
from ensemble.wording.member_map import Pair

_MAX_LISTED_PAIRS = 200  # pairs to choose from, those that differ most


def offer_pairs(epoch: EvaluatedEpoch, found: MemberMap, pair: Pair | None) -> Choice:
    """The pairs to choose from, those that differ most first, and `pair` among them.

    A word of two members in either order is understood: the last is the one chosen last.
    """
    firsts, seconds = np.triu_indices(found.members, 1)
    order = np.argsort(-found.last[firsts, seconds], kind="stable")[:_MAX_LISTED_PAIRS]
    pairs = [Pair(int(firsts[place]), int(seconds[place])) for place in order]
    default = format_pair_word(pairs[0])
    if pair and pair not in pairs:
        turned = Pair(pair.second, pair.first)
        pairs = [pair if other == turned else other for other in pairs]
        if pair not in pairs:
            pairs.append(pair)
    return Choice(
        name="pair",
        label="Two members",
        values={format_pair_word(one): _format_pair_label(found, one, epoch.n, epoch.noun) for one in pairs},
        default=default,
        help=f"The {_MAX_LISTED_PAIRS} pairs of {len(firsts):,} that differ most."
        if len(firsts) > _MAX_LISTED_PAIRS
        else "",
        form="list",
        accepts=lambda word: parse_pair_word(word, found.members) is not None,
        key="inspect_member_pair",
    )


def select_farthest_pair(found: MemberMap) -> Pair:
    """The two members that differ most after the last epoch; of equals the first."""
    firsts, seconds = np.triu_indices(found.members, 1)
    place = int(np.argmax(found.last[firsts, seconds]))
    return Pair(int(firsts[place]), int(seconds[place]))


def choose_pressed_pair(pair: Pair, pressed: int) -> Pair:
    """The pair after a member was pressed: it and the one that was chosen before it."""
    return Pair(pair.first if pressed == pair.second else pair.second, pressed)


def format_pair_word(pair: Pair) -> str:
    """A pair as an address has it: "1-3"."""
    return f"{pair.first + 1}-{pair.second + 1}"


def parse_pair_word(word: str, members: int) -> Pair | None:
    """The pair that such a word names; None where it names no two of the members."""
    first, _, second = word.partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) <= 8 for part in (first, second)):
        return None
    pair = Pair(int(first) - 1, int(second) - 1)
    return pair if min(pair) >= 0 and max(pair) < members and pair[0] != pair[1] else None


def _format_pair_label(found: MemberMap, pair: Pair, n: int, noun: str) -> str:
    """A pair on the control: "Members 1 and 3 · 105 digits"."""
    first, second = sorted(pair)
    count = formats.format_count(round(float(found.last[pair]) * n), noun)
    return f"Members {first + 1} and {second + 1} · {count}"


def list_differing_images(epoch: EvaluatedEpoch, pair: Pair) -> Images:
    predictions = epoch.predictions
    differ = predictions.votes[pair.first] != predictions.votes[pair.second]
    first, second = sorted(pair)
    return Images(
        sort_examples(predictions, np.flatnonzero(differ), "split"),
        "inspect_member_pair_images",
        words.describe_pair(pair, predictions.votes, predictions.labels, epoch.noun),
        rows=3,
        empty=f"Members {first + 1} and {second + 1} answer every {epoch.noun} alike.",
    )
