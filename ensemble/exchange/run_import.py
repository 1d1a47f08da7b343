"""From members' outputs to a run that Predictions, Inspect and Compare open."""

import numpy as np

from ensemble import runs
from ensemble.datasets.entry import DatasetEntry
from ensemble.errors import RunError
from ensemble.exchange.checks.names import check_noun
from ensemble.exchange.member_outputs import MemberOutputs
from ensemble.jobs.folders import MAX_NAME_LENGTH
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH, write_run_note

_TITLE_PREFIX = "Imported "  # what stands before the split


def import_run(outputs: MemberOutputs, name: str = "", source: str = "", noun: str = "") -> runs.Run:
    """A new run, state `imported`, of what was read.

    Args:
      outputs: from `read`.
      name: for people, at most 80 characters; "" for none.
      source: where it comes from, for people: the names of the files. What was assumed of them
        stands below it in the run's note.
      noun: what one example is, in the singular; "" for what the files say.

    Raises:
      RunError: the name is too long, or the folder of runs cannot be written.
      PredictionsError: the noun is no word.
    """
    name = " ".join(name.split())
    if len(name) > MAX_NAME_LENGTH:
        raise RunError(f"A name has at most {MAX_NAME_LENGTH} characters; this has {len(name)}.")
    run = runs.create_imported_run(
        outputs.probabilities,
        outputs.labels,
        _build_imported_entry(outputs, source, check_noun(noun) if noun.strip() else ""),
        name=name,
        images=outputs.images,
        member_names=outputs.member_names,
        groups=outputs.groups,
        repeats=outputs.repeats,
        details=outputs.details,
    )
    parts = [f"Imported from {source}."] if source else []
    if note := "\n\n".join([*parts, *outputs.notes]):
        write_run_note(run.id, note[:MAX_NOTE_LENGTH])
    return run


def _build_imported_entry(outputs: MemberOutputs, source: str = "", noun: str = "") -> DatasetEntry:
    images = outputs.images
    noun = noun or outputs.noun or ("example" if images is None else "image")
    return DatasetEntry(
        name="imported",
        title=f"{_TITLE_PREFIX}{outputs.split}",
        train_size=0,
        test_size=outputs.examples,
        class_names=outputs.class_names,
        source=source,
        most_frequent=int(np.bincount(outputs.labels).max()),
        handwritten=False,
        image_shape=(28, 28, 1) if images is None else images.shape[1:],
        noun=noun,
        own=True,
    )


def find_run_split(run: runs.Run) -> str:
    """What a run's examples are of: "test" but where an import said otherwise."""
    title = run.data.title
    return (
        title.removeprefix(_TITLE_PREFIX) if run.training_config is None and title.startswith(_TITLE_PREFIX) else "test"
    )
