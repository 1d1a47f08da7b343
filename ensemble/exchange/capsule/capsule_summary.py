"""What a report holds, in words: the same on the command line and on the screen."""

import time
from collections.abc import Sequence

from ensemble.errors import PredictionsError
from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.capsule_reader import Capsule

_MAX_IDS_SHOWN = 5  # ids in a sentence


def describe_report_file(file: str, capsules: Sequence[Capsule]) -> str:
    """What the file is: "a.html is a report of digits-0412"; of several runs how many they are."""
    ids = [capsule.header.id for capsule in capsules]
    if len(ids) == 1:
        return f"{file} is a report of {ids[0]}"
    more = f" and {len(ids) - _MAX_IDS_SHOWN:,} more" if len(ids) > _MAX_IDS_SHOWN else ""
    return f"{file} is a report of {len(ids):,} runs: {', '.join(ids[:_MAX_IDS_SHOWN])}{more}"


def describe_capsule_contents(capsule: Capsule) -> str:
    """What it holds of the run: "2 members · predictions of epoch 2 · written 23 Nov 2026"."""
    header, about = capsule.header, capsule.run
    epochs = capsule.list_epochs()
    words = [
        _format_noun_count(about.config.members, "member"),
        about.status.state,
        f"predictions of {_format_epoch_count(epochs)}" if epochs else "no predictions",
        _describe_capsule_members(capsule),
        *(["with its test images"] if capsule_format.IMAGES in capsule.parts else []),
        time.strftime("written %Y-%m-%d", time.gmtime(header.written)),
        f"ensemble {header.program:.20}",
    ]
    return " · ".join(words)


def _describe_capsule_members(capsule: Capsule) -> str:
    if not capsule.list_epochs("parameters"):
        return "without its members"
    rounded = ", rounded to float16" if capsule.has_rounded_weights else ""
    return f"with its members{rounded}"


def find_report_capsules(capsules: Sequence[Capsule], run_id: str = "") -> list[Capsule]:
    """All runs of a report, or the one of this id; PredictionsError where it is not in it."""
    matches = [capsule for capsule in capsules if run_id in ("", capsule.header.id)]
    if not matches:
        ids = ", ".join(capsule.header.id for capsule in capsules[:_MAX_IDS_SHOWN])
        raise PredictionsError(f"The report has no run “{run_id:.64}”. It has: {ids}.")
    return matches


def _format_epoch_count(epochs: Sequence[int]) -> str:
    return f"epoch {epochs[0]}" if len(epochs) == 1 else f"{len(epochs):,} epochs"


def _format_noun_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
